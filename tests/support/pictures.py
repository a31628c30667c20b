"""Small image datasets, whole, in the exact formats of the real ones."""

import io
import pickle
import struct
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]

HUB_FILES = {
    "mnist": "ylecun/mnist/mnist/train-00000-of-00001.parquet",
    "fashion_mnist": "zalando-datasets/fashion_mnist/fashion_mnist/train-00000-of-00001.parquet",
    "cifar10": "uoft-cs/cifar10/plain_text/train-00000-of-00001.parquet",
    "cifar100": "uoft-cs/cifar100/cifar100/train-00000-of-00001.parquet",
    "tiny_imagenet": "zh-plus/tiny-imagenet/data/train-00000-of-00001-1359597a978bc4fa.parquet",
}
"""Where the hub keeps their training images."""


def pixels(*shape: int, seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def encoded(image: Pixels, kind: str = "PNG") -> bytes:
    """The bytes of an image file; [H, W] is grey and [H, W, 3] in colour."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind)
    return buffer.getvalue()


def decoded(content: bytes, mode: str = "RGB") -> Pixels:
    return np.asarray(Image.open(io.BytesIO(content)).convert(mode))


def idx(array: Pixels) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def write_idx_pair(folder: Path, images: Pixels, labels: list[int]) -> None:
    put(folder / "train-images-idx3-ubyte", idx(images))
    put(folder / "train-labels-idx1-ubyte", idx(np.array(labels, dtype=np.uint8)))


def cifar100_batch(images: Pixels, fine: list[int], coarse: list[int]) -> dict[bytes, Any]:
    """What the official file holds, in its order."""
    return {
        b"filenames": [b"%d.png" % i for i in range(len(images))],
        b"batch_label": b"training batch 1 of 1",
        b"fine_labels": fine,
        b"coarse_labels": coarse,
        b"data": images.reshape(len(images), -1),
    }


def write_cifar100(root: Path, batch: object) -> Path:
    return put(root / "cifar-100-python" / "train", pickle.dumps(batch, protocol=3))


def write_tiny_imagenet(root: Path, classes: dict[str, list[Pixels]]) -> Path:
    """JPEGs for each class, its id to its images; the classes in this order."""
    folder = root / "tiny-imagenet-200"
    put(folder / "wnids.txt", "".join(f"{wnid}\n" for wnid in classes).encode())
    for wnid, images in classes.items():
        for i, image in enumerate(images):
            put(folder / "train" / wnid / "images" / f"{wnid}_{i}.JPEG", encoded(image, "JPEG"))
        put(folder / "train" / wnid / f"{wnid}_boxes.txt", b"")
    return folder


def write_hub(root: Path, name: str, columns: dict[str, list[Any]]) -> Path:
    """With the hub's own library: columns of image bytes become images, and columns of numbers labels."""
    path = root / "hub" / HUB_FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    images = {column for column, values in columns.items() if isinstance(values[0], bytes)}
    features = {
        column: datasets.Image() if column in images else datasets.ClassLabel(num_classes=200) for column in columns
    }
    rows = {
        column: [{"bytes": value, "path": None} for value in values] if column in images else values
        for column, values in columns.items()
    }
    datasets.Dataset.from_dict(rows, features=datasets.Features(features)).to_parquet(path)
    return path
