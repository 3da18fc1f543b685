"""Credential plug-ins: real programs, asked as kubectl asks them."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from paddlecloud.cluster.credentials import Bearer
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.cluster.plugins import Credentials, Plugin, ask, plugin_of
from paddlecloud.errors import Failed, WrongUse

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
V1 = "client.authentication.k8s.io/v1"


def a_program(folder: Path, text: str) -> Plugin:
    script = folder / "plugin.py"
    script.write_text(text)
    return Plugin(V1, sys.executable, (str(script),), {"COLOUR": "blue"})


def printing(status: object) -> str:
    return f"print({json.dumps(json.dumps({'apiVersion': V1, 'kind': 'ExecCredential', 'status': status}))})"


def test_a_plugin_gives_the_token(tmp_path: Path) -> None:
    plugin = a_program(tmp_path, printing({"token": "secret"}))
    assert ask(plugin).token == "secret"


def test_a_plugin_sees_its_variables_and_how_it_is_asked(tmp_path: Path) -> None:
    text = (
        "import json, os\n"
        "asked = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "token = os.environ['COLOUR'] + asked['kind'] + str(asked['spec']['interactive'])\n"
        "print(json.dumps({'status': {'token': token}}))"
    )
    assert ask(a_program(tmp_path, text)).token == "blueExecCredentialFalse"


def test_a_credential_is_asked_for_again_shortly_before_it_ends(tmp_path: Path) -> None:
    text = (
        f"import json, pathlib\ncount = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "asked = int(count.read_text()) + 1 if count.exists() else 1\ncount.write_text(str(asked))\n"
        "print(json.dumps({'status': {'token': str(asked), 'expirationTimestamp': '2026-01-01T12:10:00Z'}}))"
    )
    now = NOON
    credentials = Credentials(a_program(tmp_path, text), lambda: now)
    assert [credentials.current().token, credentials.current().token] == ["1", "1"]
    now = NOON + timedelta(minutes=9, seconds=31)
    assert credentials.current().token == "2"


@pytest.mark.parametrize(
    "text, message",
    [
        ("import sys; sys.exit('log in first')", "log in first"),
        ("print('no json')", "printed no ExecCredential"),
        ("print('{}')", "printed no ExecCredential"),
    ],
)
def test_what_goes_wrong_is_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Failed, match=message):
        ask(a_program(tmp_path, text))


def test_a_missing_program_says_how_to_install_it() -> None:
    with pytest.raises(Failed, match="cannot be run") as caught:
        ask(Plugin(V1, "no-such-program-here", hint="install the cloud's tools"))
    assert caught.value.next_step == "install the cloud's tools"


@pytest.mark.parametrize(
    "entry", [{"command": "x"}, {"apiVersion": V1}, {"apiVersion": "v9", "command": "x"}]
)
def test_an_entry_that_we_do_not_speak_is_refused(entry: dict[str, str]) -> None:
    with pytest.raises(WrongUse):
        plugin_of(entry)


def test_a_kubeconfig_with_a_plugin_gives_its_token_in_the_header(tmp_path: Path) -> None:
    plugin = a_program(tmp_path, printing({"token": "secret"}))
    user = {"exec": {"apiVersion": V1, "command": plugin.command, "args": list(plugin.arguments)}}
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://example.test", "tls-server-name": "api"}}],
        "users": [{"name": "u", "user": user}],
    }
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    access = from_kubeconfig(tmp_path / "kubeconfig")
    assert access.tls_name == "api"
    assert Bearer(access).headers() == {"Authorization": "Bearer secret"}
    assert "secret" not in repr(access)
