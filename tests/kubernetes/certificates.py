"""The certificates of a throw-away control plane: one authority, one server, one key for service accounts.

Everything is made anew for every start, so that no key is worth anything once the folder is gone.
"""

from __future__ import annotations

import ipaddress
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
    account_key: Path


def make(folder: Path, now: datetime) -> Certificates:
    """Write all of them into *folder*; private keys are readable by the owner only."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    paths = Certificates(
        ca=folder / "ca.crt",
        ca_key=folder / "ca.key",
        server=folder / "server.crt",
        server_key=folder / "server.key",
        account_key=folder / "accounts.key",
    )
    ca_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    paths.ca.write_bytes(authority(ca_key, now).public_bytes(Encoding.PEM))
    paths.server.write_bytes(for_loopback(server_key, ca_key, now).public_bytes(Encoding.PEM))
    keep_secret(paths.ca_key, ca_key)
    keep_secret(paths.server_key, server_key)
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


def for_loopback(
    key: ec.EllipticCurvePrivateKey, ca: ec.EllipticCurvePrivateKey, now: datetime
) -> x509.Certificate:
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    return (
        started(subject, key.public_key(), now)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.public_key()), critical=False)
        .sign(ca, hashes.SHA256())
    )


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
