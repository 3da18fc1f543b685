"""The certificates of a throw-away cluster: one authority, one server, its own as a client of nodes, one key
for service accounts.

Everything is made anew for every start, so that no key is worth anything once the folder is gone.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=7)


@dataclass(frozen=True)
class Certificates:
    """Where they lie."""

    ca: Path
    ca_key: Path
    server: Path
    server_key: Path
    client: Path
    """Of the server, when it asks a node."""
    client_key: Path
    account_key: Path


def make(folder: Path, now: datetime, addresses: Iterable[str] = ()) -> Certificates:
    """Write all of them into *folder*; private keys are readable by the owner only.

    The server is known by loopback and by *addresses*.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    paths = Certificates(
        ca=folder / "ca.crt",
        ca_key=folder / "ca.key",
        server=folder / "server.crt",
        server_key=folder / "server.key",
        client=folder / "client.crt",
        client_key=folder / "client.key",
        account_key=folder / "accounts.key",
    )
    ca_key, server_key, client_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    server = for_server(server_key.public_key(), now, addresses)
    client = for_client_of_nodes(client_key.public_key(), now)
    paths.ca.write_bytes(authority(ca_key, now).public_bytes(Encoding.PEM))
    paths.server.write_bytes(signed(server, ca_key).public_bytes(Encoding.PEM))
    paths.client.write_bytes(signed(client, ca_key).public_bytes(Encoding.PEM))
    keep_secret(paths.ca_key, ca_key)
    keep_secret(paths.server_key, server_key)
    keep_secret(paths.client_key, client_key)
    keep_secret(paths.account_key, rsa.generate_private_key(public_exponent=65537, key_size=2048))
    return paths


AUTHORITY = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "paddlecloud tests")])


def authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    return (
        started(AUTHORITY, key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def for_server(
    key: ec.EllipticCurvePublicKey, now: datetime, addresses: Iterable[str]
) -> x509.CertificateBuilder:
    known = [x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", *addresses)]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    return (
        started(subject, key, now)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), *known]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )


def for_client_of_nodes(key: ec.EllipticCurvePublicKey, now: datetime) -> x509.CertificateBuilder:
    organization = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters")
    subject = x509.Name([organization, x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    return started(subject, key, now).add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
    )


def signed(certificate: x509.CertificateBuilder, ca: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.public_key())
    return certificate.add_extension(issuer, critical=False).sign(ca, hashes.SHA256())


def started(subject: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime) -> x509.CertificateBuilder:
    now = now.astimezone(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(AUTHORITY)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # An hour back: clocks of virtual machines jump.
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
    )


def keep_secret(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
