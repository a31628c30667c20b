"""What computes all time steps of a layer of cells at once."""

from abc import ABC, abstractmethod

from torch import Tensor


class Sequences(ABC):
    """Of all lanes; everything is ``[lanes, time, batch, …]`` and lies in one piece."""

    @abstractmethod
    def forward(self, projected: Tensor, outputs: Tensor, gates: Tensor, states: Tensor) -> None:
        """Write the last three."""

    @abstractmethod
    def backward(self, gradient: Tensor, gates: Tensor, states: Tensor, slopes: Tensor) -> None:
        """Write ``slopes``, the gradient of the gates' sums."""
