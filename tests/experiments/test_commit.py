"""The commit that numbers were made with: told where the source is a checkout's, and never in the way where it is not."""

import shutil
import subprocess
from pathlib import Path

import pytest

from superfed.experiments import provenance
from superfed.experiments.provenance import commit, versions

GIT = shutil.which("git")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    if GIT is None:
        pytest.skip("there is no git here")
    (tmp_path / "src" / "package").mkdir(parents=True)
    (tmp_path / "src" / "package" / "module.py").write_text("x = 1\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    commit.cache_clear()
    return tmp_path


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(("git", *arguments), cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def asked(root: Path) -> str | None:
    commit.cache_clear()
    return commit(root / "src")


def test_a_checkout_has_its_commit(checkout: Path) -> None:
    assert asked(checkout) == _git(checkout, "rev-parse", "HEAD")[:12]


@pytest.mark.parametrize("file", ["module.py", "another.py"])
def test_source_that_is_not_as_committed_is_marked(file: str, checkout: Path) -> None:
    before = asked(checkout)
    (checkout / "src" / "package" / file).write_text("x = 2\n")
    assert asked(checkout) == f"{before}+changes"


def test_what_is_no_source_does_not_count(checkout: Path) -> None:
    before = asked(checkout)
    (checkout / "results.json").write_text("{}")
    assert asked(checkout) == before


def test_a_package_that_is_installed_inside_a_checkout_is_not_its_source(checkout: Path) -> None:
    site = checkout / ".venv" / "lib" / "site-packages"
    site.mkdir(parents=True)
    assert commit(site) is None


def test_a_checkout_without_a_commit_has_none(tmp_path: Path) -> None:
    if GIT is None:
        pytest.skip("there is no git here")
    (tmp_path / "src").mkdir()
    _git(tmp_path, "init", "-q")
    assert asked(tmp_path) is None


def test_without_git_it_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    assert asked(tmp_path) is None  # a folder that only looks like a checkout
    monkeypatch.setenv("PATH", str(tmp_path))
    assert asked(tmp_path) is None
    monkeypatch.setattr(provenance, "SOURCE", tmp_path / "src")
    assert "commit" not in versions()
    assert "superfed" in versions()


def test_a_run_says_which_commit_it_was_made_with(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "SOURCE", checkout / "src")
    assert versions()["commit"] == _git(checkout, "rev-parse", "HEAD")[:12]
