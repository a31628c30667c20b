"""Whether machines would compute the same: asked of each before it is given anything."""

from collections.abc import Callable, Mapping

from superfed.core.errors import UserError
from superfed.deploy.ray.cluster import nodes

PACKAGES = ("superfed", "torch", "numpy", "numba")
"""Whose versions decide the last bits of a result."""
Versions = Mapping[str, str | None]
"""None of what is not there."""
PATIENCE = 120.0
"""Seconds within which a machine must answer."""


def check_likeness() -> None:
    """Refuse a cluster in which a run that moves to another machine would not go on as it began."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    versions, there = asking(), nodes()
    ask = ray.remote(num_cpus=0, max_retries=0)(versions)
    asked = [
        ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False)).remote(PACKAGES)
        for node in there
    ]
    for node, question in zip(there, asked, strict=True):
        try:
            theirs: Versions = ray.get(question, timeout=PATIENCE)
        except ray.exceptions.RayError as error:
            if all(one.id != node.id for one in nodes()):
                continue  # it died, and Ray did not know yet
            said = " ".join(str(error).split())
            raise UserError(f"--ray: {node.address}, a machine of the cluster, does not answer ({said})") from error
        if (problem := difference(versions(PACKAGES), theirs)) is not None:
            raise UserError(f"--ray: {node.address} {problem}")


def difference(mine: Versions, theirs: Versions) -> str | None:
    """What keeps two machines from computing the same, in words."""
    if theirs["superfed"] is None:
        return f"has no superfed; install superfed {mine['superfed']} there"
    unlike = [name for name in mine if mine[name] != theirs[name]]
    if not unlike:
        return None
    told = ", ".join(f"{name} {theirs[name] or 'not at all'} ({mine[name] or 'none'} here)" for name in unlike)
    return f"has {told}; runs that move between such machines would not stay the same"


def asking() -> Callable[[tuple[str, ...]], Versions]:
    """What a machine is asked. It is made here so that it travels as code: superfed may not be there to be imported."""

    def versions(names: tuple[str, ...]) -> dict[str, str | None]:
        import importlib.metadata
        import importlib.util
        import platform
        from hashlib import sha256
        from pathlib import Path

        found: dict[str, str | None] = {"python": ".".join(platform.python_version_tuple()[:2])}
        for name in names:
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                found[name] = None
        spec = importlib.util.find_spec("superfed")  # a checkout may differ from another one of the same version
        files = Path(spec.origin).parent.rglob("*.py") if spec is not None and spec.origin is not None else ()
        digest = sha256(b"".join(file.read_bytes() for file in sorted(files)))
        return found | {"superfed's files": digest.hexdigest()[:8]}

    return versions
