"""A zygote that has imported already what the programs it forks would import: a warm start.

Such a zygote runs on the interpreter of a suite's environment. Its forks go through all a shim's child goes
through: limits, namespaces, root, user. Only then, instead of executing `python -m MODULE …`, they call
`main` of the module: nothing of the program has run before. It ends by itself when it had no container for
`IDLE` seconds. Only the standard library: the modules to import are data.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import traceback

from . import procfs, shim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

IDLE = 600.0
"""Seconds; a service that rests has no container, and is to wake up quickly."""
FIRST = 3
LAST_DESCRIPTOR = 1024


def warm_up(name: str) -> None:
    """Import what the file *name* in the current folder asks for."""
    with open(name, encoding="utf-8") as file:
        wish: dict[str, Any] = json.load(file)
    sys.path.extend(wish["path"])
    for module in wish["modules"]:
        importlib.import_module(module)
    # What was imported is shared with every fork, as long as nobody touches it.
    gc.collect()
    gc.freeze()
    shim.warm = become


def alone() -> bool:
    """Whether no fork of this process is left."""
    return not procfs.children(os.getpid())


def become(order: dict[str, Any]) -> NoReturn:
    """Be the program of *order*, in a child that is all a container should be; ends with its exit code."""
    _, _, module, *arguments = order["argv"]
    os.environ.clear()
    os.environ.update(order["env"])
    os.closerange(FIRST, LAST_DESCRIPTOR)
    # They stay open to the end: they are the program's own.
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(fd, mode, closefd=False) for fd, mode in enumerate("rww"))
    sys.argv = [module, *arguments]
    sys.path.insert(0, os.getcwd())
    gc.enable()
    code: object = 1
    try:
        code = importlib.import_module(module).main(arguments)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
