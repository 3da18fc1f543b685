"""Keys that are missing or damaged: made again where nobody is deceived by it, told where he would be."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from paddlecloud.embedded import certificates, identity
from paddlecloud.errors import Failed
from paddlecloud.settings import Home

GARBAGE = b"-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize("name", ["server.crt", "server.key", "admin.crt", "admin.key"])
@pytest.mark.parametrize("content", [None, b"", b"\x00\xff", GARBAGE])
def test_what_the_authority_signed_is_made_again(tmp_path: Path, name: str, content: bytes | None) -> None:
    certificates.ensure(tmp_path)
    authority = (tmp_path / "ca.crt").read_bytes()
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)

    certificates.ensure(tmp_path)

    assert (tmp_path / "ca.crt").read_bytes() == authority
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for pair in ("server", "admin"):
        context.load_cert_chain(tmp_path / f"{pair}.crt", tmp_path / f"{pair}.key")


def test_a_key_of_another_certificate_is_replaced_with_it(tmp_path: Path) -> None:
    certificates.ensure(tmp_path)
    (tmp_path / "server.key").write_bytes((tmp_path / "admin.key").read_bytes())

    certificates.ensure(tmp_path)

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")


@pytest.mark.parametrize(
    "damaged, price",
    [
        ({"ca.crt": GARBAGE}, "all clients need the new kubeconfig"),
        ({"ca.key": b"", "server.crt": b""}, "all clients need the new kubeconfig"),
        ({"tokens.key": b"garbage"}, "tokens that were given out before are void"),
    ],
)
def test_what_others_trust_is_never_replaced_unasked(
    tmp_path: Path, damaged: dict[str, bytes], price: str
) -> None:
    certificates.ensure(tmp_path)
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)

    with pytest.raises(Failed, match="are damaged") as caught:
        certificates.ensure(tmp_path)

    assert "away" in caught.value.next_step and price in caught.value.next_step
    assert {name: (tmp_path / name).read_bytes() for name in damaged} == damaged


def test_tokens_of_our_own_processes_are_made_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    identity.establish(home)
    (home.pki / "tokens.json").write_text("{")

    identity.establish(home)

    assert set(identity.make_tokens(home.pki / "tokens.json", certificates.write)) == set(identity.IDENTITIES)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"api_port": 1}', '{"colour": "red"}'])
def test_a_cluster_that_forgot_what_it_chose_is_told(tmp_path: Path, content: str) -> None:
    home = Home(tmp_path / "h")
    identity.establish(home)
    home.state.write_text(content)

    with pytest.raises(Failed, match=r"cluster\.json is damaged") as caught:
        identity.establish(home)
    assert "move it away" in caught.value.next_step
