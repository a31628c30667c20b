"""SCAFFOLD's training: its correction c − c_i is the same for all steps of a round."""

from superfed.algorithms.fused.one_model import trained
from superfed.core.flat import FlatNetwork
from superfed.core.fused import Steps
from superfed.core.state import State


def fused_scaffold(network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
    shift = sent["c"] - work["c_i"]
    y, velocity = trained(network, work["y"], work["velocity"], steps, shift=shift)
    new = {"y": y, "velocity": velocity}
    if "pull" in work:  # option II: how much weight gradients have in x − y
        momentum_sum, pull = work["momentum_sum"], work["pull"]
        for _ in steps.rows:
            momentum_sum = steps.momentum * momentum_sum + 1
            pull = pull + steps.lr * momentum_sum
        new |= {"momentum_sum": momentum_sum, "pull": pull}
    return work | new
