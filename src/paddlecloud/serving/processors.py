"""The `processor.py` of a model's folder: what happens to a feed before the engine and after it.

    class Processor:
        def __init__(self, folder): ...              # optional; the model's folder
        def before(self, feed): ...                  # list of entries in, {input: batch} out
        def after(self, arrays, feed): ...           # {output: batch} in, what becomes "result" out

An argument that a method does not name is not given to it. The file is trusted as the model is: it runs in
the server. What it raises as ValueError, KeyError or TypeError is the client's fault and becomes a 400.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import ApiError, BadRequest, Failed, ServerError
from .signature import Arrays

FILE = "processor.py"
Feed = list[dict[str, Any]]
CLIENTS_FAULT = (ValueError, KeyError, TypeError, IndexError)


@dataclass(frozen=True)
class Processor:
    """The methods of a folder's class, with errors of ours."""

    _before: Callable[..., Any]
    _after: Callable[..., Any]

    def before(self, feed: Feed) -> Arrays:
        arrays = called(self._before, "before", feed)
        if not isinstance(arrays, dict):
            raise ServerError(
                f"before() of {FILE} must return the inputs by name, not {type(arrays).__name__}"
            )
        return arrays

    def after(self, arrays: Arrays, feed: Feed) -> Any:
        try:
            return called(self._after, "after", arrays, feed)
        except BadRequest as error:
            # The feed was good enough for the model: what goes wrong now is not the client's fault.
            raise ServerError(error.message) from error


def load_processor(folder: Path) -> Processor | None:
    """The processor of *folder*, if it has one. Raises `Failed` when it cannot be used."""
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        chosen = module_of(file).Processor
        made = fitting(chosen, folder)
        return Processor(made.before, made.after)
    except Exception as error:
        raise Failed(
            f"{file} cannot be used: {type(error).__name__}: {error}",
            next_step="it needs a class Processor with before(feed) and after(arrays)",
        ) from error


def module_of(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"processor_of_{file.parent.name}", file)
    assert spec is not None and spec.loader is not None, file
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(method: Callable[..., Any], name: str, *arguments: Any) -> Any:
    try:
        return fitting(method, *arguments)
    except ApiError:
        raise
    except CLIENTS_FAULT as error:
        said = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise BadRequest(f'"feed" cannot be used: {said}') from error
    except Exception as error:
        raise ServerError(f"{name}() of {FILE} failed: {type(error).__name__}: {error}") from error


def fitting(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call *function* with as many of the arguments as it names."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(p.kind in positional for p in inspect.signature(function).parameters.values())
    return function(*arguments[:count])
