"""Lightweight components: functions that are carried as text and need the SDK where they run; pure.

The compiler has every task install the SDK with pip before it runs. The suite `kfp` has it already, so on
the compiler's own default image that part is left out; what the user asked to be installed is installed. With
nothing to install, the shell that writes the source to a file is left out too: a program of the suite does
it, in a process that has the SDK imported (`suites/kfp/code/functionstep`).
"""

from __future__ import annotations

import re

from ...controllers.workflowpods import FUNCTION

IMAGE = "paddlecloud/kfp"
DEFAULT = re.compile(r"^(docker\.io/)?(library/)?python(:3[\w.-]*)?$")
INSTALL = re.compile(
    r"python3 -m pip install [^\n&]*?'kfp==[^']+' '--no-deps'(?: 'typing-extensions[^']*')?(?: &&)? ?"
)
WRITER = re.compile(
    r'program_path=\$\(mktemp -d\)\s+printf "%s" "\$0" > "\$program_path/ephemeral_component\.py"\s+'
    r"_KFP_RUNTIME=true python3 -m kfp\.dsl\.executor_main\s+--component_module_path\s+"
    r'"\$program_path/ephemeral_component\.py"\s+"\$@"\s*'
)


def prepared(image: str, command: list[str]) -> tuple[str, list[str]]:
    """The image and command to run; others than lightweight components stay as they are."""
    if len(command) < 3 or command[:2] != ["sh", "-c"] or not INSTALL.search(command[2]):
        return image, command
    if not DEFAULT.match(image):
        return image, command
    script = INSTALL.sub("", command[2], count=1)
    if "pip install" not in script:
        return IMAGE, without_shell(command[3:])
    return IMAGE, ["sh", "-c", script, *command[3:]]


def without_shell(command: list[str]) -> list[str]:
    """What writes the source of a function and runs it; anything else stays as it is."""
    if len(command) == 4 and command[:2] == ["sh", "-ec"] and WRITER.fullmatch(command[2]):
        return [*FUNCTION, command[3]]
    return command
