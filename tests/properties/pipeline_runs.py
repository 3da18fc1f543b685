"""Scenarios of runs: loops, conditions, another attempt, an exit, an end by hand, a second try of it all."""

from __future__ import annotations

import json
from typing import Any

from tests.properties.other_kinds import NAME, end, make, write
from tests.properties.plays import Act, Scenario, Stage

from paddlecloud.api.meta import Key
from paddlecloud.api.workflowgraph import Graph
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.controllers import workflowrun

STEP: dict[str, Any] = {"image": "i", "command": ["do"]}
GRAPH = Graph.model_validate(
    {
        "name": "turns",
        "steps": [
            {"name": "items", **STEP, "outputs": ["list"]},
            {
                "name": "turn",
                "graph": "body",
                "inputs": {"one": {"item": ""}},
                "each": {"items": {"output": "items.list"}, "limit": 1},
            },
        ],
        "graphs": {
            "body": {
                "steps": [
                    {"name": "work", **STEP, "inputs": {"n": {"parameter": "one"}}, "retry": {"limit": 1}},
                    {
                        "name": "more",
                        **STEP,
                        "after": ["work"],
                        "when": {"left": {"parameter": "one"}, "op": ">", "right": {"value": 1}},
                    },
                ]
            }
        },
        "onExit": {"name": "onExit", **STEP},
    }
)
SPEC = {"pipeline": {"name": GRAPH.name, "digest": GRAPH.digest()}}
PACKAGE = write(f"{GRAPH.name}-{GRAPH.digest()[:12]}", {"graph.json": json.dumps(GRAPH.wire())})
MANY = Graph.model_validate(
    {
        "name": "many",
        "steps": [
            {
                "name": "known",
                "form": "importer",
                "pod": {"uri": "file:///data/it"},
                "inputs": {"one": {"item": ""}},
                "each": {"items": {"value": list(range(120))}},
            },
            {"name": "work", **STEP, "after": ["known"], "outputs": ["said"]},
            {"name": "more", **STEP, "inputs": {"said": {"output": "work.said"}}},
        ],
    }
)
"""Past what a status holds, with two pods."""
MANY_SPEC = {"pipeline": {"name": MANY.name, "digest": MANY.digest()}}
MANY_PACKAGE = write(f"{MANY.name}-{MANY.digest()[:12]}", {"graph.json": json.dumps(MANY.wire())})
LIST = json.dumps({"outputs": {"list": "[1, 2]"}})


def spec(**fields: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(WorkflowRun, Key(s.namespace, NAME), {"spec": fields})

    return act


SCENARIOS = (
    Scenario(
        "a run goes through the turns of a loop, one of them twice, and leaves by its exit",
        workflowrun.CONTROLLER,
        (
            PACKAGE,
            make(WorkflowRun, SPEC),
            end("*-items", message=LIST),
            end("*-work-*", code=1),
            end("*-work-*-1"),
            end("*-work-*"),
            end("*-more-*"),
            end("*-onexit-*"),
        ),
    ),
    Scenario(
        "a run that is ended by hand is begun again where it was",
        workflowrun.CONTROLLER,
        (
            PACKAGE,
            make(WorkflowRun, SPEC),
            spec(stop=True),
            spec(stop=False, retries=1),
            end("*-items-1", message=LIST),
            end("*-work-*", code=1),
        ),
    ),
    Scenario(
        "a run of many steps keeps them in records, is begun again after a failure, and ends",
        workflowrun.CONTROLLER,
        (
            MANY_PACKAGE,
            make(WorkflowRun, MANY_SPEC),
            end("*-work", code=1),
            spec(retries=1),
            end("*-work-1", message=json.dumps({"outputs": {"said": "so"}})),
            end("*-more"),
        ),
    ),
)
