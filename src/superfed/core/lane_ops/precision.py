"""How exact products of single-precision numbers are to be on a GPU."""

import torch

EXACT = "tf32x3"
"""Each number as two of the tensor cores' lesser precision: about as exact as single precision."""


def dot_precision() -> str:
    """What torch has been told for its own products."""
    matmul = torch.backends.cuda.matmul
    told = getattr(matmul, "fp32_precision", None)
    return "tf32" if told == "tf32" or (told is None and matmul.allow_tf32) else EXACT
