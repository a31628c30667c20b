"""superfed reproduce: a table run again at the smallest scale, gone on with, planned, traced, kept, and its refusals."""

import re
import shutil
from pathlib import Path

import pytest

from conftest import Program
from superfed.cli.reproduce_runs import left_out
from superfed.experiments.provenance import SOURCE, commit
from superfed.reproduce.cells import cells, runs
from superfed.store.layout import ExperimentFolder
from superfed.store.lock import locked
from support.pictures import pixels, write_tiny_imagenet

SMALL = ("--scale", "smoke", "--only", "mnist/k50/fedavg,mnist/k50/superfed_mm")
ENGINE = ("engine.device=cpu", "engine.workers=1")


def test_a_table_and_once_more(superfed: Program, tmp_path: Path) -> None:
    first = superfed("reproduce", "table1", *ENGINE, *SMALL, "--out", tmp_path)
    assert first.returncode == 0, first.stderr
    assert "2 of 2 numbers are there" in first.stdout
    assert "the numbers mean nothing" in " ".join(first.stdout.split())
    folders = sorted(path.name for path in (tmp_path / "smoke").iterdir() if path.is_dir())
    assert [name.rsplit("-", 2)[0] for name in folders] == ["mnist-fedavg", "mnist-superfed_mm"]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "smoke").rglob("*.safetensors")}
    again = superfed("reproduce", "table1", *ENGINE, *SMALL, "--out", tmp_path)
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "smoke").rglob("*.safetensors")} == before
    assert "runs:" not in again.stdout
    page = (tmp_path / "smoke" / "table1.html").read_text()
    assert page.count('<tr><th scope="row">') == 3  # two runs, and who is ahead
    assert all("Is SuPerFed the best?" in said for said in (again.stdout, page))
    assert r"\toprule" in (tmp_path / "smoke" / "table1.tex").read_text()


def test_the_index_leads_to_every_page_that_is_there(superfed: Program, tmp_path: Path) -> None:
    where = ("--scale", "smoke", "--out", tmp_path)

    def indexed() -> list[tuple[str, str]]:
        text = (tmp_path / "smoke" / "index.html").read_text()
        return re.findall(r'href="([^"]+)">[^<]*</a>(?:<p class="note">([^<]*)</p>)?', text)

    def show(*arguments: str) -> None:
        assert superfed("reproduce", *arguments, *where, "--show").returncode == 0

    show("figure3", "--only", "nu1_mu0.01")
    assert indexed() == [("figure3.html", "0 of 32 cells are there")]
    made = superfed("reproduce", "table1", *ENGINE, *SMALL, "--out", tmp_path)
    assert f"index: {tmp_path}/smoke/index.html" in made.stdout
    (first, state), *rest = indexed()
    assert first == "table1.html"
    assert state.startswith("2 of 66 numbers are there: ")
    assert rest == [("figure3.html", "0 of 32 cells are there")]
    show("table5")
    assert [name for name, _ in indexed()] == ["table1.html", "table5.html", "figure3.html"]
    (tmp_path / "smoke" / "figure3.html").write_text("<p>by an older program</p>")
    (tmp_path / "smoke" / "table1.html").unlink()
    show("table5")
    assert [name for name, _ in indexed()] == ["table5.html", "figure3.html"]
    assert indexed()[1] == ("figure3.html", "")


def test_a_run_that_was_made_can_be_gone_on_with_by_itself(superfed: Program, tmp_path: Path) -> None:
    done = superfed(
        "reproduce", "table3", *ENGINE, "--scale", "smoke", "--only", "shakespeare/natural/fedavg", "--out", tmp_path
    )
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in (tmp_path / "smoke").iterdir() if path.is_dir())
    resumed = superfed("resume", folder)
    assert resumed.returncode == 0, resumed.stderr


def test_the_plan_runs_nothing(superfed: Program, tmp_path: Path) -> None:
    done = superfed("reproduce", "table1", "--plan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("66 cells, 1 seed: 66 runs in 22 groups")
    assert list(tmp_path.iterdir()) == []
    assert "~" not in done.stdout  # every rate it goes by was measured
    tiny = superfed("reproduce", "table1", "--plan", "--scale", "smoke", cwd=tmp_path)
    assert "~ where the rate is a guess" in " ".join(tiny.stdout.split())


def test_data_that_is_not_here_is_left_out_and_said(
    superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUPERFED_DATA", raising=False)
    done = superfed("reproduce", "table1", "--scale", "short", "--only", "mnist/k50/fedavg", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("superfed: mnist is left out: mnist: no data root is set; ")
    assert "Traceback" not in done.stderr
    assert "0 of 1 numbers are there\nnothing yet: MNIST, K = 50 (top-1, %)" in done.stdout
    assert "FedAvg" not in done.stdout  # a table of dashes would push the reason out of sight


def test_a_dataset_that_some_have_is_left_out_of_the_others() -> None:
    whole, part = (runs(cells(target, "full"), [0]) for target in ("table2", "parts"))
    whole, part = ([run for run in some if run.cells[0].dataset == "tiny_imagenet"] for some in (whole, part))
    assert left_out(whole, part) == "tiny_imagenet of Table 2"
    assert left_out(whole, []) == "tiny_imagenet"


def test_a_part_of_a_dataset_is_not_taken_for_the_whole(superfed: Program, tmp_path: Path) -> None:
    write_tiny_imagenet(tmp_path / "data", {"n01443537": [pixels(64, 64, 3)]})
    arguments = ("--only", "tiny_imagenet/alpha1/fedavg", "--data-root", tmp_path / "data", "--out", tmp_path / "runs")
    whole, part = (superfed("reproduce", target, *arguments, *ENGINE) for target in ("table2", "parts"))
    few = "data.dataset.per_class: {} images of each class are wanted, and n01443537 has 1; give no number, or a smaller one"
    left_out = "superfed: tiny_imagenet is left out: "
    again = "superfed: tiny_imagenet was left out; why is said above\n"
    assert whole.stderr == f"{left_out}{few.format(500)}; superfed reproduce parts takes a part of it\n{again}"
    assert part.stderr == f"{left_out}{few.format(96)}\n{again}"


def test_what_cannot_be_kept_keeps_nothing_else_from_it(superfed: Program, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "table1.json").write_text('{"schema": 1, "target": "table1", "scale": "full", "records": []}')
    only = ("--scale", "smoke", "--only", "table1/mnist/k50/fedavg,table5/cifar10/start0.2/superfed_mm")
    done = superfed("reproduce", "all", *ENGINE, *only, "--out", tmp_path / "runs", "--keep", "--kept", kept)
    assert done.returncode == 1
    assert "nothing of table1 is kept: " in done.stderr
    assert "keep those at the scale smoke elsewhere" in done.stderr
    assert (kept / "table5.json").exists()


def test_one_datasets_trouble_is_not_the_others(superfed: Program, tmp_path: Path) -> None:
    """A process is at work on MNIST's run."""
    asked = ("reproduce", "table1", *ENGINE, "--scale", "smoke", "--out", tmp_path, "--only")
    assert superfed(*asked, "mnist/k50/fedavg").returncode == 0
    (experiment,) = (ExperimentFolder(path) for path in (tmp_path / "smoke").glob("mnist-fedavg-*"))
    (run,) = experiment.runs()
    run.write_info(run.info() | {"status": "running"})
    with locked(experiment.path):
        done = superfed(*asked, "mnist/k50/fedavg,cifar10/k50/fedavg")
    assert done.returncode == 1
    assert done.stderr.startswith(f"superfed: {experiment.path}: ")
    assert " is working on it" in done.stderr
    assert "1 of 2 numbers are there" in done.stdout


def test_a_finished_run_whose_results_are_gone_is_told_of(superfed: Program, tmp_path: Path) -> None:
    asked = ("reproduce", "table1", *ENGINE, "--scale", "smoke", "--out", tmp_path, "--only", "mnist/k50/fedavg")
    assert superfed(*asked).returncode == 0
    (summary,) = (tmp_path / "smoke").glob("*/*/summary.json")
    for damaged, sentence in (("{}", "its files cannot be read (KeyError: "), (None, "is gone; remove ")):
        summary.unlink() if damaged is None else summary.write_text(damaged)
        done = superfed(*asked)
        assert done.returncode == 1
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
        assert "0 of 1 numbers are there" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["table9"],
            "TARGET: 'table9' is none; choose from table1, table2, table3, table4, table5, figure3, figureA, ",
        ),
        (["table1", "--scale", "big"], "--scale: must be smoke, short, full, not 'big'"),
        (["table1", "--plan", "--ray", "local"], "--ray: is for computing, and nothing is run here"),
        (["table1", "--cell", "k50", "--seeds", "2"], "--seeds: is not for --cell, which shows every seed"),
        (["table1", "--seeds", "99999999"], "--seeds: must be 10000 at the most, not 99999999"),
        (["table1", "--scale", "smoke", "engine.device=tpu"], "device: must be auto, cpu, cuda or cuda:N, not 'tpu'"),
        (["table1", "--seeds", "0"], "--seeds: must be 1 or more, not 0"),
        (["table1", "--seeds", "2-1"], "--seeds: must go from one seed to a later one, not '2-1'"),
        (
            ["table1", "--seeds", "two"],
            "--seeds: must be a number of seeds, or from one to another as in 1-2, not 'two'",
        ),
        (["table1", "--only", "cifar9"], "--only: no cell of table1 has 'cifar9' in its name; they look like table1/"),
        (
            ["table1", "--only", "mnist,cifar9"],
            "--only: no cell of table1 has 'cifar9' in its name; they look like table1/",
        ),
        (["table1", "--only", ","], "--only: must name cells of table1, or parts of their names, such as table1/"),
        (["table1", "table2", "--plan"], "table2: only engine.KEY=VALUE may be given"),
        (["table1", "engine.devise=cpu", "--plan"], "engine.devise: unknown; did you mean 'device'?"),
        (["table1", "engine.workers=[1,2]", "--scale", "smoke"], "engine.workers: must be a whole number or 'auto'"),
        (["table1", "--show", "--ray", "local"], "--ray: is for computing, and nothing is run here"),
        (["table1", "--plan", "--show"], "--plan: cannot be given together with --show"),
        (["table1", "--keep", "--cell", "k50"], "--keep: cannot be given together with --cell"),
        (["table1", "--show-kept", "--show"], "--show-kept: cannot be given together with --show"),
        (["table1", "--show-kept"], "results/reproduce: nothing of what is asked for is kept there at the scale full"),
        (["all", "--page", "page.html"], "--page: must be a file in Markdown, as in FILE.md, not page.html"),
        (
            ["all", "--page", "page.md"],
            "results/reproduce: nothing is kept there, and a page of nothing is not written",
        ),
        (["table1", "--cell", "cifar9"], "--cell: no cell has 'cifar9' in its name; they look like table1/"),
        (["table1", "training.lr=1", "--scale", "smoke"], "training.lr=1: only engine.KEY=VALUE may be given"),
        (["table1", "engine.devise=cpu", "--scale", "smoke"], "engine.devise: unknown; did you mean 'device'?"),
    ],
)
def test_one_sentence_for_a_mistake(superfed: Program, arguments: list[str], sentence: str, tmp_path: Path) -> None:
    done = superfed("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence}"), done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("experiment.json"))


def test_everything_can_be_planned(superfed: Program, tmp_path: Path) -> None:
    done = superfed("reproduce", "all", "--plan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "447 cells, 1 seed: 415 runs in "
    )  # some of figures and questions are those of tables
    figure = superfed("reproduce", "figureB", "--plan", cwd=tmp_path)
    assert figure.stdout.startswith("3 cells, 1 seed: 3 runs in 3 groups")


def test_where_a_number_comes_from(superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERFED_DATA", raising=False)  # it would be part of the command, as it should be
    cell = ("--scale", "smoke", "--out", tmp_path, "--cell", "mnist/k50/fedavg")
    none = superfed("reproduce", "table1", *cell)
    assert none.returncode == 1
    command = "superfed reproduce table1 --scale smoke --only table1/mnist/k50/fedavg --seeds 1 --out"
    assert f"not run yet; run it with: {command} {tmp_path}" in none.stdout
    made = superfed(
        "reproduce", "table1", *ENGINE, "--scale", "smoke", "--only", "k50/fedavg", "--seeds", 2, "--out", tmp_path
    )
    assert made.returncode == 0, made.stderr
    found = superfed("reproduce", "table1", *cell)
    assert found.returncode == 0, found.stderr
    facts = [line.split(maxsplit=1) for line in found.stdout.splitlines() if not line.startswith("    ")]
    told = {fact[0]: fact[1] for fact in facts if len(fact) == 2}
    assert {"status", "begun", "machine", "versions", "data", "settings"} < told.keys()
    assert told.get("commit") == commit(SOURCE)
    assert len([fact for fact in facts if fact[0] == "folder"]) == 2
    assert (Path(told["folder"]) / "run.json").exists()
    again = f"superfed reproduce table1 {' '.join(ENGINE)} --scale smoke --only table1/mnist/k50/fedavg --seeds 1-1"
    assert told["command"] == f"{again} --out {tmp_path}"
    assert "      name: fedavg" in found.stdout


def test_where_a_number_comes_from_that_is_kept_and_was_not_run_here(superfed: Program, tmp_path: Path) -> None:
    kept, here, there = tmp_path / "kept", ("--out", tmp_path / "here"), ("--out", tmp_path / "there")
    small = ("reproduce", "table1", "--scale", "smoke", "--only", "mnist/k50/fedavg", "--kept", kept)
    assert superfed(*small, *ENGINE, *here, "--keep").returncode == 0
    shown = superfed(*small, *there, "--show")
    assert shown.returncode == 0, shown.stderr
    assert f"{kept} keeps the numbers of a cell that was not run here: " in shown.stdout
    for seeds in ((), ("--seeds", "7-7")):
        assert "not run here" not in superfed(*small, *here, "--show", *seeds).stdout

    asked = ("reproduce", "table1", "--scale", "smoke", "--cell", "mnist/k50/fedavg", "--kept", kept)
    told = superfed(*asked, *there)
    assert told.returncode == 0, told.stderr
    assert f"kept         {kept}/table1.json, seed 0" in told.stdout
    assert f"commit       {commit(SOURCE)}" in told.stdout
    assert f"superfed reproduce table1 {' '.join(ENGINE)} --scale smoke" in told.stdout
    assert "      name: fedavg" in told.stdout
    assert "  folder " not in told.stdout
    assert "  kept " not in superfed(*asked, *here).stdout  # its run's folder says the same

    file = kept / "table1.json"
    file.write_text(re.sub(r'"settings":"\w+"', '"settings":"0123abcd"', file.read_text()))
    other = superfed(*asked, *there)
    assert "config       another than this version's, whose settings are " in other.stdout
    assert "name: fedavg" not in other.stdout
    file.write_text("{}")
    for arguments, code in (((*asked, *there), 2), ((*small, *there, "--show"), 1)):
        broken = superfed(*arguments)
        assert (broken.returncode, "Traceback" in broken.stderr) == (code, False)
        assert f"superfed: {file}: has schema None" in broken.stderr


def test_what_is_finished_is_shown_and_kept_and_nothing_is_run(superfed: Program, tmp_path: Path) -> None:
    small = ("reproduce", "table1", *SMALL, "--out", tmp_path / "runs")
    superfed(*small[:-4], "--only", "mnist/k50/fedavg", "--out", tmp_path / "runs", *ENGINE)
    before = sorted((tmp_path / "runs").rglob("run.json"))
    assert len(before) == 1
    done = superfed(*small, "--show", "--keep", "--kept", tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 numbers are there" in done.stdout
    assert sorted((tmp_path / "runs").rglob("run.json")) == before
    assert f"kept: {tmp_path / 'kept' / 'table1.json'}" in done.stdout
    page = superfed("reproduce", "all", "--kept", tmp_path / "kept", "--page", tmp_path / "docs" / "page.md")
    assert page.returncode == 0, page.stderr
    assert "### MNIST, K = 50 (top-1, %)" in (tmp_path / "docs" / "page.md").read_text()


def test_what_is_kept_is_shown_where_nothing_was_run(superfed: Program, tmp_path: Path) -> None:
    kept, there, elsewhere = tmp_path / "kept", tmp_path / "there", tmp_path / "elsewhere"
    small = ("reproduce", "table1", "--scale", "smoke", "--only", "mnist/k50/fedavg", "--kept", kept)
    ran = superfed(*small, *ENGINE, "--seeds", 2, "--out", there, "--keep")
    done = superfed(*small, "--show-kept", "--out", elsewhere)
    assert (done.returncode, done.stderr) == (0, "")
    table = "1 of 1 numbers are there"
    assert table in ran.stdout
    assert done.stdout.split("page:")[0] == ran.stdout[ran.stdout.index("Table 1") :].split("page:")[0]
    assert not list(elsewhere.rglob("run.json"))

    pages = elsewhere / "kept" / "smoke"
    assert (pages / "table1.tex").read_text() == (there / "smoke" / "table1.tex").read_text()
    (link,) = re.findall(r'<a href="([^"]+)"[^>]*>0</a>', (there / "smoke" / "table1.html").read_text())
    assert (there / "smoke" / link / "run.json").exists()
    page = (pages / "table1.html").read_text()
    assert link.rstrip("/") in page  # said, and leading nowhere
    assert re.findall(r'<a href="([^"]+)"', page) == ["index.html"]
    assert (pages / "index.html").exists()

    one = superfed(*small, "--show-kept", "--out", elsewhere, "--seeds", "1-1")
    assert one.returncode == 0
    assert one.stdout.split("page:")[0] != done.stdout.split("page:")[0]
    for arguments in (("--scale", "short"), ("--only", "mnist/k50/fedprox")):
        nothing = superfed(*small, *arguments, "--show-kept", "--out", elsewhere)
        assert nothing.returncode == 2
        assert nothing.stderr.startswith(f"superfed: {kept}: nothing of what is asked for is kept there at the scale ")


def test_a_page_is_of_everything(superfed: Program, tmp_path: Path) -> None:
    done = superfed("reproduce", "table1", "--page", "page.md", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "superfed: --page: is of all that is kept: superfed reproduce all --page page.md\n"


def test_an_open_question_takes_the_runs_of_the_table_and_is_answered(superfed: Program, tmp_path: Path) -> None:
    where = ("--scale", "smoke", "--out", tmp_path)
    superfed("reproduce", "table1", *ENGINE, *where, "--only", "mnist/k500/superfed_mm")
    (table,) = tmp_path.rglob("run.json")
    written = table.stat().st_mtime_ns
    question = ("reproduce", "questions", *where, "--only", "mnist/k500/superfed_mm,mnist/k500_nu0/superfed_mm")
    before = superfed(*question, "--show")
    assert "1. Does ν matter once λ is validated? (MNIST, K = 500)" in before.stdout
    assert "For SuPerFed-MM" not in before.stdout
    done = superfed(*question, *ENGINE, "--keep", "--kept", tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.rglob("run.json"))) == 2
    assert table.stat().st_mtime_ns == written
    assert "For SuPerFed-MM no difference is seen; ν = 1 is furthest from ν = 0" in " ".join(done.stdout.split())
    assert "0 of 2" not in done.stdout
    alone = superfed("reproduce", "questions", *where, "--only", "mnist/k500_nu0/superfed_mm", "--show")
    assert "For SuPerFed-MM no difference is seen" in " ".join(alone.stdout.split())  # by what is there beside it
    assert "In numbers" in (tmp_path / "smoke" / "questions.html").read_text()
    page = tmp_path / "page.md"
    assert superfed("reproduce", "all", "--kept", tmp_path / "kept", "--page", page).returncode == 0
    assert "## What the paper leaves open: eleven questions, a sweep each (smoke: " in page.read_text()


def test_what_is_there_is_shown_and_kept_whatever_is_asked_for_now(superfed: Program, tmp_path: Path) -> None:
    where = ("--scale", "smoke", "--out", tmp_path)
    superfed("reproduce", "table1", *ENGINE, *where, "--only", "mnist/k50/fedavg", "--seeds", 2)
    done = superfed("reproduce", "table1", *ENGINE, *where, "--only", "mnist/k50/fedprox")
    assert "FedProx" in done.stdout
    assert "FedAvg" not in done.stdout.split("numbers are there")[0]
    page, tex = ((tmp_path / "smoke" / f"table1.{ending}").read_text() for ending in ("html", "tex"))
    assert "FedAvg" in page
    assert "FedAvg &" in tex
    superfed("reproduce", "table1", *where, "--show", "--keep", "--kept", tmp_path / "kept")
    assert (tmp_path / "kept" / "table1.json").read_text().count('"cell":"table1/mnist/k50/fedavg"') == 2
    plan = superfed("reproduce", "table1", *where, "--only", "mnist/k50", "--plan")
    assert "Finished already, and not to be made again: 2 runs." in plan.stdout


def test_a_run_goes_on_as_it_began_and_says_so(superfed: Program, tmp_path: Path) -> None:
    out = tmp_path / "a [b]"
    small = ("reproduce", "table1", "--scale", "smoke", "--only", "mnist/k50/fedavg", "--out", out)
    done = superfed(*small, *ENGINE)
    assert f"page: {out}/smoke/table1.html" in done.stdout
    (info,) = out.rglob("run.json")
    info.write_text(info.read_text().replace('"finished"', '"running"').replace('"done"', '"running"'))
    again = superfed(*small, "engine.device=cpu", "engine.dtype=float64")
    assert again.returncode == 0, again.stderr
    assert "begun with other engine settings, and going on with these: mnist-fedavg-" in " ".join(again.stdout.split())
    alike = superfed(*small, *ENGINE)
    assert "begun with other" not in alike.stdout


def test_pages_are_of_every_seed_and_the_terminal_of_those_asked_for(superfed: Program, tmp_path: Path) -> None:
    asked = ("reproduce", "table1", *ENGINE, "--scale", "smoke", "--out", tmp_path, "--only", "mnist/k50/fedavg")
    assert superfed(*asked, "--seeds", "2").returncode == 0
    done = superfed(*asked, "--seeds", "7-7", "--show", "--keep", "--kept", tmp_path / "kept")
    assert "0 of 1 numbers are there" in done.stdout
    assert not (tmp_path / "kept").exists()
    assert "1 of 66 numbers are there" in (tmp_path / "smoke" / "table1.html").read_text()


def test_a_page_that_cannot_be_written_loses_nothing_else(superfed: Program, tmp_path: Path) -> None:
    (tmp_path / "smoke" / "table1.html").mkdir(parents=True)
    only = ("--scale", "smoke", "--only", "table1/mnist/k50/fedavg,table5/cifar10/start0.2/superfed_mm")
    done = superfed("reproduce", "all", *ENGINE, *only, "--out", tmp_path, "--keep", "--kept", tmp_path / "kept")
    assert done.returncode == 1
    assert f"superfed: {tmp_path}/smoke/table1.html: cannot be written" in done.stderr
    assert (tmp_path / "smoke" / "table5.html").exists()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["table1.json", "table5.json"]


@pytest.mark.parametrize("damage", ["", "{", '{"schema": 1}', None])
def test_a_damaged_run_is_told_of_and_others_are_made(superfed: Program, tmp_path: Path, damage: str | None) -> None:
    """None: everything in its folder was removed but the lock, which is hidden."""
    asked = ("reproduce", "table1", *ENGINE, "--scale", "smoke", "--out", tmp_path, "--only")
    assert superfed(*asked, "mnist/k50/fedavg").returncode == 0
    (experiment,) = (tmp_path / "smoke").glob("mnist-fedavg-*")
    if damage is None:
        shutil.rmtree(experiment)
        experiment.mkdir()
        (experiment / ".lock").touch()
    else:
        (experiment / "experiment.json").write_text(damage)
    done = superfed(*asked, "mnist/k50/fedavg,mnist/k50/fedprox")
    if damage is None:
        assert done.returncode == 0, done.stderr
        assert "2 of 2 numbers are there" in done.stdout
    else:
        assert done.returncode == 1
        assert f"remove {experiment} to have it made anew" in done.stderr
        assert "1 of 2 numbers are there" in done.stdout
    assert superfed(*asked, "mnist/k50/fedavg", "--plan").returncode == 0


def test_the_terminal_has_the_parts_that_were_asked_for(superfed: Program, tmp_path: Path) -> None:
    """Of a figure's numbers too, though its page has all."""
    asked = ("reproduce", "figure3", *ENGINE, "--scale", "smoke", "--out", tmp_path, "--only")
    assert superfed(*asked, "nu1_mu0.1/superfed").returncode == 0
    done = superfed(*asked, "nu1_mu0.1/superfed_mm", "--show")
    rows = [line for line in done.stdout.splitlines() if "±" in line]
    assert any("SuPerFed-MM" in row for row in rows)
    assert not any("SuPerFed-LM" in row for row in rows)
    assert "SuPerFed-LM" in (tmp_path / "smoke" / "figure3.html").read_text()
