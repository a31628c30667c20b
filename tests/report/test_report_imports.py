"""A report opens where torch is not installed."""

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import superfed.report

MODULES = [module.name for module in pkgutil.walk_packages(superfed.report.__path__, "superfed.report.")]
ALLOWED = {"numpy", "rich", "superfed.report", "superfed.store", "superfed.core.errors"}


def test_no_module_loads_torch() -> None:
    assert "superfed.report.page.build" in MODULES
    script = f"import sys, {', '.join(MODULES)}; print([m for m in ('torch', 'superfed.engine') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_modules_import_only_what_the_room_may() -> None:
    for path in Path(superfed.report.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                known = name.partition(".")[0] in sys.stdlib_module_names
                assert known or any(f"{name}.".startswith(f"{allowed}.") for allowed in ALLOWED), f"{path.name}: {name}"
