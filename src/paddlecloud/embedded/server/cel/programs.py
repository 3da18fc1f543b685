"""From the text of an expression to a program that can be asked.

With `patterns` the one module that knows the library, which reads an expression and checks its types. A
program is made without types of its own: they are for the day a definition is made (`Checker`), not for every
object.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .declarations import configuration
from .evaluation import Ask, Run, evaluator
from .literals import wrong_literals
from .syntax import Tree, Type, read
from .types import Config, Typed
from .values import CelError, Exhausted
from .wordings import retold

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool

LIMIT = 1_000_000
"""The most that one evaluation may cost."""
ANY = {"type_name": "dyn"}
TOO_DEEP = "expression recursion limit exceeded"


class Exceeded(CelError):
    """An evaluation that was ended because it cost too much."""


@dataclass(frozen=True)
class Program:
    source: str
    uses_old: bool
    _ask: Ask

    def ask(self, variables: Mapping[str, Any], limit: int = LIMIT) -> tuple[Any, int]:
        """The value for these variables and what it cost; raises `CelError` where it has none."""
        run = Run(dict(variables), limit)
        try:
            return self._ask(run), limit - run.left
        except Exhausted as error:
            raise Exceeded("operation cancelled: actual cost limit exceeded") from error
        except RecursionError as error:
            raise CelError(TOO_DEEP) from error


@functools.lru_cache(maxsize=4096)
def compiled(source: str) -> Program:
    """The program of an expression that has been checked before."""
    tree = parsed(source, untyped(), {})
    try:
        return Program(source, "oldSelf" in tree.names, evaluator(tree))
    except RecursionError as error:
        raise CelError(TOO_DEEP) from error


def failing(source: str, problem: str) -> Program:
    """A program that has no value, whatever it is asked about."""

    def ask(run: Run) -> Any:
        raise CelError(problem)

    return Program(source, False, ask)


class Checker:
    """What reads expressions about values of one type."""

    def __init__(self, typed: Typed, *, optional_old: bool = False) -> None:
        past = {"type_name": "optional_type", "params": [typed.type]} if optional_old else typed.type
        from google.protobuf.descriptor_pool import DescriptorPool

        pool = DescriptorPool()
        for file in typed.files():
            pool.AddSerializedFile(file)
        self._names = typed.names
        self._environment = environment(typed.type, past, pool)

    def checked(self, source: str) -> tuple[Tree, Type]:
        """The tree of an expression and its type.

        Raises `CelError` in the words of the reference implementation.
        """
        tree = parsed(source, self._environment, self._names)
        if problems := list(wrong_literals(source, tree)):
            raise CelError("\n".join(problems))
        return tree, tree.type_of(tree.root)


def parsed(source: str, env: Any, names: Mapping[str, str]) -> Tree:
    try:
        return read(env.compile(source).serialize())
    except RuntimeError as error:
        told = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        raise CelError(retold(source, told, names)) from error
    except RecursionError as error:
        raise CelError(TOO_DEEP) from error


@functools.cache
def untyped() -> Any:
    return environment(ANY, ANY, None)


def environment(self: Config, old: Config, pool: DescriptorPool | None) -> Any:
    # 14 MB of code: only who has rules pays for it.
    from cel_expr_python import cel  # type: ignore[import-untyped]

    if old["type_name"] != "optional_type":
        variables = {"self": type_of(self), "oldSelf": type_of(old)}
        return cel.NewEnv(descriptor_pool=pool, config=dialect(), variables=variables)
    # Optional variables can be declared in a configuration only, and to read one takes longer than the rest.
    declared = [{"name": "self", **self}, {"name": "oldSelf", **old}]
    config = cel.NewEnvConfigFromYaml(json.dumps({**configuration(), "variables": declared}))
    return cel.NewEnv(descriptor_pool=pool, config=config)


@functools.cache
def dialect() -> Any:
    from cel_expr_python import cel

    return cel.NewEnvConfigFromYaml(json.dumps(configuration()))


def type_of(declared: Config) -> Any:
    from cel_expr_python import cel

    name, params = declared["type_name"], [type_of(p) for p in declared.get("params", ())]
    if name == "list":
        return cel.Type.List(*params)
    return cel.Type.Map(*params) if name == "map" else cel.Type(name)
