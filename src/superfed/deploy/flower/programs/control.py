"""The SuperLink's control interface: who is registered and there, which runs there are and how they are.

This uses Flower's own client, which its command line uses; it is not promised to stay, hence the exact version.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.federation import FederationFolder
from superfed.deploy.flower.programs.environment import flower_environment, program

if TYPE_CHECKING:
    from flwr.supercore.control import ControlHttpClient

CONNECTION = "superfed"


@dataclass(frozen=True)
class Registered:
    """A node that the SuperLink knows, by its public key."""

    id: int
    key: bytes
    online: bool


class Control:
    """A connection to the server that runs now."""

    def __init__(self, folder: FederationFolder, address: str | None = None) -> None:
        self._folder = folder
        self.address = address or str(folder.running()["control"])
        self._client = self._connected()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _connected(self) -> "ControlHttpClient":
        from flwr.supercore.control import ControlHttpClient
        from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

        insecure = self._folder.insecure
        return ControlHttpClient.from_server_address(
            server_address=self.address,
            insecure=insecure,
            root_certificates=None if insecure else self._folder.ca.read_bytes(),
            interceptors=[RuntimeVersionHttpInterceptor(component_name="flwr CLI")],
        )

    def nodes(self) -> list[Registered]:
        from flwr.proto.control_pb2 import ListNodesRequest

        found = self._call("ListNodes", ListNodesRequest()).nodes_info
        return [Registered(node.node_id, node.public_key, node.status == "online") for node in found]

    def register(self, name: str, key: bytes) -> None:
        from flwr.proto.control_pb2 import RegisterNodeRequest

        self._call("RegisterNode", RegisterNodeRequest(public_key=key, name=name))

    def status(self, run_id: int) -> tuple[str, str]:
        """How a run is, such as ``running`` or ``finished:completed``, and what Flower says of it."""
        from flwr.proto.control_pb2 import ListRunsRequest

        runs = self._call("ListRuns", ListRunsRequest(run_id=run_id)).run_dict
        if run_id not in runs:
            return "unknown", ""
        status = runs[run_id].status
        words = status.status if not status.sub_status else f"{status.status}:{status.sub_status}"
        return words, str(status.details)

    def runs(self) -> dict[int, str]:
        from flwr.proto.control_pb2 import ListRunsRequest

        runs = self._call("ListRuns", ListRunsRequest()).run_dict
        return {
            id: run.status.status if not run.status.sub_status else f"{run.status.status}:{run.status.sub_status}"
            for id, run in runs.items()
        }

    def stop(self, run_id: int) -> None:
        from flwr.proto.control_pb2 import StopRunRequest

        self._call("StopRun", StopRunRequest(run_id=run_id))

    def start(self, app: Path) -> int:
        """Hand a run's app folder to Flower, as `flwr run` does; the run's number."""
        home = self._folder.flower_home
        write_connection(home, self.address, None if self._folder.insecure else self._folder.ca)
        done = subprocess.run(
            [program("flwr"), "run", str(app), CONNECTION, "--format", "json"],
            env=flower_environment(home),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        try:
            told = json.loads(done.stdout)
            return int(told["run-id"])
        except (ValueError, KeyError, TypeError):
            said = " ".join((done.stderr or done.stdout).split())[-300:]
            raise UserError(f"Flower did not take the run: {said}") from None

    def _call(self, method: str, request: Any) -> Any:
        import httpx

        try:
            return getattr(self._client, method)(request)
        except httpx.HTTPStatusError as error:
            raise UserError(f"the server refused ({error.response.text[:300]})") from None
        except httpx.HTTPError as error:
            raise UserError(f"the server at {self.address} does not answer ({error})") from None


def write_connection(home: Path, address: str, ca: Path | None) -> None:
    """The connection that Flower's own command line is to use."""
    home.mkdir(parents=True, exist_ok=True)
    how = "insecure = true" if ca is None else f"root-certificates = {json.dumps(str(ca.absolute()))}"
    (home / "config.toml").write_text(
        f'[superlink]\ndefault = "{CONNECTION}"\n\n[superlink.{CONNECTION}]\naddress = "{address}"\n{how}\n'
    )
