"""The short way to JSON says what the long way says."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.embedded.node import lightly
from paddlecloud.embedded.node.receiving import received

CONTENTS: list[dict[str, Any]] = [
    {},
    {"shim": 12, "startedAt": 1763339612.123456, "boot": ""},
    {"failed": True, "oom": False},
    {"message": 'a "quoted" line\n\ttab \\ é 火 \U0001f525 \x00 \udc80'},
    {"clé \n": -1, "large": 2**80, "small": 1e-300},
]


@pytest.mark.parametrize("content", CONTENTS)
def test_what_is_written_is_the_json_of_the_standard_library(content: dict[str, Any]) -> None:
    assert lightly.text_of(content) == json.dumps(content)


@pytest.mark.parametrize("content", [*CONTENTS, {"deep": [{"a": None}, 1.5, ["x", True]]}])
def test_what_is_read_is_what_was_written(content: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(content), encoding="utf-8")
    assert lightly.read(str(tmp_path / "run.json")) == content


@pytest.mark.parametrize("text", ["", "{", '{"a": }', "nonsense", ' {"a": 1}'])
def test_what_is_not_json_is_an_error_of_value(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):
        lightly.read(str(tmp_path / "run.json"))


def test_signals_are_those_of_the_standard_library() -> None:
    for number in signal.Signals:
        assert getattr(lightly.signal, number.name) == number


def test_connections_and_descriptors_are_passed_as_by_the_standard_library(tmp_path: Path) -> None:
    with lightly.socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "door"))
        listener.listen(1)
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(tmp_path / "door"))
            listener.settimeout(5)
            taken, _ = listener.accept()
            with taken, open(os.devnull) as one, open(os.devnull) as two:
                assert taken.gettimeout() is None and not os.get_inheritable(taken.fileno())
                lightly.socket.send_fds(taken, [b"two"], [one.fileno(), two.fileno()])
                data, given = received(caller, 100, 8)
                devices = {os.fstat(fd).st_rdev for fd in given}
                assert (data, len(given), devices) == (b"two", 2, {os.stat(os.devnull).st_rdev})
                assert not any(map(os.get_inheritable, given))
                for fd in given:
                    os.close(fd)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_refusal_is_an_error_and_an_answer_a_connection(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError as error:
        pytest.skip(f"this machine has no {host}: {error}")
    with listener:
        port = listener.getsockname()[1]
        with lightly.socket.create_connection((host, port), 5.0) as made:
            assert made.getpeername()[:2] == (host, port)
    with pytest.raises(ConnectionRefusedError):
        lightly.socket.create_connection((host, port), 5.0)


HEAVY = {
    "collections",
    "contextlib",
    "enum",
    "functools",
    "json",
    "re",
    "selectors",
    "signal",
    "socket",
    "typing",
}
LOAD = (
    "import sys; sys.path.append(sys.argv[1]); from node import zygote; zygote.loaded(); print(*sys.modules)"
)


def test_a_zygote_loads_none_of_the_large_modules() -> None:
    """Each shim would carry its share of them: with ten pods a third of a megabyte."""
    package = Path(lightly.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", LOAD, str(package)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not HEAVY & set(done.stdout.split())
