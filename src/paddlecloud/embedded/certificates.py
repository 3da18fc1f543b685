"""The keys of an embedded cluster: a certificate authority of its own and what it signs.

Made at the first start, readable by the owner alone, renewed when less than thirty days are left. What
the authority signed is made again when it is damaged; the authority itself never is, because clients
trust it: that is told.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ..errors import Failed

CA_DAYS = 3650
LEAF_DAYS = 397  # the longest that TLS clients accept
RENEW_BEFORE = timedelta(days=30)
NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
         "kubernetes.default.svc.cluster.local")  # fmt: skip
ADDRESSES = ("127.0.0.1", "::1")
OWNER = ("paddlecloud-admin", "system:masters")  # user and group


def ensure(folder: Path, now: datetime | None = None, further: tuple[str, ...] = ()) -> None:
    """Make what is missing, damaged or about to expire: `ca`, `server` and `admin` (.crt/.key), `tokens.key`.

    The server is known by the addresses *further*, too. Raises `Failed` when the authority or the key of the
    tokens is damaged.
    """
    now = now or datetime.now(UTC)
    # The certificate is written last: where it is, the key is too.
    new = not (folder / "ca.crt").exists()
    if new:
        make_authority(folder, now)
    with told(folder, "all clients need the new kubeconfig"):
        x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())
        if new or not fresh(folder, "server", now) or not known_by(folder, further):
            make_server(folder, now, further)
        if new or not fresh(folder, "admin", now):
            make_client(folder, "admin", OWNER, now)
    if not (folder / "tokens.key").exists():
        write(folder / "tokens.key", private(ec.generate_private_key(ec.SECP256R1())))
    with told(folder / "tokens.key", "tokens that were given out before are void"):
        serialization.load_pem_private_key((folder / "tokens.key").read_bytes(), None)


@contextmanager
def told(path: Path, price: str) -> Iterator[None]:
    """A key that cannot be read ends in a sentence, with what a new one costs."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise Failed(
            f"the keys in {path} are damaged: {error}",
            next_step=f"move {path} away, and the next start makes new ones; {price}",
        ) from error


def fresh(folder: Path, name: str, now: datetime) -> bool:
    """Whether a certificate and its key can be used for a while."""
    try:
        certificate = x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())
        key = serialization.load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
    except (ValueError, OSError):
        return False
    fits = key.public_key() == certificate.public_key()
    return fits and certificate.not_valid_after_utc - now > RENEW_BEFORE


def known_by(folder: Path, addresses: tuple[str, ...]) -> bool:
    """Whether the server's certificate holds for all of *addresses*."""
    certificate = x509.load_pem_x509_certificate((folder / "server.crt").read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {*map(ipaddress.ip_address, addresses)} <= {*names.get_values_for_type(x509.IPAddress)}


def make_authority(folder: Path, now: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "paddlecloud")])
    builder = (
        certificate(name, name, key.public_key(), now, CA_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    write(folder / "ca.key", private(key))
    write(folder / "ca.crt", builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


def make_server(folder: Path, now: datetime, further: tuple[str, ...] = ()) -> None:
    alternatives = [
        *(x509.DNSName(n) for n in NAMES),
        *(x509.IPAddress(ipaddress.ip_address(a)) for a in (*ADDRESSES, *further)),
    ]
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "paddlecloud-api")])
    serving = (
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        x509.SubjectAlternativeName(alternatives),
    )
    make_leaf(folder, "server", name, serving, now)


def make_client(folder: Path, file: str, who: tuple[str, str], now: datetime) -> None:
    """A certificate that says who its holder is: the user as common name, the group as organization."""
    user, group = who
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, group),
            x509.NameAttribute(NameOID.COMMON_NAME, user),
        ]
    )
    make_leaf(folder, file, name, (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]),), now)


def make_leaf(
    folder: Path, file: str, name: x509.Name, purpose: tuple[x509.ExtensionType, ...], now: datetime
) -> None:
    authority = x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())
    signer = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        certificate(name, authority.subject, key.public_key(), now, LEAF_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(signs_certificates=False), critical=True)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    for extension in purpose:
        builder = builder.add_extension(extension, critical=False)
    write(folder / f"{file}.key", private(key))
    signed = builder.sign(signer, hashes.SHA256())
    write(folder / f"{file}.crt", signed.public_bytes(serialization.Encoding.PEM))


def certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))  # clocks differ a little
        .not_valid_after(now + timedelta(days=days))
    )


def usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def write(path: Path, content: bytes) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    part = path.with_suffix(path.suffix + ".part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, 0o600)  # what an interrupted start left behind may be open
        file.write(content)
    part.rename(path)
