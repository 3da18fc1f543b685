"""Which cluster a command speaks to, and with whose keys."""

from __future__ import annotations

import base64
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddlecloud.cluster.credentials import Bearer
from paddlecloud.cluster.kubeconfig import Access, choose, from_kubeconfig, in_pod
from paddlecloud.errors import Unreachable, WrongUse
from paddlecloud.settings import Home

CERTIFICATE = "-----BEGIN CERTIFICATE-----\n"


def written(path: Path, name: str = "c", **parts: Any) -> Path:
    config = {
        "current-context": f"{name}-context",
        "contexts": [
            {"name": f"{name}-context", "context": {"cluster": name, "user": "me", "namespace": "ml"}},
            {"name": "other", "context": {"cluster": name}},
        ],
        "clusters": [{"name": name, "cluster": parts.get("cluster", {"server": "https://h:1/"})}],
        "users": [{"name": "me", "user": parts.get("user", {"token": "t0p"})}],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.make()
    return home


@contextmanager
def embedded(home: Home) -> Iterator[None]:
    """A cluster of *home* that runs inside the block, as far as its lock tells."""
    written(home.kubeconfig, "embedded")
    with home.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pod_environment(folder: Path) -> dict[str, str]:
    folder.mkdir()
    for name, text in (("token", "pod-token\n"), ("ca.crt", CERTIFICATE), ("namespace", "jobs\n")):
        (folder / name).write_text(text)
    return {
        "KUBERNETES_SERVICE_HOST": "127.7.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
        "KUBERNETES_SERVICEACCOUNT": str(folder),
    }


def test_the_current_context_is_read(tmp_path: Path) -> None:
    assert from_kubeconfig(written(tmp_path / "k")) == Access("https://h:1", "c", "ml", token="t0p")


def test_another_context_may_be_named(tmp_path: Path) -> None:
    assert from_kubeconfig(written(tmp_path / "k"), "other") == Access("https://h:1", "c")


def test_keys_may_be_inline_or_in_files_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "me.key").write_text("KEY")
    inline = base64.b64encode(CERTIFICATE.encode()).decode()
    file = written(
        tmp_path / "k",
        cluster={"server": "https://h", "certificate-authority-data": inline},
        user={"client-certificate-data": inline, "client-key": "pki/me.key", "tokenFile": "pki/token"},
    )

    access = from_kubeconfig(file)

    assert (access.ca, access.client_certificate, access.client_key) == (CERTIFICATE, CERTIFICATE, "KEY")
    assert access.token_file == tmp_path / "pki" / "token"


def test_secrets_do_not_show(tmp_path: Path) -> None:
    access = from_kubeconfig(written(tmp_path / "k", user={"token": "t0p", "client-key-data": "S0VZ"}))

    assert access.client_key == "KEY"
    assert "t0p" not in repr(access) and "KEY" not in repr(access)


@pytest.mark.parametrize(
    "parts, context, said",
    [
        ({"user": {"auth-provider": {"name": "old"}}}, None, "auth-provider"),
        ({"user": {"client-key": "nowhere"}}, None, "cannot read"),
        ({"cluster": {"server": "https://h", "certificate-authority-data": "%%"}}, None, "base64"),
        ({"cluster": {}}, None, "no server"),
        ({}, "typo", "it has: c-context, other"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_says_why(
    tmp_path: Path, parts: dict[str, Any], context: str | None, said: str
) -> None:
    with pytest.raises(WrongUse, match=said):
        from_kubeconfig(written(tmp_path / "k", **parts), context)


@pytest.mark.parametrize("text", ["[", "- a", ""])
def test_a_file_that_is_no_kubeconfig_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "k").write_text(text)
    with pytest.raises(WrongUse):
        from_kubeconfig(tmp_path / "k")


def test_a_pod_is_known_by_its_service_account(tmp_path: Path) -> None:
    access = in_pod(pod_environment(tmp_path / "account"))

    assert access.server == "https://127.7.0.1:6443"
    assert (access.namespace, access.ca) == ("jobs", CERTIFICATE)
    assert Bearer(access).headers() == {"Authorization": "Bearer pod-token"}


def test_a_token_is_read_again_when_its_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    bearer = Bearer(Access("https://h", "c", token_file=file))
    assert bearer.headers() == {"Authorization": "Bearer one"}

    (tmp_path / "next").write_text("two")
    (tmp_path / "next").rename(file)
    assert bearer.headers() == {"Authorization": "Bearer two"}

    file.unlink()
    assert bearer.headers() == {"Authorization": "Bearer two"}


def test_a_named_cluster_wins_over_everything(tmp_path: Path, home: Home) -> None:
    with embedded(home):
        environ = pod_environment(tmp_path / "account")

        assert choose(written(tmp_path / "k"), None, home, environ).name == "c"


def test_a_named_context_is_looked_up_where_kubectl_would(tmp_path: Path, home: Home) -> None:
    first, second = written(tmp_path / "a", "a"), written(tmp_path / "b", "b")
    written(tmp_path / ".kube" / "config", "usual")

    listed = {"KUBECONFIG": f"{tmp_path / 'missing'}{os.pathsep}{first}{os.pathsep}{second}"}
    assert choose(None, "b-context", home, listed).name == "b"
    assert choose(None, "usual-context", home, {"HOME": str(tmp_path)}).name == "usual"
    with pytest.raises(WrongUse, match="no context typo"):
        choose(None, "typo", home, listed)


def test_in_a_pod_its_own_cluster_wins_over_the_embedded_one(tmp_path: Path, home: Home) -> None:
    with embedded(home):
        assert choose(None, None, home, pod_environment(tmp_path / "account")).namespace == "jobs"


def test_the_embedded_cluster_is_taken_while_it_runs(home: Home) -> None:
    with embedded(home):
        assert choose(None, None, home, {}).name == "embedded"


def test_nobody_falls_into_a_cluster_by_an_environment_variable(tmp_path: Path, home: Home) -> None:
    with pytest.raises(Unreachable, match="pdc up"):
        choose(None, None, home, {"KUBECONFIG": str(written(tmp_path / "k"))})


def test_an_embedded_cluster_that_was_killed_is_not_taken(home: Home) -> None:
    with embedded(home):
        pass

    with pytest.raises(Unreachable, match="pdc up"):
        choose(None, None, home, {})
