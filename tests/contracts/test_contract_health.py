"""What a server says of its health, and of itself."""

from __future__ import annotations

import pytest
from tests.kubernetes.rest import Rest

PATHS = ["/healthz", "/livez", "/readyz"]


@pytest.mark.parametrize("path", PATHS)
def test_a_healthy_server_says_ok(rest: Rest, path: str) -> None:
    for where in (path, f"{path}/ping", f"{path}/etcd"):
        answer = rest.get(where)
        assert (answer.status, answer.text) == (200, "ok")
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("path", PATHS)
def test_a_talkative_server_tells_check_by_check(rest: Rest, path: str) -> None:
    *checks, last = rest.get(path, verbose="").text.splitlines()
    assert {"[+]ping ok", "[+]log ok", "[+]etcd ok"} <= set(checks)
    assert ("[+]informer-sync ok" in checks) == (path == "/readyz")
    assert last == f"{path.strip('/')} check passed"


def test_a_check_can_be_left_out(rest: Rest) -> None:
    lines = rest.get("/livez", verbose="", exclude="etcd").text.splitlines()
    assert "[+]etcd excluded: ok" in lines and "[+]ping ok" in lines


def test_a_check_nobody_knows_is_not_found(rest: Rest) -> None:
    answer = rest.get("/readyz/none-such")
    assert (answer.status, answer.text) == (404, "404 page not found\n")


def test_the_version_is_the_one_clients_compare(rest: Rest) -> None:
    version = rest.get("/version").expect(200)
    assert (version["major"], version["minor"]) == ("1", "33")
    assert version["gitVersion"].startswith("v1.33.")


@pytest.mark.parametrize("path", ["/readyz/", "/readyz/etcd/", "/readyzz", "/livez/shutdown", "/healthz/"])
def test_a_path_that_only_looks_like_a_check_is_not_found(rest: Rest, path: str) -> None:
    answer = rest.get(path)
    assert (answer.status, answer.text) == (404, "404 page not found\n")


@pytest.mark.parametrize("path", ["/readyz/etcd", "/healthz/ping", "/livez/none-such", "/metrics"])
def test_who_is_nobody_may_ask_for_the_whole_and_for_no_part(rest: Rest, path: str) -> None:
    nobody = rest.holding("")
    try:
        assert nobody.get("/readyz", verbose="").status == 200
        refused = nobody.get(path).expect(403)
    finally:
        nobody.close()
    assert refused["message"] == f'forbidden: User "system:anonymous" cannot get path "{path}"'
