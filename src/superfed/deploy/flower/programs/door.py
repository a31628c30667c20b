"""A door before the SuperLink, for those who come from elsewhere: sites may pass, all else stays outside.

Flower answers everything at one port, and asks only sites to prove who they are: whoever reaches the port could register a
key or start a run, which is to run code at every site. So what is not a site's call is turned away here.
"""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.federation import FederationFolder
from superfed.deploy.flower.programs.ports import somebody_listens

if TYPE_CHECKING:
    from starlette.applications import Starlette

SITES_CALLS = "/v1/fleet/"
UNREGISTERED = ("/v1/fleet/register-node", "/v1/fleet/unregister-node")
"""Calls of nodes that come without a key of their own; sites here have one."""
OF_ONE_LINE = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "content-length"}


@contextmanager
def door(folder: FederationFolder, host: str, port: int, inner: str) -> Iterator[None]:
    """Listen at ``host``:``port`` with the server's certificate, and pass sites' calls on to ``inner``."""
    import uvicorn

    if somebody_listens(host, port):
        raise UserError(f"{host}:{port}: somebody listens there already; choose another --port")
    server = uvicorn.Server(
        uvicorn.Config(
            passing_on(folder, inner),
            host=host,
            port=port,
            log_level="warning",
            access_log=False,
            ws="none",
            ssl_certfile=str(folder.certificate),
            ssl_keyfile=str(folder.key),
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.05)
    if not server.started:
        raise UserError(f"{host}:{port}: cannot be listened at")
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(10)


def passing_on(folder: FederationFolder, inner: str) -> "Starlette":
    import ssl

    import httpx
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route

    believed = ssl.create_default_context(cafile=str(folder.ca))
    behind = httpx.AsyncClient(base_url=f"https://{inner}", verify=believed, timeout=None)

    async def call(request: Request) -> Response:
        path = request.url.path
        if not path.startswith(SITES_CALLS) or path in UNREGISTERED or "//" in path or ".." in path:
            return Response("only sites of the federation may pass", status_code=403)
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in OF_ONE_LINE]
        asked = behind.build_request(request.method, path, headers=headers, content=await request.body())
        answered = await behind.send(asked, stream=True)
        kept = {name: value for name, value in answered.headers.items() if name.lower() not in OF_ONE_LINE}
        return StreamingResponse(_bytes(answered), answered.status_code, kept)

    async def _bytes(answered: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for part in answered.aiter_raw():
                yield part
        finally:
            await answered.aclose()

    @asynccontextmanager
    async def closing(app: Starlette) -> AsyncIterator[None]:
        yield
        await behind.aclose()

    return Starlette(routes=[Route("/{path:path}", call, methods=["GET", "POST"])], lifespan=closing)
