"""The page of training curves is what its script makes of the numbers that are kept."""

import importlib.util
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def script() -> Any:
    spec = importlib.util.spec_from_file_location("curves", ROOT / "benchmarks" / "curves.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_and_pictures_are_those_of_the_numbers() -> None:
    curves = script()
    assert curves.PAGE.read_text() == curves.page()
    kept = json.loads(curves.KEPT.read_text())
    assert set(kept) <= set(curves.TITLES)
    for name, one in kept.items():
        assert (curves.PICTURES / f"curve-{name}.svg").read_text() == curves.picture(one["methods"])


def test_everything_learnt_something() -> None:
    """Clearly better than chance, for both methods; on Shakespeare above 30 %."""
    least = {"cifar100": 0.05, "tiny-imagenet": 0.015, "shakespeare": 0.3}
    for name, one in json.loads(script().KEPT.read_text()).items():
        for title, method in one["methods"].items():
            assert method["readings"]["validated"][0] > least.get(name, 0.18), (name, title)
