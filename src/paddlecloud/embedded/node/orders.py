"""What a container run is to execute: argv, environment, working directory, and what it sees.

Pure. The suite's words come first, the pod's override them; the marks by which a run is found again
override both. In a sandbox the paths are those of the pod's YAML; plain processes get the real ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...api.core import Pod
from .environments import Environment
from .lifecycle import Container
from .obstacles import CreationFailed
from .routed.wiring import INSIDE
from .sandbox import plan, security
from .sandbox.plan import Site
from .substitution import Paths, expand
from .suites import Suite
from .variables import Facts, variables
from .volumes import ACCESS_PATH, has_access, mounts

TERMINATION_LOG = "/dev/termination-log"


@dataclass(frozen=True)
class Ground:
    """What a run stands on."""

    suite: Suite
    environment: Environment
    run_folder: Path
    home: Path
    volumes: Mapping[str, Path] = field(default_factory=dict)
    inherited: Mapping[str, str] = field(default_factory=dict)
    api: tuple[str, str] = ("", "")
    """Host and port of the API server."""
    site: Site | None = None
    """What a sandbox is built from; None: plain processes."""
    limits: str = "polling"
    """How the node keeps limits; see `Levels`."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """The control groups of this home, by controller."""
    linked: frozenset[str] = frozenset()
    """Mount paths that lead to their volumes on the machine itself."""

    @property
    def code(self) -> Path:
        """The run's own copy of the suite's code: what a container writes there dies with it."""
        return self.run_folder / "code"


def order_of(pod: Pod, container: Container, ground: Ground, facts: Facts) -> dict[str, Any]:
    """The content of `run.json`; raises an `Obstacle` when something it refers to is missing."""
    make = plain_order if ground.site is None else sandboxed_order
    return make(pod, container, ground, facts) | limited(pod, container, ground) | spoken_to(container)


def spoken_to(container: Container) -> dict[str, bool]:
    """How its standard streams are to be; a container that nobody can talk to says nothing of it."""
    return {name: True for name in ("stdin", "stdinOnce", "tty") if container.get(name)}


def plain_order(pod: Pod, container: Container, ground: Ground, facts: Facts) -> dict[str, Any]:
    termination = str(ground.run_folder / "termination")
    said = variables(container, pod, facts)
    own = surroundings(pod, container, ground, facts)
    known = {**ground.inherited, **ground.suite.says.env, **own, **said}
    named = {**services(ground, facts), **said}
    places = mounts(container, ground.volumes, named)
    real = {path: place for path, place in places.items() if path not in ground.linked}
    real[container.get("terminationMessagePath") or TERMINATION_LOG] = Path(termination)
    if ground.suite.code:
        real.setdefault(ground.suite.says.at, ground.code)
    paths = Paths(real)
    env = {name: paths.apply(text) for name, text in known.items()}
    return {
        "argv": [paths.apply(text) for text in command(container, ground.suite, named)],
        "env": {**env, **search_paths(ground, env), **marks(pod, container, termination)},
        "cwd": paths.apply(container.get("workingDir") or "") or str(start_folder(ground)),
        "termination": termination,
        "paths": {path: str(place) for path, place in real.items()},
    }


def sandboxed_order(pod: Pod, container: Container, ground: Ground, facts: Facts) -> dict[str, Any]:
    assert ground.site is not None
    inside = container.get("terminationMessagePath") or TERMINATION_LOG
    termination = str(ground.run_folder / "termination")
    user = security.user_of(pod, container)
    own = surroundings(pod, container, ground, facts) | {"HOME": plan.HOME if user["uid"] == 0 else "/"}
    if has_access(container):
        own["KUBERNETES_SERVICEACCOUNT"] = ACCESS_PATH
    said = variables(container, pod, facts)
    known = {**ground.inherited, **ground.suite.says.env, **own, **said}
    named = {**services(ground, facts), **said}
    sandbox = plan.plan_of(pod, container, ground.site, named)
    if ground.suite.code and all(mount["target"] != ground.suite.says.at for mount in sandbox["mounts"]):
        sandbox["mounts"].append(code_mount(ground, ground.suite.code))
    sandbox["mounts"].append({"target": inside, "source": termination})
    start = ground.suite.says.at if ground.suite.code else "/"
    return {
        "argv": command(container, ground.suite, named),
        "env": {**known, **search_paths(ground, known), **marks(pod, container, inside)},
        "cwd": container.get("workingDir") or start,
        "termination": termination,
        "sandbox": sandbox,
        "user": user,
    }


def code_mount(ground: Ground, code: Path) -> dict[str, Any]:
    target = ground.suite.says.at
    if lays_code(ground):
        return {"target": target, "source": str(code), "laid": "code"}
    return {"target": target, "source": str(ground.code)}


def lays_code(ground: Ground) -> bool:
    """Whether writes to the suite's code go to a layer; where files of others stay closed, to a copy."""
    return ground.site is not None and ground.site.levels.filesystem == "overlay"


def limited(pod: Pod, container: Container, ground: Ground) -> dict[str, Any]:
    if ground.limits == "polling":
        return {"memory": plan.limits_of(container)["memory"]}
    run = f"{container['name']}-{ground.run_folder.name}"
    return {"cgroup": plan.group_of(pod, container, run, ground.limits, ground.groups)}


def command(container: Container, suite: Suite, named: Mapping[str, str]) -> list[str]:
    """*named*: what `$(NAME)` may mean; as on Kubernetes the spec and Services, nothing of the image."""
    given = container.get("command") or suite.says.entrypoint
    argv = [*given, *(container.get("args") or ())]
    if not argv:
        raise CreationFailed(
            f"no command specified: neither container {container['name']} nor its image {suite.name} has one",
            next_step="give the container a command",
        )
    return [expand(text, named) for text in argv]


def surroundings(pod: Pod, container: Container, ground: Ground, facts: Facts) -> dict[str, str]:
    """What every container finds set, unless its spec says otherwise."""
    found = {
        **services(ground, facts),
        "HOME": str(ground.home),
        "HOSTNAME": str(pod.spec.get("hostname") or pod.name),
        "POD_IP": facts.pod_ip,
        "POD_NAME": pod.name,
        "POD_NAMESPACE": pod.namespace,
        "GLOO_SOCKET_IFNAME": INSIDE if ground.site and "net" in ground.site.shared else "lo",
    }
    if has_access(container):
        found["KUBERNETES_SERVICEACCOUNT"] = ACCESS_PATH
    return found


def services(ground: Ground, facts: Facts) -> dict[str, str]:
    """Where the Services of the namespace are, and the API, which no spec can do without."""
    host, port = ground.api
    return {**facts.links, "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}


def search_paths(ground: Ground, env: Mapping[str, str]) -> dict[str, str]:
    """The suite's environment in front of whatever the container asked for."""
    ours = dict(ground.environment.variables)
    result = {"PATH": f"{ground.environment.bin}:{env.get('PATH') or os.defpath}", **ours}
    if "PYTHONPATH" in ours and env.get("PYTHONPATH"):
        result["PYTHONPATH"] = f"{ours['PYTHONPATH']}:{env['PYTHONPATH']}"
    return result


def marks(pod: Pod, container: Container, termination: str) -> dict[str, str]:
    return {
        "POD_UID": pod.uid,
        "CONTAINER_NAME": container["name"],
        "TERMINATION_MESSAGE_PATH": termination,
    }


def start_folder(ground: Ground) -> Path:
    return ground.code if ground.suite.code else ground.home
