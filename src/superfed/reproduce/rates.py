"""How many client-steps a second a machine takes of each network, so that a plan can say how long it will be."""

from dataclasses import dataclass
from typing import Literal

from superfed.engine.precision import Precision

Machine = Literal["h200", "two_cores"]

MACHINES: dict[Machine, str] = {"h200": "H200", "two_cores": "2 cores"}


@dataclass(frozen=True)
class Rate:
    """Client-steps a second, with so many lanes that more make it no faster; half of it with ``half_lanes``."""

    per_second: float
    half_lanes: float = 0.0
    guess: bool = False

    def at(self, lanes: int) -> float:
        return self.per_second * lanes / (lanes + self.half_lanes)


RATES: dict[Machine, dict[str, Rate]] = {
    "h200": {  # float32, SuPerFed-MM; docs/gpu.md
        "two_nn": Rate(200_000, half_lanes=10),
        "two_cnn": Rate(13_000, half_lanes=3.5),
        "resnet": Rate(6_000, half_lanes=4.8),
        "mobilenet": Rate(7_600, half_lanes=5.4),
        "vgg": Rate(11_700, half_lanes=5.2),
        "stacked_lstm": Rate(2_000, half_lanes=12),
    },
    "two_cores": {  # float32, SuPerFed-MM; 1.8 times what one was seen to do, benchmarks/results/cpu-epyc-2-cores*.json
        "two_nn": Rate(4_000),
        "two_cnn": Rate(120),
        "resnet": Rate(36),
        "mobilenet": Rate(66),
        "vgg": Rate(100),
        "stacked_lstm": Rate(9),
    },
}
QUICKER: dict[Precision, dict[str, Rate]] = {
    "tf32": {"two_cnn": Rate(15_700, half_lanes=2.5)},
    "bf16": {
        "two_cnn": Rate(19_700, half_lanes=3),
        "stacked_lstm": Rate(7_600, half_lanes=1.6),  # three methods at once; for lanes, results/h200-lstm-layers.txt
    },
}
"""On an H200, by precision, where it was seen; docs/gpu.md. Other networks are taken to be as quick as in float32."""
TINY = 10_000
"""Networks of fewer parameters take no longer than what is done around them."""
TINY_RATES: dict[Machine, Rate] = {
    "h200": Rate(200_000, half_lanes=100, guess=True),
    "two_cores": Rate(2_000, guess=True),
}
COMPILE_SECONDS: dict[Machine, float] = {"h200": 30.0, "two_cores": 0.0}
"""For each group that is large enough to be compiled; up to 83 were seen."""
NOT_COMPILED: dict[Machine, float] = {"h200": 5.0, "two_cores": 1.0}
"""Times as long as compiled, for smaller groups: SuPerFed-MM with TwoNN on 5 lanes, ``results/h200-steps.json``. Five methods
with MobileNet on 15 lanes each, sharing a GPU, took about 4.5 times as long in tf32. A guess for other networks."""


def rate(machine: Machine, network: str, parameters: int, precision: Precision) -> Rate:
    if parameters < TINY:
        return TINY_RATES[machine]
    quicker = QUICKER.get(precision, {}) if machine == "h200" else {}
    return quicker.get(network, RATES[machine][network])
