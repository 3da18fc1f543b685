"""Releases of a service as patches of its PaddleService: canary, promotion, rollback; pure.

Each is one write, so that nothing lies half done between two of them. What the controller makes of it moves
requests only to what is ready.
"""

from __future__ import annotations

from typing import Any

from ..api.meta import Key
from ..api.paddlerelease import Gate, ReleaseSpec
from ..api.paddleservice import PaddleService
from ..errors import Failed, WrongUse

Body = dict[str, Any]
GATES = {
    "errors": ("errorPercent", "%"),
    "p99": ("p99Milliseconds", "ms"),
    "difference": ("differencePercent", "%"),
}
GATE_FORM = "write for example --gate errors=1%,p99=200ms,difference=1%"


def make_service(key: Key, model: str, *, minimum: int | None = None, maximum: int | None = None,
                 follow: bool = False) -> PaddleService:  # fmt: skip
    """A service of a model of the hub; it rests without a pod when *minimum* is 0."""
    bounds = {"minScale": minimum, "maxScale": maximum}
    scaling = {name: value for name, value in bounds.items() if value is not None}
    default = {"model": model, **({"follow": True} if follow else {})}
    spec = {"default": default, **({"service": scaling} if scaling else {})}
    return PaddleService.read({"metadata": {"name": key.name, "namespace": key.namespace}, "spec": spec})


def canary(service: PaddleService, model: str, percent: int) -> Body:
    """A canary with *model* gets *percent* of the requests; without a model the one there is gets them."""
    if not model:
        if service.spec.canary is None:
            raise WrongUse(
                f"service {service.name} has no canary",
                next_step=f"name its model: pdc serve canary {service.name} MODEL@ALIAS --percent {percent}",
            )
        return {"spec": {"canaryTrafficPercent": percent, **no_steps(service)}}
    before = service.spec.canary.wire() if service.spec.canary else {}
    endpoint = instead({"model": model}, before)
    return {"spec": {"canary": endpoint, "canaryTrafficPercent": percent, **no_steps(service)}}


def gradual(service: PaddleService, model: str, release: ReleaseSpec) -> Body:
    """A canary whose share grows in steps; what another release said is forgotten."""
    change = canary(service, model, release.steps[0])["spec"]
    before = service.spec.release.wire() if service.spec.release else {}
    steps = instead(release.wire(), before)
    gate = instead(release.gate.wire(), before.get("gate") or {})
    return {"spec": {**change, "canaryTrafficPercent": None, "release": {**steps, "gate": gate}}}


def gate_of(text: str) -> Gate:
    """`errors=1%,p99=200ms,difference=1%`. Raises `WrongUse` for what is no gate."""
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, limit = part.strip().partition("=")
        field, unit = GATES.get(name, ("", ""))
        number = limit.strip().removesuffix(unit) if unit else ""
        try:
            found[field or name] = float(number)
        except ValueError:
            raise WrongUse(f"{part.strip()!r} is no gate", next_step=GATE_FORM) from None
    try:
        return Gate.model_validate(found)
    except ValueError as error:
        raise WrongUse(f"{text!r} is no gate: shares are between 0 and 100 %", next_step=GATE_FORM) from error


def released(service: PaddleService) -> bool:
    """Whether the release in steps that is asked for has ended, well or not; not one before it."""
    state, asked = service.status.release, service.spec.release
    current = service.status.observed_generation >= service.metadata.generation
    same = state is not None and asked is not None and state.attempt == asked.attempt
    return current and same and state is not None and state.phase.final


def promotion(service: PaddleService) -> Body:
    """The canary becomes the default, with the very version it served, and there is no canary any more."""
    if service.spec.canary is None:
        raise WrongUse(
            f"service {service.name} has no canary to promote",
            next_step=f"make one: pdc serve canary {service.name} MODEL@ALIAS --percent 10",
        )
    endpoint = service.spec.canary.wire()
    served = service.status.canary
    if (
        served
        and served.model_version
        and served.model == service.spec.canary.model
        and not endpoint.get("follow")
    ):
        endpoint["model"] = f"{served.model.partition('@')[0]}@{served.model_version}"
    return default_becomes(service, endpoint)


def rollback(service: PaddleService) -> Body:
    """Back to the default before; with a canary or an unfinished change, back to what answers now."""
    releases = service.status.releases
    answers = service.status.default.name if service.status.default else ""
    if not releases:
        raise Failed(f"service {service.name} has never answered: there is nothing to go back to",
                     next_step=f"pdc why paddleservice/{service.name}")  # fmt: skip
    settled = any(c.type == "DefaultEndpointReady" and c.status == "True" for c in service.status.conditions)
    if service.spec.canary is not None and settled:
        return no_canary(service)
    earlier = [r for r in releases if settled is False or r.revision != answers]
    if not earlier:
        raise Failed(f"service {service.name} has had one release only: there is nothing to go back to",
                     next_step=f"change it: pdc get paddleservice {service.name} -o yaml")  # fmt: skip
    return default_becomes(service, dict(earlier[-1].endpoint))


def default_becomes(service: PaddleService, endpoint: Body) -> Body:
    default = instead(endpoint, service.spec.default.wire())
    return {"spec": {"default": default, "canary": None, "canaryTrafficPercent": None, **no_steps(service)}}


def no_canary(service: PaddleService) -> Body:
    return {"spec": {"canary": None, "canaryTrafficPercent": None, **no_steps(service)}}


def no_steps(service: PaddleService) -> Body:
    """What ends a release in steps, if there is one."""
    return {"release": None} if service.spec.release else {}


def instead(wanted: Body, before: Body) -> Body:
    """The merge patch that leaves nothing of what was *before*."""
    return {**{name: None for name in before if name not in wanted}, **wanted}


def ready(service: PaddleService) -> bool:
    """What is asked for now is what answers."""
    current = service.status.observed_generation >= service.metadata.generation
    return current and any(c.type == "Ready" and c.status == "True" for c in service.status.conditions)


def settled(service: PaddleService) -> bool:
    """Ready, or not going to be by itself."""
    current = service.status.observed_generation >= service.metadata.generation
    stuck = any(c.type == "Progressing" and c.status == "False" for c in service.status.conditions)
    return ready(service) or (current and stuck)
