"""The notebook runs from its first cell to its last, and shows runs and clients as tables."""

import os
from pathlib import Path
from typing import Any

import pytest
from shown_blocks import ROOT

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

NOTEBOOK = ROOT / "notebooks" / "quickstart.ipynb"


def read() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_it_runs_and_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    notebook = read()
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    pages = [out["data"]["text/html"] for out in shown if "text/html" in out.get("data", {})]
    assert any("a run of SuPerFed-MM" in page for page in pages)
    assert any("client 3 of" in page for page in pages)
    assert any("the line of models on" in page and page.count("<tr>") > 11 for page in pages)
    assert any("image/svg+xml" in out.get("data", {}) for out in shown)
    assert not [out for out in shown if out["output_type"] == "stream" and out["name"] == "stderr"]


def test_it_is_committed_clean() -> None:
    """Without outputs, and without a word of the machine it was written on."""
    notebook = read()
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "/home/" not in NOTEBOOK.read_text()


def test_its_links_lead_somewhere() -> None:
    import re

    for cell in read().cells:
        for target in re.findall(r"\]\(([^)#]+)\)", cell.source if cell.cell_type == "markdown" else ""):
            assert (NOTEBOOK.parent / target).exists(), target
