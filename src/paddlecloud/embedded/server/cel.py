"""CEL, the language of validation rules: from the text of an expression to a program that can be asked.

The one module that knows the library. What Kubernetes' dialect has and the library lacks is added here as
functions; what cannot be added is refused when the expression is compiled, never when it is asked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .celfunctions import FUNCTIONS, NAMESPACED

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      |(?P<text>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
      |(?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
      |(?P<number>\d[\w.]*)
      |(?P<sign>&&|\|\||==|!=|<=|>=|.)""",
    re.VERBOSE | re.DOTALL,
)
MACROS = ("all", "exists", "exists_one", "map", "filter")
BUILT_IN = frozenset((
    "size", "has", "contains", "startsWith", "endsWith", "matches", "int", "uint", "double", "string",
    "bytes", "bool", "dyn", "type", "duration", "timestamp", "getFullYear", "getMonth", "getDate",
    "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getHours", "getMinutes", "getSeconds",
    "getMilliseconds", "hasValue", "value", "orValue", "optional", "of", "none",
))  # fmt: skip
TYPES = frozenset((
    "int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "true", "false",
    "null", "in", "optional",
))  # fmt: skip
# The library counts bytes where the language counts characters.
RENAMED = {"size": "characters"}


class CelError(Exception):
    """An expression that cannot be compiled or has no value, in Kubernetes' words where it has some."""


class Token(NamedTuple):
    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class Program:
    source: str
    tokens: tuple[Token, ...]
    _compiled: Any

    @property
    def uses_old(self) -> bool:
        return any(t.text == "oldSelf" for t in self.tokens)

    def ask(self, variables: Mapping[str, Any]) -> Any:
        """The value for these variables; raises `CelError` where it has none."""
        import cel  # Costs more than all the rest of the server: only who has rules pays.

        try:
            return self._compiled.execute(cel.Context(dict(variables), FUNCTIONS))
        except KeyError as error:
            raise CelError(f"no such key: {str(error).strip(chr(39))}") from error
        except ZeroDivisionError as error:
            raise CelError("division by zero") from error
        except TypeError as error:
            raise CelError("no such overload") from error
        except Exception as error:
            raise CelError(str(error)) from error


def optional(value: Any, *, present: bool) -> Any:
    """What `oldSelf` is in a rule that also runs when there is none."""
    import cel

    return cel.OptionalValue.of(value) if present else cel.OptionalValue.none()


@functools.lru_cache(maxsize=4096)
def compiled(source: str) -> Program:
    """The program of an expression; raises `CelError` in the words of the reference implementation."""
    import cel

    tokens = tuple(tokenized(source))
    try:
        cel.compile(source)  # as it was written, so that an error is where its author looks
        program = Program(source, tokens, cel.compile("".join(rewritten(tokens))))
    except ValueError as error:
        _, _, text = str(error).partition("': ")
        raise CelError(text.replace("\n| ", "\n | ")) from error
    if problems := list(undeclared(source, tokens)):
        raise CelError("\n".join(problems))
    return program


def tokenized(source: str) -> Iterator[Token]:
    for match in TOKEN.finditer(source):
        if match.lastgroup != "space":
            yield Token(match.lastgroup or "", match[0], match.start())


def rewritten(tokens: tuple[Token, ...]) -> Iterator[str]:
    """The expression as the library understands it."""
    i = 0
    while i < len(tokens):
        token, after = tokens[i], [t.text for t in tokens[i + 1 : i + 4]]
        own = i == 0 or tokens[i - 1].text != "."
        if own and after[1:2] and (token.text, after[1]) in NAMESPACED and after[2:] == ["("]:
            yield NAMESPACED[token.text, after[1]]
            i += 3
        elif token.kind == "name" and after[:1] == ["("]:
            yield RENAMED.get(token.text, token.text)
            i += 1
        else:
            # A blank keeps apart what was apart: `in` and names, signs and signs.
            yield token.text if token.text == "." else f" {token.text}"
            if token.text == ".":
                i += 1
                if i < len(tokens) and not (
                    tokens[i].kind == "name" and [t.text for t in tokens[i + 1 : i + 2]] == ["("]
                ):
                    yield tokens[i].text
                    i += 1
                continue
            i += 1


def undeclared(source: str, tokens: tuple[Token, ...]) -> Iterator[str]:
    """Names that nobody defines."""
    bound = {"self", "oldSelf", *bound_names(tokens)}
    for i, token in enumerate(tokens):
        if token.kind != "name":
            continue
        before = tokens[i - 1].text if i else ""
        after = tokens[i + 1] if i + 1 < len(tokens) else Token("", "", 0)
        if after.text == "(":
            space = tokens[i - 2].text if before == "." and i >= 2 else ""
            known = token.text in BUILT_IN or token.text in MACROS or token.text in FUNCTIONS
            if not known and (space, token.text) not in NAMESPACED:
                yield located(source, after.at, f"undeclared reference to '{token.text}' (in container '')")
        elif before != "." and token.text not in bound and token.text not in TYPES and after.text != ":":
            space_of = tokens[i + 2].text if after.text == "." and i + 2 < len(tokens) else ""
            if (token.text, space_of) not in NAMESPACED:
                yield located(source, token.at, f"undeclared reference to '{token.text}' (in container '')")


def bound_names(tokens: tuple[Token, ...]) -> Iterator[str]:
    """The variables of comprehensions: `x` in `list.all(x, x > 0)`."""
    for macro, opening, name, comma in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if macro.text in MACROS and opening.text == "(" and name.kind == "name" and comma.text == ",":
            yield name.text


def located(source: str, at: int, message: str) -> str:
    line = source.count("\n", 0, at) + 1
    start = source.rfind("\n", 0, at) + 1
    column = at - start
    shown = source[start:].split("\n", 1)[0]
    return f"ERROR: <input>:{line}:{column + 1}: {message}\n | {shown}\n | {'.' * column}^"
