from __future__ import annotations

import base64
import json

import pytest

from paddlecloud.errors import WrongUse
from paddlecloud.images import words
from paddlecloud.images.challenges import challenges
from paddlecloud.images.credentials import Credential, Keyring, fits, keyring, place
from paddlecloud.images.failures import InvalidName
from paddlecloud.images.names import local, parse

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    "text, full",
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("team/app", "docker.io/team/app:latest"),
        ("docker.io/nginx", "docker.io/library/nginx:latest"),
        ("index.docker.io/nginx", "docker.io/library/nginx:latest"),
        ("localhost/app", "localhost/app:latest"),
        ("localhost:5000/app:2", "localhost:5000/app:2"),
        ("hub.example.com/a/b/c:v1", "hub.example.com/a/b/c:v1"),
        ("[::1]:5000/app", "[::1]:5000/app:latest"),
        (f"app@{DIGEST}", f"docker.io/library/app@{DIGEST}"),
        (f"app:1@{DIGEST}", f"docker.io/library/app:1@{DIGEST}"),
        ("my_app__x/y-z.w", "docker.io/my_app__x/y-z.w:latest"),
        ("Host/app", "Host/app:latest"),
    ],
)
def test_a_name_has_one_full_form(text: str, full: str) -> None:
    assert str(parse(text)) == full
    assert str(parse(parse(text).short)) == full


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "invalid reference format"),
        ("Nginx", "repository name (library/Nginx) must be lowercase"),
        ("nginx:", "invalid reference format"),
        ("nginx:a b", "invalid reference format"),
        ("../etc/passwd", "invalid reference format"),
        ("a//b", "invalid reference format"),
        ("-a", "invalid reference format"),
        ("app@sha256:12", "invalid checksum digest"),
        ("app@md5:12", "invalid reference format"),
        ("a" * 300, "must not be more than 255"),
        ("ab" * 32, "cannot specify 64-byte hexadecimal"),
        ("x\ny", "invalid reference format"),
        ("nginx:latest\n", "invalid reference format"),
    ],
)
def test_an_impossible_name_is_refused_in_the_words_of_kubernetes(text: str, why: str) -> None:
    with pytest.raises(InvalidName) as caught:
        parse(text)
    assert caught.value.message.startswith(
        f'Failed to apply default image tag "{text}": couldn\'t parse image name'
    )
    assert why in caught.value.message and caught.value.reason == "InvalidImageName"


@pytest.mark.parametrize(
    "registry, here",
    [
        ("localhost", True), ("localhost:5000", True), ("127.0.0.1:80", True), ("127.8.9.1", True),
        ("[::1]:5000", True), ("[::1]", True), ("127.0.0.1:80@example.com", False),
        ("example.com", False), ("localhost.example.com", False), ("10.0.0.1:5000", False),
        ("0.0.0.0", False), ("docker.io", False),
    ],
)  # fmt: skip
def test_only_this_machine_is_spoken_to_without_encryption(registry: str, here: bool) -> None:
    assert local(registry) is here


@pytest.mark.parametrize(
    "key, image, fit",
    [
        ("hub.example.com", "hub.example.com/app", True),
        ("hub.example.com", "other.example.com/app", False),
        ("*.example.com", "hub.example.com/app", True),
        ("*.example.com", "a.hub.example.com/app", False),
        ("hub.example.com/team", "hub.example.com/team/app", True),
        ("hub.example.com/team", "hub.example.com/teams/app", False),
        ("https://index.docker.io/v1/", "nginx", True),
        ("docker.io", "team/app", True),
        ("hub.example.com:5000", "hub.example.com/app", False),
    ],
)
def test_a_credential_is_for_the_places_its_key_names(key: str, image: str, fit: bool) -> None:
    assert fits(place(key), parse(image)) is fit


def test_the_most_exact_credential_comes_first() -> None:
    wide, exact = Credential("wide", "1"), Credential("exact", "2")
    ring = Keyring((("hub.example.com", wide), ("hub.example.com/team", exact)))
    assert ring.fitting(parse("hub.example.com/team/app")) == [exact, wide]
    assert ring.fitting(parse("hub.example.com/app")) == [wide]


def test_pull_secrets_are_read_in_all_their_forms() -> None:
    packed = base64.b64encode(b"me:pass:word").decode()
    new = {
        "auths": {
            "a.example.com": {"auth": packed + "\n"},
            "b.example.com": {"username": "u", "password": "p"},
        }
    }
    old = {"c.example.com": {"auth": packed}}
    ring = keyring(
        [{".dockerconfigjson": json.dumps(new).encode()}, {".dockercfg": json.dumps(old).encode()}, {}]
    )
    assert [(key, c.user, c.password) for key, c in ring.entries] == [
        ("a.example.com", "me", "pass:word"), ("b.example.com", "u", "p"),
        ("c.example.com", "me", "pass:word"),
    ]  # fmt: skip
    assert "word" not in repr(ring)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"auths": 3}',
        b'{"auths": {"a": "hunter2"}}',
        b'{"auths": {"a": {"auth": "hunter2!"}}}',
    ],
)
def test_an_unreadable_pull_secret_is_refused_without_showing_it(text: bytes) -> None:
    with pytest.raises(WrongUse, match="no Docker configuration") as caught:
        keyring([{".dockerconfigjson": text}])
    assert "hunter2" not in str(caught.value) and caught.value.__cause__ is None


@pytest.mark.parametrize(
    "header, found",
    [
        ('Bearer realm="https://a/t",service="s",scope="repository:x:pull,push"',
         [("bearer", {"realm": "https://a/t", "service": "s", "scope": "repository:x:pull,push"})]),
        ('Basic realm="r", Bearer realm="x"', [("bearer", {"realm": "x"}), ("basic", {"realm": "r"})]),
        ("Basic", [("basic", {})]),
        ("Negotiate", []),
        ("", []),
        ('Bearer realm=bare,service="q\\"uoted"', [("bearer", {"realm": "bare", "service": 'q"uoted'})]),
    ],
)  # fmt: skip
def test_a_challenge_is_taken_apart(header: str, found: list[tuple[str, dict[str, str]]]) -> None:
    assert [(c.scheme, dict(c.words)) for c in challenges([header])] == found


@pytest.mark.parametrize("failures, seconds", [(0, 10), (1, 10), (2, 20), (3, 40), (6, 300), (1000, 300)])
def test_pauses_between_pulls_double_up_to_five_minutes(failures: int, seconds: float) -> None:
    assert words.pause(failures) == seconds


@pytest.mark.parametrize(
    "seconds, text", [(0.0124, "12ms"), (2.5, "2.5s"), (63.25, "1m3.25s"), (3600, "1h0m0s")]
)
def test_a_duration_reads_as_a_kubelet_writes_it(seconds: float, text: str) -> None:
    assert words.span(seconds) == text


def test_the_words_of_events_are_those_of_a_kubelet() -> None:
    assert words.pulled("a:1", 1.5, 2.0, 7) == (
        'Successfully pulled image "a:1" in 1.5s (2s including waiting). Image size: 7 bytes.'
    )
    assert words.back_off("a:1") == 'Back-off pulling image "a:1"'
    assert words.back_off("a:1", "gone") == 'Back-off pulling image "a:1": ErrImagePull: gone'
    assert words.present("a:1") == 'Container image "a:1" already present on machine'
    assert words.pulling("a:1") == 'Pulling image "a:1"'
