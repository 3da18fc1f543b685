"""Lightweight components: functions that are carried as text and need the SDK where they run; pure.

The compiler has every task install the SDK with pip before it runs. The suite `kfp` has it already, so on
the compiler's own default image that part is left out; what the user asked to be installed is installed.
"""

from __future__ import annotations

import re

IMAGE = "paddlecloud/kfp"
DEFAULT = re.compile(r"^(docker\.io/)?(library/)?python(:3[\w.-]*)?$")
INSTALL = re.compile(
    r"python3 -m pip install [^\n&]*?'kfp==[^']+' '--no-deps'(?: 'typing-extensions[^']*')?(?: &&)? ?"
)


def prepared(image: str, command: list[str]) -> tuple[str, list[str]]:
    """The image and command to run; others than lightweight components stay as they are."""
    if len(command) < 3 or command[:2] != ["sh", "-c"] or not INSTALL.search(command[2]):
        return image, command
    if not DEFAULT.match(image):
        return image, command
    script = INSTALL.sub("", command[2], count=1)
    if "pip install" not in script:
        return IMAGE, command[3:]
    return IMAGE, ["sh", "-c", script, *command[3:]]
