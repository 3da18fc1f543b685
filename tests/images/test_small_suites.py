"""The suites that stand for images everybody names: their programs, run as a node runs them."""

from __future__ import annotations

import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paddlecloud.embedded.node import suites
from paddlecloud.settings import shipped

SUITES = shipped("suites")
NGINX = SUITES / "nginx/code"


@pytest.mark.parametrize("name", ["nginx", "busybox", "python"])
@pytest.mark.parametrize("form", ["{}", "{}:1.2", "docker.io/library/{}:latest", "library/{}"])
def test_the_images_of_the_examples_have_suites(name: str, form: str) -> None:
    found = suites.resolve(form.format(name), [SUITES])
    assert found.name == name and found.says.cmd and not found.says.entrypoint


@contextmanager
def nginx(folder: Path, conf: str = "", **more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    (folder / "conf.d").mkdir(exist_ok=True)
    (folder / "conf.d/default.conf").write_text(conf or "server { listen 0; }")
    env = {"PATH": os.environ["PATH"], "POD_IP": "127.0.0.1", "NGINX_HTML": str(NGINX / "html"),
           "NGINX_CONF": str(folder / "conf.d"), **more}  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, NGINX / "sbin/nginx", "-g", "daemon off;"], env=env, text=True, bufsize=1,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        try:
            yield address(process), process
        finally:
            process.kill()
            process.wait(10)


def address(process: subprocess.Popen[str]) -> str:
    said = []
    assert process.stderr is not None
    # It says where it serves, or why not and ends: either way there is a line to read.
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"serves \S+ on (\S+:\d+)", line):
            return f"http://{found[1]}"
    raise AssertionError(f"nginx did not come up: {''.join(said)}")


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_nginx_serves_its_page_and_ends_when_asked(tmp_path: Path) -> None:
    with nginx(tmp_path) as (url, process):
        assert get(f"{url}/")[0] == 200 and "Welcome to nginx!" in get(f"{url}/")[1]
        assert get(f"{url}/absent") == (404, get(f"{url}/absent")[1])
        process.terminate()
        assert process.wait(10) == 0


def test_a_client_that_hangs_up_leaves_no_trace_in_the_log(tmp_path: Path) -> None:
    with nginx(tmp_path) as (url, process):
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            client.recv(1)
        assert get(f"{url}/")[0] == 200
        process.terminate()
        _, said = process.communicate(timeout=10)
        assert "Traceback" not in said and "Exception" not in said


def test_nginx_lists_no_folders_and_hands_out_nothing_from_beside(tmp_path: Path) -> None:
    root = tmp_path / "html"
    (root / "empty").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "in").symlink_to(root / "page")
    (root / "page").write_text("page")
    with nginx(tmp_path, NGINX_HTML=str(root)) as (url, _):
        assert get(f"{url}/empty/")[0] == 403
        assert get(f"{url}/out")[0] == 403
        assert get(f"{url}/in") == (200, "page")
        assert "secret" not in get(f"{url}/../secret")[1]
        assert get(f"{url}/%2e%2e/secret")[0] == 404


def test_nginx_says_what_it_does_not_understand(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/start.htm").write_text("other")
    conf = (
        f"server {{ listen 127.0.0.1:0; root {tmp_path}/other; index start.htm; gzip on; # proxy_pass x;\n }}"
    )
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d/default.conf").write_text(conf)
    done = subprocess.run(
        [sys.executable, NGINX / "sbin/nginx", "-t"], env={"NGINX_CONF": str(tmp_path / "conf.d")},
        capture_output=True, text=True, check=False, timeout=10,
    )  # fmt: skip
    assert "this stand-in ignores: gzip\n" in done.stderr and done.returncode == 0


def test_nginx_on_a_port_that_is_taken_says_so_as_nginx_does(tmp_path: Path) -> None:
    with nginx(tmp_path) as (url, _):
        port = url.rpartition(":")[2]
        (tmp_path / "conf.d/default.conf").write_text(f"server {{ listen {port}; }}")
        done = subprocess.run(
            [sys.executable, NGINX / "sbin/nginx"], capture_output=True, text=True, check=False, timeout=10,
            env={"NGINX_CONF": str(tmp_path / "conf.d"), "POD_IP": "127.0.0.1"},
        )  # fmt: skip
    assert done.returncode == 1
    assert f"nginx: [emerg] bind() to 127.0.0.1:{port} failed (98: Address already in use)" in done.stderr


def test_nginx_without_the_right_to_port_80_serves_on_another_and_says_why(tmp_path: Path) -> None:
    plain = os.geteuid() != 0
    powerless = [] if plain else ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    if not plain and not shutil.which("setpriv"):
        pytest.skip("there is no setpriv to give up root's rights")
    if int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) <= 80:
        pytest.skip("everybody may take port 80 here")
    env = {"PATH": os.environ["PATH"], "POD_IP": "127.0.0.1", "NGINX_HTML": str(NGINX / "html"),
           "NGINX_CONF": str(tmp_path), "NGINX_SECOND_PORT": "0"}  # fmt: skip
    process = subprocess.Popen(
        [*powerless, sys.executable, NGINX / "sbin/nginx"], env=env, text=True, bufsize=1,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        try:
            assert process.stderr is not None
            first = process.stderr.readline(), process.stderr.readline()
            assert "[warn] bind() to 127.0.0.1:80 failed (13: Permission denied)" in first[0]
            assert "ip_unprivileged_port_start=80" in first[1]
            assert get(address(process))[0] == 200
        finally:
            process.kill()
            process.wait(10)


def test_busybox_runs_the_tools_of_the_machine() -> None:
    busybox = SUITES / "busybox/code/bin/busybox"
    done = subprocess.run([busybox, "echo", "a b"], capture_output=True, text=True, check=True, timeout=10)
    assert done.stdout == "a b\n"
    missing = subprocess.run(
        [busybox, "no-such-tool"], capture_output=True, text=True, check=False, timeout=10
    )
    assert (missing.returncode, missing.stderr) == (127, "no-such-tool: applet not found\n")


def test_the_wget_of_busybox_fetches_and_fails_in_its_words(tmp_path: Path) -> None:
    wget = [sys.executable, str(SUITES / "busybox/code/bin/wget")]
    with nginx(tmp_path) as (url, _):
        done = subprocess.run(
            [*wget, "-q", "-O-", url], capture_output=True, text=True, check=False, timeout=20
        )
        assert "Welcome to nginx!" in done.stdout, done.stderr
        lost = subprocess.run([*wget, f"{url}/x"], capture_output=True, text=True, check=False, timeout=20)
    assert (lost.returncode, lost.stderr) == (1, "wget: server returned error: HTTP/1.1 404 Not Found\n")


def test_python_keeps_what_a_container_installs_out_of_the_shared_environment() -> None:
    says = suites.read(SUITES / "python").says
    assert says.env["PIP_TARGET"] == says.env["PYTHONPATH"] and says.env["PIP_TARGET"].startswith(says.at)
    assert suites.read(SUITES / "python").lock().startswith("pip==")
