"""Whether the server is who it should be, looked at before Flower tries, which would try for ever without a word."""

import socket
import ssl

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.federation import split_address
from superfed.deploy.flower.programs.supernode import SiteFolder

PATIENCE = 10.0


def check_server(folder: SiteFolder) -> None:
    """Shake hands with the server, as the site will; what is wrong with it is one sentence. One that is not there may come."""
    host, port = split_address(folder.address)
    try:
        line = socket.create_connection((host, port), timeout=PATIENCE)
    except OSError:
        return
    with line:
        if folder.ca is None:
            return
        try:
            context = ssl.create_default_context(cafile=str(folder.ca))
            with context.wrap_socket(line, server_hostname=host):
                return
        except ssl.SSLCertVerificationError as error:
            why = "has expired" if error.verify_code == 10 else f"is not believed ({error.verify_message})"
            raise UserError(f"{folder.address}: the server's certificate {why}; {folder.ca} decides that") from None
        except (ssl.SSLError, OSError) as error:
            raise UserError(
                f"{folder.address}: the server does not speak TLS ({getattr(error, 'reason', None) or error})"
            ) from None
