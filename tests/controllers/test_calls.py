"""Calls and questions with a token: read from its Secret, sent where it is asked for, and never told."""

from __future__ import annotations

import base64
import json

import pytest
from aiohttp import web
from tests.cluster.servers import answering

from paddlecloud.cluster.client import Client
from paddlecloud.controllers.calls import make_calls
from paddlecloud.controllers.contract import HttpCall, HttpQuestion, SecretQuestion, SecretSight, Token
from paddlecloud.controllers.keyring import Keyring, plain
from paddlecloud.controllers.questions import ask
from paddlecloud.errors import Unreachable

TOKEN = Token("ml", "digits-runtime")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class Runtime:
    """An API with one Secret, and a runtime that lets in who has the token of the moment."""

    def __init__(self, status: int = 200, said: str = "") -> None:
        self.secret, self.accepted = "first", "first"
        self.status, self.said = status, said
        self.heard: list[tuple[str, str]] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/api/v1/namespaces/ml/secrets/digits-runtime":
            owner = {
                "uid": "u",
                "controller": True,
                "kind": "SampleSet",
                "name": "digits",
                "apiVersion": "x/v1",
            }
            body = {"metadata": {"name": "digits-runtime", "namespace": "ml", "ownerReferences": [owner]}}
            return web.json_response(
                {**body, "data": {"token": encoded(self.secret + "\n"), "blank": encoded(" ")}}
            )
        if request.path.startswith("/api/"):
            return web.json_response({"kind": "Status", "reason": "NotFound"}, status=404)
        if request.headers.get("Authorization") != f"Bearer {self.accepted}":
            return web.Response(status=401)
        if request.method == "GET":
            return web.json_response({"phase": "Idle"})
        self.heard.append((request.headers["filename"], await request.text()))
        return web.Response(status=self.status, text=self.said)


async def test_a_call_brings_its_id_its_body_and_the_token() -> None:
    runtime = Runtime()
    async with answering(runtime.answer) as access, Client(access) as client:
        call = HttpCall(f"{access.server}/upload/syncOptions", "sync-1", json.dumps({"source": "é"}), TOKEN)

        assert await make_calls(client, Keyring(client), [call]) == {}
    assert runtime.heard == [("sync-1", json.dumps({"source": "é"}))]


async def test_a_token_that_was_changed_is_read_anew() -> None:
    runtime = Runtime()
    async with answering(runtime.answer) as access, Client(access) as client:
        keyring, question = Keyring(client), HttpQuestion(f"{access.server}/state", TOKEN)
        assert await ask(client, [question], keyring) == {question: {"phase": "Idle"}}
        runtime.secret = runtime.accepted = "second"
        assert await ask(client, [question], keyring) == {question: {"phase": "Idle"}}
        runtime.accepted = "nobody's"
        assert await ask(client, [question], keyring) == {question: None}


@pytest.mark.parametrize("status", [400, 405, 422])
async def test_a_refusal_is_told_and_not_an_error(status: int) -> None:
    async with answering(Runtime(status, "bad id\n").answer) as access, Client(access) as client:
        call = HttpCall(f"{access.server}/upload/syncOptions", "x", "{}", TOKEN)

        assert await make_calls(client, Keyring(client), [call]) == {call: "bad id"}


@pytest.mark.parametrize("status", [301, 401, 404, 500, 503])
async def test_what_was_not_heard_is_an_error_without_the_token(status: int) -> None:
    async with answering(Runtime(status, "x").answer) as access, Client(access) as client:
        call = HttpCall(f"{access.server}/upload/syncOptions", "x", "{}", TOKEN)

        with pytest.raises(Unreachable) as error:
            await make_calls(client, Keyring(client), [call])
    assert "first" not in str(error.value)


async def test_of_a_secret_only_the_names_of_its_keys_are_told() -> None:
    async with answering(Runtime().answer) as access, Client(access) as client:
        there, gone = SecretQuestion("ml", "digits-runtime"), SecretQuestion("ml", "other")

        assert await ask(client, [there, gone]) == {there: SecretSight(frozenset({"token"}), "u"), gone: None}


@pytest.mark.parametrize(
    "value, text", [(encoded("k\n"), "k"), (encoded(" "), ""), ("?", ""), (encoded("a\nb"), ""), ("/w==", "")]
)
def test_a_value_is_one_line_without_blanks_around_it(value: str, text: str) -> None:
    assert plain(value) == text
