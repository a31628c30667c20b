"""Datasets travel as plain arrays that nobody copies, and arrive as they were."""

import pickle

import numpy as np
import yaml

from conftest import SMALL
from superfed.deploy.ray.shipping import Shipped, arrived, datasets_of
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import resolve
from superfed.experiments.orders import Order
from superfed.store.layout import RunFolder


def orders(text: str = SMALL) -> list[Order]:
    from pathlib import Path

    assembler = Assembler(None)
    return [Order(RunFolder(Path("nowhere")), one, assembler.task(one), "") for one in resolve(yaml.safe_load(text))]


def test_what_travels_is_the_arrays_themselves() -> None:
    ((settings, pool),) = datasets_of(orders()).items()
    shipped = Shipped.of(settings, pool)
    buffers: list[pickle.PickleBuffer] = []
    words = pickle.dumps(shipped, protocol=5, buffer_callback=buffers.append)
    size = sum(array.nbytes for array in shipped.packed.arrays.values())
    assert sum(buffer.raw().nbytes for buffer in buffers) == size > 100_000
    assert len(words) < 10_000
    stored = [bytes(buffer.raw()) for buffer in buffers]  # as in a machine's shared memory: nobody may write there
    opened: Shipped = pickle.loads(words, buffers=stored)
    for array in opened.packed.arrays.values():
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert any(np.shares_memory(array, np.frombuffer(one, np.uint8)) for one in stored)


def test_who_holds_what_stays_the_same() -> None:
    here = orders()
    shipped = [Shipped.of(settings, pool) for settings, pool in datasets_of(here).items()]
    assembler = Assembler(None, arrived(pickle.loads(pickle.dumps(shipped))))
    for order in here:
        there = assembler.task(order.config)
        assert there.identity == order.task.identity
        assert there.data.train(3).x.equal(order.task.data.train(3).x)


def test_synthetic_samples_do_not_travel() -> None:
    made = SMALL.replace("dataset: digits", "dataset: synthetic").replace("  partition: iid\n", "")
    assert datasets_of(orders(made)) == {}
