"""docs/api.md: the public names of ``superfed``, with signatures and docstrings, by the standard library's inspect."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import superfed
from superfed.reference.settings import meanings_in, plain_markup

INTRO = """# Python

What `import superfed` has, made from the program itself by `python -m superfed.reference docs`. Methods such as
`superfed.SuPerFed` are dataclasses of their settings, which are told with [every setting](config-reference.md#algorithm).
"""
GROUPS = {
    "Train, and read runs": ("fit", "load"),
    "A run, its clients, their models": ("FittedRun", "FittedClient", "Subspace", "LambdaCurve"),
    "Data and networks of your own": ("from_arrays", "from_hf", "from_partitioner", "ClientArrays", "register_model"),
    "Models in files": ("export_model", "load_model", "ExportedModel"),
    "What goes wrong": ("UserError", "SettingError"),
}


def api_page() -> str:
    parts = [INTRO]
    for title, names in GROUPS.items():
        parts += [f"## {title}\n", *(part for name in names for part in _entry(name))]
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str) -> Iterator[str]:
    found: Any = getattr(superfed, name, None) or _beside(name)
    yield f"### {name}\n"
    if not inspect.isclass(found) or dataclasses.is_dataclass(found):
        called = f"superfed.{name}" if hasattr(superfed, name) else name
        yield f"<!-- not run: a signature -->\n```python\n{signature(called, found)}\n```\n"
    yield _words(found)
    if inspect.isclass(found) and (members := list(_members(found))):
        yield "\n".join([*members, ""])


def _beside(name: str) -> Any:
    """What is no name of the package's own, and is met as the answer of one that is."""
    from superfed.experiments.subspace import LambdaCurve

    return {"LambdaCurve": LambdaCurve}[name]


def _members(kind: type) -> Iterator[str]:
    """First what it is, then what it does."""
    said = {name: member for name, member in vars(kind).items() if not name.startswith("_")}
    for name, meaning in (meanings_in(kind) if dataclasses.is_dataclass(kind) else {}).items():
        yield f"- `{name}`: {meaning}"
    for name, member in said.items():
        if isinstance(member, property | cached_property):
            words = inspect.getdoc(member.fget if isinstance(member, property) else member.func)
            yield f"- `{name}`" + (f": {_one_line(words)}" if words else "")
    for name, member in said.items():
        if inspect.isfunction(member):
            yield f"- `{signature(name, member, width=1000)}`: {_one_line(inspect.getdoc(member) or '')}"


def signature(name: str, thing: Any, width: int = 90) -> str:
    """As it is written in the source; with a line for each parameter where it is wider than that."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(getattr(thing, "__func__", thing)))).body
    if isinstance(node, ast.ClassDef):
        declared = [one for one in node.body if isinstance(one, ast.AnnAssign)]
        listed = [_parameter(ast.unparse(one.target), one.annotation, one.value) for one in declared]
        returns = ""
    else:
        assert isinstance(node, ast.FunctionDef)
        listed, returns = _parameters(node.args), f" -> {_type(node.returns)}" if node.returns else ""
    short = f"{name}({', '.join(listed)}){returns}"
    whole = short if len(short) <= width else "\n".join([f"{name}(", *(f"    {one}," for one in listed), f"){returns}"])
    constants = {k: str(v) for k, v in vars(inspect.getmodule(thing)).items() if k.isupper() and isinstance(v, int)}
    return re.sub(r"(?<= = )[A-Z]+\b", lambda found: constants.get(found[0], found[0]), whole.replace("'", '"'))


def _parameters(arguments: ast.arguments) -> list[str]:
    places = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
    found = [_parameter(a.arg, a.annotation, d) for a, d in zip(places, defaults, strict=True) if a.arg != "self"]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*found, *(["*"] if arguments.kwonlyargs else []), *(_parameter(a.arg, a.annotation, d) for a, d in named)]


def _parameter(name: str, annotation: ast.expr | None, default: ast.expr | None) -> str:
    typed = name if annotation is None else f"{name}: {_type(annotation)}"
    if default is None:
        return typed
    return f"{typed} = {ast.unparse(default)}" if annotation is not None else f"{typed}={ast.unparse(default)}"


def _type(annotation: ast.expr) -> str:
    """Without the quotes that a name has which is declared further down."""
    quoted = isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
    return str(annotation.value) if quoted and isinstance(annotation, ast.Constant) else ast.unparse(annotation)


def _words(thing: Any) -> str:
    """The docstring, its list of arguments as a list."""
    words = plain_markup(inspect.getdoc(thing) or "")
    body, _, arguments = words.partition("\nArgs:\n")
    if not arguments:
        return f"{body}\n"
    entries = re.split(r"\n(?=    \S)", arguments.rstrip())
    listed = [re.sub(r"^([\w, ]+): ", _names, _one_line(entry)) for entry in entries]
    return "\n".join([body, *(f"- {entry}" for entry in listed), ""])


def _names(found: "re.Match[str]") -> str:
    return ", ".join(f"`{name}`" for name in found[1].split(", ")) + ": "


def _one_line(words: str) -> str:
    return " ".join(plain_markup(words).split())
