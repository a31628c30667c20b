"""How much privacy a client has spent: the ε of so many Gaussian mechanisms, by Opacus's Rényi accountant."""

import importlib.util
import math
import warnings

from superfed.core.errors import UserError


def epsilon(noise: float, times: int, delta: float) -> float:
    """For a client that took part so often; what is protected is all of its data at once.

    Nothing is gained from clients being sampled, since whoever sees what is sent also sees who sent it.
    """
    if times == 0:
        return 0.0
    if noise == 0:
        return math.inf
    from opacus.accountants import RDPAccountant
    from opacus.accountants.analysis.rdp import compute_rdp, get_privacy_spent

    orders = RDPAccountant.DEFAULT_ALPHAS
    rdp = compute_rdp(q=1.0, noise_multiplier=noise, steps=times, orders=orders)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # where very much or very little was spent, it is told that less might be provable
        found, _ = get_privacy_spent(orders=orders, rdp=rdp, delta=delta)
    return float(found)


def check_accountant() -> None:
    """Refuse, before anything trains, what could not be accounted for."""
    if importlib.util.find_spec("opacus") is None:  # which takes seconds to import
        raise UserError('privacy: what is spent is counted by Opacus; pip install "superfed[privacy]"')
