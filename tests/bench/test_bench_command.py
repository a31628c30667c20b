"""The command runs, writes what it found and reads it back; a mistake gets one sentence. No number decides a test."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from tiny_networks import TINY

from conftest import Program
from superfed.bench.measure import Effort
from superfed.bench.methods import METHODS
from superfed.bench.networks import NETWORKS
from superfed.bench.report import Report
from superfed.bench.whole_run import whole_run

CPU = torch.device("cpu")
pytestmark = pytest.mark.filterwarnings("ignore:this process has used autograd together with CUDA")
"""Where other tests have used a GPU before, the CPU's clients are computed one after another, and that is told."""


@pytest.fixture(scope="module", autouse=True)
def _tiny_networks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, network in TINY.items():
            patch.setitem(NETWORKS, name, network)
        yield


@pytest.fixture(scope="module")
def result(superfed: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "tiny.json"
    names = ("--methods", "superfed,fedrep", "--networks", "two_nn,vgg", "--lanes", "2")
    done = superfed("bench", "--device", "cpu", *names, "--seconds", "0.1", "--json", path)
    assert done.returncode == 0, done.stderr
    assert "SuPerFed-MM, two_nn, 2 lanes: " in done.stdout
    assert "outside local updates" in " ".join(done.stdout.split())
    return path


def test_all_numbers_are_there(result: Path) -> None:
    report = json.loads(result.read_text())
    assert report["versions"].keys() >= {"superfed", "torch", "numpy", "python", "numba"}
    assert report["hardware"].keys() >= {"cpu", "device", "usable_cores", "load_average"}
    assert [(row["of"]["network"], row["of"]["method"]) for row in report["rows"]] == [
        ("two_nn", "superfed"),
        ("two_nn", "fedrep"),
        ("vgg", "superfed"),
        ("vgg", "fedrep"),
    ]
    for row in report["rows"]:
        found = row["found"]
        assert found["lowest_ratio"] <= found["ratio"] <= found["highest_ratio"]
        assert all(found[name] > 0 for name in ("ours", "plain", "floor", "steps", "flops", "num_bytes"))
        assert all(math.isfinite(value) for value in found.values() if isinstance(value, float))
    whole = report["whole_run"]
    assert 0 < whole["updates_s"] + whole["evaluation_s"] + whole["checkpoints_s"] < whole["total_s"]


def test_json_goes_there_and_back(result: Path, tmp_path: Path) -> None:
    report = Report.read(result)
    report.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == result.read_text()
    assert asdict(Report.read(tmp_path / "again.json")) == asdict(report)


def test_a_stored_result_is_shown_without_measuring(superfed: Program, result: Path) -> None:
    done = superfed("bench", result)
    assert done.returncode == 0
    assert "two_nn: " in done.stdout
    assert "FedRep" in done.stdout


def test_a_page_is_made_and_made_anew(superfed: Program, result: Path, tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    assert superfed("bench", result, "--page", page).returncode == 0
    made = page.read_text()
    assert "![The ratios as bars](speed/tiny.svg)" in made
    assert (tmp_path / "speed" / "tiny.svg").read_text().startswith("<svg")
    page.write_text(f"# Mine\n\n{made}\nThe end.\n")
    assert superfed("bench", result, "--page", page).returncode == 0
    assert page.read_text() == f"# Mine\n\n{made}\nThe end.\n"


@pytest.mark.parametrize("method", ["fedavg", "apfl"])
def test_a_whole_run_is_timed(method: str) -> None:
    found = whole_run(METHODS[method], CPU, Effort(0.01, 1))
    assert found.rounds == 1
    assert found.client_steps > 0
    assert 0 < found.outside < 1


MISTAKES = [
    (["--methods", "superfedd"], "methods: 'superfedd' is unknown; did you mean 'superfed'?"),
    (["--networks", "two_nm"], "networks: 'two_nm' is unknown; did you mean 'two_nn'?"),
    (["--methods", ","], "methods: nothing was named"),
    (["--lanes", "5,0"], "lanes: must be whole numbers from 1 on, not '0'"),
    (["--lanes", "many"], "lanes: must be whole numbers from 1 on, not 'many'"),
    (["--seconds", "0"], "seconds: must be more than 0, not 0.0"),
    (["--seconds", "nan"], "seconds: must be more than 0, not nan"),
    (["--device", "tpu"], "device: must be auto, cpu, cuda or cuda:N, not 'tpu'"),
    (["--device", "cuda:99"], "device: cuda"),
    (["--json", "."], ".: is a folder; name a file"),
    (["--page", "page.md"], "--page: name the files that --json wrote"),
    (["nothing.json"], "nothing.json: there is no such file"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=lambda a: " ".join(a) if isinstance(a, list) else "")
def test_one_sentence(superfed: Program, arguments: list[str], sentence: str, tmp_path: Path) -> None:
    done = superfed("bench", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence}"), done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["[]", "{}", '{"format": 2}', '{"format": 1, "rows": [{}]}', "no JSON"])
def test_what_is_no_result_is_refused(superfed: Program, content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    done = superfed("bench", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {path}: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_page_without_marks_is_left_alone(superfed: Program, result: Path, tmp_path: Path) -> None:
    page = tmp_path / "thesis.md"
    page.write_text("years of work")
    done = superfed("bench", result, "--page", page)
    assert done.returncode == 2
    assert "between which results would go" in done.stderr
    assert page.read_text() == "years of work"
    assert list(tmp_path.iterdir()) == [page]
