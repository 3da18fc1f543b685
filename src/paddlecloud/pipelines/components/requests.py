"""Requests: asks a served model questions with known answers, as its users would, and counts."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import urllib3

from ...api.knative import REVISION_HEADER
from ...api.meta import Key
from ...api.paddleservice import PaddleService
from ...errors import Failed
from ...sdk.client import Client
from ..asking import Answered, Question, Score, meant, questions, scored, versions
from ..component import Component, Inputs, program

COMPONENT = Component(
    "requests",
    "Ask a PaddleService questions with known answers, and tell how often it is right.",
    inputs={
        "namespace": "kubeflow",
        "gateway": "http://istio-ingressgateway.istio-system",
    },
    required=("name", "questions"),
    outputs=("name", "requests", "accuracy", "median", "versions"),
)
AT_ONCE = 4
EVERY = 50
"""Answers between two lines."""
ANSWER_WITHIN = 60.0


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    asked = questions(text_at(inputs["questions"]))
    service = client.get(PaddleService, inputs["namespace"], inputs["name"])
    score = scored(ask(inputs["gateway"], service, asked), versions(service))
    tell(score)
    counts = {v: {"requests": n, "right": right} for v, (n, right) in score.by_version.items()}
    return {
        "name": service.name,
        "requests": str(score.requests),
        "accuracy": f"{score.accuracy:.4f}",
        "median": f"{score.median:.1f}",
        "versions": json.dumps(counts),
    }


def text_at(url: str) -> str:
    """The questions. Raises `Failed` where there are none."""
    try:
        said = urllib3.request("GET", url, timeout=ANSWER_WITHIN)
    except (urllib3.exceptions.HTTPError, ValueError) as error:
        raise Failed(f"the questions {url} cannot be read: {error}") from error
    if said.status != 200:
        raise Failed(f"the questions {url} cannot be read: {said.status} {said.reason or ''}".rstrip())
    return said.data.decode(errors="replace")


def ask(gateway: str, service: PaddleService, asked: list[Question]) -> list[Answered]:
    """One request a question, in Paddle Serving's form. Raises `Failed` for one that is not answered."""
    host = urlsplit(service.status.url).hostname or ""
    pool = urllib3.PoolManager(maxsize=AT_ONCE)
    key = Key(service.namespace, service.name)

    def one(question: Question) -> Answered:
        began = time.perf_counter()
        try:
            said = pool.request(
                "POST",
                f"{gateway.rstrip('/')}/{service.name}/prediction",
                body=json.dumps({"feed": [question.feed], "fetch": []}),
                headers={"Host": host, "Content-Type": "application/json"},
                retries=False,
                timeout=ANSWER_WITHIN,
            )
        except urllib3.exceptions.HTTPError as error:
            raise Failed(f"the gateway {gateway} does not answer for {key}: {error}") from error
        took = (time.perf_counter() - began) * 1000
        if said.status != 200:
            raise Failed(f"{key} answered {said.status}: {said.data[:300].decode(errors='replace')}")
        [scores] = next(iter(said.json()["result"].values()))
        return Answered(meant(scores) == question.answer, took, said.headers.get(REVISION_HEADER, ""))

    answers: list[Answered] = []
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for answer in threads.map(one, asked):
            answers.append(answer)
            if len(answers) % EVERY == 0 or len(answers) == len(asked):
                print(f"{len(answers)}/{len(asked)} requests answered", flush=True)
    return answers


def tell(score: Score) -> None:
    print(f"accuracy {score.accuracy:.4f}, median {score.median:.1f} ms", flush=True)
    for version, (count, right) in score.by_version.items():
        share = f"{100 * score.share(version):.1f} % of the answers"
        print(f"{version}: {share}, {right} of {count} right", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
