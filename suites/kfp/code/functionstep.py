"""A component that is a function, as the program of its pod.

    python3 -m functionstep ORDER SOURCE --executor_input … --function_to_execute …

It does what the compiler has a shell do, without one: it writes the source to a file and hands it to the
executor of the SDK, in a child, between the two halves of the launcher. The process that pods are forked from
has imported the executor already. Nothing of the user's runs before that child.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import tempfile
import traceback
from types import ModuleType

# The SDK then imports what a function needs, and nothing that compiles.
os.environ["_KFP_RUNTIME"] = "true"

from kfp.dsl import executor_main

LAUNCHER = "/var/run/workflow/launch.py"
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(arguments: list[str]) -> int:
    os.environ["_KFP_RUNTIME"] = "true"
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    launcher = loaded(os.environ.get("WORKFLOW_LAUNCHER") or LAUNCHER)
    return int(launcher.main(arguments, forked))


def loaded(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("launch", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def forked(command: list[str]) -> int:
    """Run the function in a child; the exit code as a shell would give it."""
    child = os.fork()
    if child == 0:
        os._exit(executed(*command))
    for number in PASSED_ON:
        signal.signal(number, lambda received, _: os.kill(child, received))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def executed(source: str, *arguments: str) -> int:
    code: object = 0
    try:
        path = os.path.join(tempfile.mkdtemp(), "ephemeral_component.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        sys.argv = [executor_main.__file__, "--component_module_path", path, *arguments]
        executor_main.executor_main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return int(code or 0) & 0xFF


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
