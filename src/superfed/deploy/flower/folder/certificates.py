"""Certificates: an authority of the federation's own, and what it signs for the server."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.secret import write_secret
from superfed.store.files import write_bytes

DAYS = 825
LEEWAY = timedelta(minutes=5)
"""Clocks differ."""


def make_authority(certificate: Path, key: Path, name: str) -> None:
    private = ec.generate_private_key(ec.SECP384R1())
    who = _named(f"{name} authority")
    made = (
        _begun(who, who, private.public_key(), 2 * DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
        .sign(private, hashes.SHA384())
    )
    _write(certificate, made, key, private)


def make_server_certificate(
    certificate: Path, key: Path, authority: tuple[Path, Path], hosts: Sequence[str], days: float = DAYS
) -> None:
    """For a server that is reached at these names and addresses, signed by ``authority``, a certificate and its key."""
    signer, signing = _authority(*authority)
    private = ec.generate_private_key(ec.SECP384R1())
    made = (
        _begun(_named(hosts[0]), signer.subject, private.public_key(), days)
        .add_extension(x509.SubjectAlternativeName([_alternative(host) for host in hosts]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
        .sign(signing, hashes.SHA384())
    )
    _write(certificate, made, key, private)


def days_left(certificate: Path) -> float:
    """How long a certificate is still good for; less than 0 if it is not."""
    try:
        read = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError):
        raise UserError(f"{certificate}: is no certificate that can be read") from None
    return (read.not_valid_after_utc - datetime.now(UTC)) / timedelta(days=1)


def _begun(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, days: float
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    end = now + timedelta(days=days)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now - LEEWAY, end - LEEWAY))
        .not_valid_after(end)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name[:64])])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _authority(certificate: Path, key: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    try:
        private = form.load_pem_private_key(key.read_bytes(), None)
        read = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError, TypeError):
        raise UserError(f"{key}: the authority's key cannot be read; only who holds it can sign certificates") from None
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise UserError(f"{key}: is not the key of this federation's authority")
    return read, private


def _write(certificate: Path, made: x509.Certificate, key: Path, private: ec.EllipticCurvePrivateKey) -> None:
    write_secret(key, private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()))
    write_bytes(certificate, made.public_bytes(form.Encoding.PEM))
