"""Runs inside the pod of a step, before and after the program of the step. Needs nothing but Python.

    python3 launch.py ORDER COMMAND...

It puts what the step is given where the step looks for it, runs the command, and tells what the step left:
small values in the last message of the container, larger ones in a ConfigMap, files on the shared volume.
Everything it says about a step that did not do its part is one sentence on standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys

# It is started once a step: what few steps need (copies, TLS, HTTP) would be half of its time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MESSAGE = 4096
LARGEST = 128 * 1024
HANDED = "handed.json"


class Refused(Exception):
    """The step did not do its part; the sentence says which."""


def main(arguments: list[str], run: Callable[[list[str]], int] | None = None) -> int:
    """*run* carries out the command and gives its exit code."""
    order, command = json.loads(arguments[0]), arguments[1:]
    try:
        if not command:
            raise Refused(
                f"image {order.get('image')} would be run by a command of its own, which is not known here; "
                "name the command in the component"
            )
        prepare(order)
    except Refused as error:
        return complain(error)
    code = (run or started)(command)
    try:
        # Artifacts of a step that failed are worth looking at.
        keep(order, code)
        if code == 0:
            tell(handed_over(order))
    except Refused as error:
        return complain(error) if code == 0 else code
    return code


def complain(error: Refused) -> int:
    print(f"error: {error}", file=sys.stderr, flush=True)
    return 64


def prepare(order: dict[str, Any]) -> None:
    for place, imported in order.get("expects", ()):
        if not os.path.lexists(place):
            raise Refused(f"{imported}, which the run imports, is not there" if imported else gone(place))
    for source, path in order.get("links", ()):
        if not os.path.lexists(source):
            raise Refused(gone(source))
        parent(path)
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(source, path)
    for path, text in order.get("raw", ()):
        parent(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for path, _, _ in order["outputs"].values():
        parent(path)
    for path, place, _ in order["artifacts"].values():
        parent(path or place)
        parent(place)
    if order.get("executor"):
        parent(order["executor"])


def gone(artifact: str) -> str:
    again = "have the step that made it done again (pdc pipeline retry RUN --from STEP)"
    return f"the artifact {artifact} is not there any more; {again}"


def parent(path: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)


def started(command: list[str]) -> int:
    """The exit code as a shell would give it."""
    try:
        # Python ignores these two; a program expects what every program finds.
        child = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    except OSError as error:
        print(f"error: cannot run {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(child, received))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def keep(order: dict[str, Any], code: int) -> None:
    for name, (path, place, optional) in order["artifacts"].items():
        if not path or path == place:
            continue
        if not os.path.lexists(path):
            if code == 0 and not optional:
                raise Refused(f"the step left no artifact {name} at {path}")
            continue
        import shutil

        if os.path.isdir(path):
            shutil.copytree(path, place, dirs_exist_ok=True)
        else:
            shutil.copy2(path, place)


def handed_over(order: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    artifacts: dict[str, Any] = {}
    if order.get("executor") and os.path.exists(order["executor"]):
        with open(order["executor"], encoding="utf-8") as file:
            said = json.load(file)
        values = dict(said.get("parameterValues") or {})
        for name, listed in (said.get("artifacts") or {}).items():
            for artifact in listed.get("artifacts") or ():
                artifacts[name] = {"metadata": artifact.get("metadata") or {}}
    for name, (_, place, _) in order["artifacts"].items():
        # Some artifacts are metadata alone.
        if os.path.lexists(place):
            artifacts.setdefault(name, {})["files"] = True
    for name, (path, default, kind) in order["outputs"].items():
        if name not in values:
            values[name] = typed(name, text_at(name, path, default), kind)
    return {"outputs": values, "artifacts": artifacts}


def text_at(name: str, path: str, default: str | None) -> str:
    try:
        size = os.path.getsize(path)
        if size > LARGEST:
            raise Refused(
                f"output {name} has {size} bytes, more than the {LARGEST} a value may have; "
                "hand it over as an artifact"
            )
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        if default is not None:
            return default
        raise Refused(f"the step wrote no output {name} ({path} is not there)") from None
    except UnicodeDecodeError as error:
        raise Refused(f"output {name} is no text; hand it over as an artifact") from error
    return text[:-1] if text.endswith("\n") else text


def typed(name: str, text: str, kind: str) -> Any:
    if kind in ("TEXT", "STRING"):
        return text
    try:
        value = json.loads(text) if kind != "BOOLEAN" else json.loads(text.strip().lower())
    except ValueError as error:
        raise Refused(f"output {name} is to be {kind} and is {text[:80]!r}") from error
    return int(value) if isinstance(value, float) and kind == "NUMBER_INTEGER" else value


def tell(handed: dict[str, Any]) -> None:
    text = json.dumps(handed, separators=(",", ":"))
    if len(text.encode()) > LARGEST:
        raise Refused(
            f"the outputs have {len(text.encode())} bytes together, more than the {LARGEST} values may have; "
            "hand large ones over as artifacts"
        )
    if len(text.encode()) > MESSAGE:
        text = json.dumps({"kept": lay_aside(text)})
    with open(os.environ.get("TERMINATION_MESSAGE_PATH") or "/dev/termination-log", "w") as file:
        file.write(text)


def lay_aside(text: str) -> str:
    """Keep what is too long for a message in a ConfigMap that goes with the pod; its name."""
    pod, namespace = os.environ["POD_NAME"], os.environ["POD_NAMESPACE"]
    name = f"{pod}-outputs"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": os.environ["POD_UID"]}
    body = {
        "metadata": {
            "name": name,
            "labels": {"workflows.paddlepaddle.org/run": os.environ["WORKFLOW_RUN"]},
            "ownerReferences": [owner],
        },
        "data": {HANDED: text},
    }
    call("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)
    return name


def call(method: str, path: str, body: dict[str, Any]) -> None:
    import ssl
    import urllib.error
    import urllib.request

    folder = os.environ.get("KUBERNETES_SERVICEACCOUNT") or "/var/run/secrets/kubernetes.io/serviceaccount"
    host = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    with open(os.path.join(folder, "token")) as file:
        token = file.read().strip()
    request = urllib.request.Request(
        f"https://{host[0]}:{host[1]}{path}",
        data=json.dumps(body).encode(),
        method=method,
        headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"},
    )
    context = ssl.create_default_context(cafile=os.path.join(folder, "ca.crt"))
    try:
        urllib.request.urlopen(request, context=context, timeout=60).read()
    except urllib.error.HTTPError as error:
        if error.code != 409:
            said = error.read().decode(errors="replace")[:500]
            raise Refused(f"the outputs could not be kept: {said}") from error
    except OSError as error:
        raise Refused(f"the outputs could not be kept: {error}") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
