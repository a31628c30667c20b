"""What leaves a client, made so that one client's data cannot be told from it: clipped, and with Gaussian noise on it.

The change that a client sends is shortened to a length of at most ``clip``, over all its vectors together, and every number
gets noise of standard deviation ``noise × clip``. That is the Gaussian mechanism (Dwork and Roth, 2014) at the client: it
holds against the server too, and against everyone who sees what is sent. Who chooses the seed of the noise can take it off
again, so a simulated run protects nobody; a client of a real federation draws from its system's entropy.
"""

from dataclasses import dataclass

import numpy as np
import torch

from superfed.core.errors import require
from superfed.core.state import State


@dataclass(frozen=True)
class Privacy:
    clip: float
    """The length of a client's change is at most this."""
    noise: float
    """Standard deviation of the noise on each number, in lengths of ``clip``."""
    delta: float = 1e-5
    """The δ that ε is reported for."""

    def __post_init__(self) -> None:
        require(self.clip > 0, "clip", f"must be more than 0, not {self.clip}")
        require(self.noise >= 0, "noise", f"must be at least 0, not {self.noise}")
        require(0 < self.delta < 1, "delta", f"must be more than 0 and less than 1, not {self.delta}")

    def leaving(self, upload: State, sent: State, changes: bool, rng: np.random.Generator) -> State:
        """What may leave instead of ``upload``; ``changes`` says whether that is a change of ``sent`` already."""
        change = {name: t if changes else t - sent[name] for name, t in upload.items()}
        length = torch.stack([t.double().norm() for t in change.values()]).norm() if change else torch.zeros(())
        share = (self.clip / length.clamp_min(torch.finfo(torch.float64).tiny)).clamp_max(1)
        found = {}
        for name, t in change.items():
            drawn = torch.from_numpy(rng.normal(0, self.noise * self.clip, t.shape)).to(t.device)
            private = share * t.double() + drawn
            found[name] = (private if changes else sent[name].double() + private).to(t.dtype)
        return found
