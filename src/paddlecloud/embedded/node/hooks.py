"""What a container asks for right after its start and right before its end: a command, a request, a while.

Delivered at least once: a node that is killed in between does it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from . import asking
from .asking import Target


async def carry_out(action: Mapping[str, Any], target: Target) -> str:
    """Do what the hook says, however long it takes; returns what went wrong, empty if nothing did.

    Raises `OSError` when it could not be begun, which is nothing of the hook's doing.
    """
    if "exec" in action:
        answer = await asking.execute(action["exec"], target)
        if answer.good is None:
            raise OSError(answer.words)
        return "" if answer.good else answer.words
    if "httpGet" in action:
        return await request(action["httpGet"], target)
    if "sleep" in action:
        await asyncio.sleep(float(action["sleep"].get("seconds") or 0))
        return ""
    return "the hook has neither exec nor httpGet nor sleep"


async def request(action: Mapping[str, Any], target: Target) -> str:
    """Whatever the container answers is good: who wants to be sure has probes."""
    try:
        url = asking.url_of(action, target)
        await asking.get(url, {h["name"]: h["value"] for h in action.get("httpHeaders") or ()}, target)
    except LookupError as error:
        return str(error.args[0])
    except (OSError, ValueError, EOFError) as error:
        return f'Get "{url}": {asking.reason(error, urlsplit(url).netloc)}'
    return ""
