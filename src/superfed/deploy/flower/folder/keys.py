"""A node's key pair: the private half stays with the site, the public half tells the server who it is."""

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.secret import write_secret
from superfed.store.files import write_bytes


def make_node_key(private: Path, comment: str) -> None:
    """An ECDSA key on P-384 as `ssh-keygen -t ecdsa -b 384` makes them, and its public half beside it."""
    key = ec.generate_private_key(ec.SECP384R1())
    write_secret(private, key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()))
    public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    write_bytes(private.with_name(f"{private.name}.pub"), public + f" {comment}\n".encode())


def read_public_key(path: Path) -> bytes:
    """A public key as Flower keeps it, from a file as ssh-keygen writes it."""
    try:
        key = form.load_ssh_public_key(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except (OSError, ValueError, UnsupportedAlgorithm):
        raise UserError(f"{path}: is no public key that ssh-keygen could have written") from None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise UserError(f"{path}: is no ECDSA key; make one with: ssh-keygen -t ecdsa -b 384")
    return key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
