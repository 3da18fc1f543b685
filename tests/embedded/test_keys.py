"""The keys of a cluster: whole, closed to others, renewed in time, and good for TLS."""

from __future__ import annotations

import os
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from paddlecloud.embedded import certificates
from paddlecloud.embedded.identity import establish
from paddlecloud.settings import Home

NOW = datetime.now(UTC)


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_a_second_start_keeps_the_keys(tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    before = contents(tmp_path)
    certificates.ensure(tmp_path)

    assert contents(tmp_path) == before


@pytest.mark.parametrize("days, renewed", [(300, False), (366, False), (368, True), (500, True)])
def test_the_certificate_of_the_server_is_renewed_in_time(tmp_path: Path, days: int, renewed: bool) -> None:
    certificates.ensure(tmp_path, NOW)
    before = contents(tmp_path)
    certificates.ensure(tmp_path, NOW + timedelta(days=days))
    after = contents(tmp_path)

    assert (before["server.crt"] != after["server.crt"]) is renewed
    assert before["ca.crt"] == after["ca.crt"]  # whoever trusts us goes on trusting us


def usable(folder: Path) -> bool:
    """Whether a server can serve with the keys and a client that trusts the authority believes it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    authority, server = load(folder / "ca.crt"), load(folder / "server.crt")
    server.verify_directly_issued_by(authority)
    return True


@pytest.mark.parametrize(
    "missing", ["ca.crt", "ca.key ca.crt", "server.crt", "server.crt server.key", "tokens.key"]
)
def test_a_start_that_was_interrupted_is_finished_by_the_next(tmp_path: Path, missing: str) -> None:
    certificates.ensure(tmp_path)
    for name in missing.split():
        (tmp_path / name).unlink()
    certificates.ensure(tmp_path)

    assert usable(tmp_path) and (tmp_path / "tokens.key").exists()


def test_the_server_is_known_by_all_its_names(tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    extension = load(tmp_path / "server.crt").extensions.get_extension_for_class(x509.SubjectAlternativeName)

    assert {"localhost", "kubernetes.default.svc"} <= set(extension.value.get_values_for_type(x509.DNSName))
    assert "127.0.0.1" in map(str, extension.value.get_values_for_type(x509.IPAddress))


def test_only_the_authority_may_sign(tmp_path: Path) -> None:
    certificates.ensure(tmp_path)

    def signs(name: str) -> bool:
        return load(tmp_path / name).extensions.get_extension_for_class(x509.BasicConstraints).value.ca

    assert signs("ca.crt") and not signs("server.crt")


def readable_by_others(root: Path) -> list[str]:
    """Files and folders that another user could look into, if the folders above let him."""
    return [p.name for p in (root, *root.rglob("*")) if stat.S_IMODE(p.stat().st_mode) & 0o077]


def test_other_users_can_read_no_key_whatever_the_umask(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    old = os.umask(0)
    try:
        establish(home)
    finally:
        os.umask(old)

    assert (home.pki / "ca.key").exists() and home.kubeconfig.exists()
    assert readable_by_others(home.root) == []


def test_what_an_interrupted_start_left_open_is_closed(tmp_path: Path) -> None:
    left = tmp_path / "key.part"
    left.write_text("half")
    left.chmod(0o644)
    certificates.write(tmp_path / "key", b"whole")

    assert (tmp_path / "key").read_bytes() == b"whole"
    assert readable_by_others(tmp_path / "key") == [] and not left.exists()
