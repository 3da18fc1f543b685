"""What Kubernetes' dialect of CEL declares beside the language itself: the signatures of its functions.

A signature is written `receiver . arguments -> result`, without the receiver where there is none; `T` stands
for any type. `configuration` turns the table into what the type checker reads. Whatever is declared here is
implemented in `operators`, `conversions` and `functions`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

Config = dict[str, Any]
NUMBERS = ("int", "uint", "double")
ORDERED = ("bool", *NUMBERS, "string", "bytes", "timestamp", "duration")
QUANTITY, URL, ADDRESS, NETWORK = "kubernetes.Quantity", "kubernetes.URL", "net.IP", "net.CIDR"
FORMAT = "kubernetes.NamedFormat"
COMPARISONS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
# The names the reference implementation gives to types inside the names of overloads.
INSIDE = {"int": "int64", "uint": "uint64"}
FORMATS = (
    "dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix",
    "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime",
)  # fmt: skip
SIGNATURES: dict[str, tuple[str, ...]] = {
    # text
    "charAt": ("string . int -> string",),
    "indexOf": ("string . string -> int", "string . string, int -> int", "list<T> . T -> int"),
    "lastIndexOf": ("string . string -> int", "string . string, int -> int", "list<T> . T -> int"),
    "join": ("list<string> . -> string", "list<string> . string -> string"),
    "lowerAscii": ("string . -> string",),
    "upperAscii": ("string . -> string",),
    "replace": ("string . string, string -> string", "string . string, string, int -> string"),
    "split": ("string . string -> list<string>", "string . string, int -> list<string>"),
    "substring": ("string . int -> string", "string . int, int -> string"),
    "trim": ("string . -> string",),
    "format": ("string . list<dyn> -> string",),
    "strings.quote": ("string -> string",),
    "find": ("string . string -> string",),
    "findAll": ("string . string -> list<string>", "string . string, int -> list<string>"),
    # lists
    "isSorted": tuple(f"list<{t}> . -> bool" for t in ORDERED),
    "sum": tuple(f"list<{t}> . -> {t}" for t in (*NUMBERS, "duration")),
    "min": tuple(f"list<{t}> . -> {t}" for t in ORDERED),
    "max": tuple(f"list<{t}> . -> {t}" for t in ORDERED),
    "sets.contains": ("list<T>, list<T> -> bool",),
    "sets.equivalent": ("list<T>, list<T> -> bool",),
    "sets.intersects": ("list<T>, list<T> -> bool",),
    # quantities
    "quantity": (f"string -> {QUANTITY}",),
    "isQuantity": ("string -> bool",),
    "sign": (f"{QUANTITY} -> int",),
    "isInteger": (f"{QUANTITY} . -> bool",),
    "asInteger": (f"{QUANTITY} . -> int",),
    "asApproximateFloat": (f"{QUANTITY} . -> double",),
    "add": (f"{QUANTITY} . {QUANTITY} -> {QUANTITY}", f"{QUANTITY} . int -> {QUANTITY}"),
    "sub": (f"{QUANTITY} . {QUANTITY} -> {QUANTITY}", f"{QUANTITY} . int -> {QUANTITY}"),
    "isGreaterThan": (f"{QUANTITY} . {QUANTITY} -> bool",),
    "isLessThan": (f"{QUANTITY} . {QUANTITY} -> bool",),
    "compareTo": (f"{QUANTITY} . {QUANTITY} -> int",),
    # addresses
    "url": (f"string -> {URL}",),
    "isURL": ("string -> bool",),
    **{
        f"get{part}": (f"{URL} . -> string",)
        for part in ("Scheme", "Host", "Hostname", "Port", "EscapedPath")
    },
    "getQuery": (f"{URL} . -> map<string, list<string>>",),
    "ip": (f"string -> {ADDRESS}", f"{NETWORK} . -> {ADDRESS}"),
    "isIP": ("string -> bool",),
    "ip.isCanonical": ("string -> bool",),
    "family": (f"{ADDRESS} . -> int",),
    **{
        f"is{what}": (f"{ADDRESS} . -> bool",)
        for what in ("Unspecified", "Loopback", "LinkLocalMulticast", "LinkLocalUnicast", "GlobalUnicast")
    },
    "cidr": (f"string -> {NETWORK}",),
    "isCIDR": ("string -> bool",),
    "containsIP": (f"{NETWORK} . string -> bool", f"{NETWORK} . {ADDRESS} -> bool"),
    "containsCIDR": (f"{NETWORK} . string -> bool", f"{NETWORK} . {NETWORK} -> bool"),
    "prefixLength": (f"{NETWORK} . -> int",),
    "masked": (f"{NETWORK} . -> {NETWORK}",),
    # optional values
    "optional.unwrap": ("list<optional_type<T>> -> list<T>",),
    "unwrapOpt": ("list<optional_type<T>> . -> list<T>",),
    # formats
    **{f"format.{name}": (f"-> {FORMAT}",) for name in FORMATS},
    "format.named": (f"string -> optional_type<{FORMAT}>",),
    "validate": (f"{FORMAT} . string -> optional_type<list<string>>",),
    # of the language, with types of ours
    "string": tuple(f"{t} -> string" for t in (*ORDERED, ADDRESS, NETWORK)),
}
WORD = re.compile(r"[^<>, ]+|[<>,]")


@functools.cache
def configuration() -> Config:
    """The dialect without its variables."""
    functions = [
        {"name": name, "overloads": [overload(name, s, i) for i, s in enumerate(signatures)]}
        for name, signatures in SIGNATURES.items()
    ]
    functions += [
        {"name": name, "overloads": list(comparing(inside))} for name, inside in COMPARISONS.items()
    ]
    return {
        # Declared again with more: numbers of different types can be compared.
        "stdlib": {"exclude_functions": [{"name": n} for n in (*COMPARISONS, "string")]},
        "extensions": [{"name": "optional"}, {"name": "two-var-comprehensions"}],
        "functions": functions,
    }


def overload(name: str, signature: str, number: int) -> Config:
    given, _, result = signature.partition("->")
    receiver, dot, arguments = given.partition(" . ")
    made: Config = {
        "id": f"{name}_{number}",
        "args": [type_named(a) for a in split(arguments if dot else given)],
        "return": type_named(result),
    }
    return {**made, "target": type_named(receiver)} if dot else made


def comparing(inside: str) -> Iterator[Config]:
    for left in ORDERED:
        for right in NUMBERS if left in NUMBERS else (left,):
            one, two = INSIDE.get(left, left), INSIDE.get(right, right)
            yield {
                "id": f"{inside}_{one}" if left == right else f"{inside}_{one}_{two}",
                "args": [type_named(left), type_named(right)],
                "return": type_named("bool"),
            }


def split(text: str) -> list[str]:
    """The types of a list of arguments; commas inside of `<>` are theirs."""
    parts, depth = [""], 0
    for word in WORD.findall(text):
        depth += (word == "<") - (word == ">")
        if word == "," and not depth:
            parts.append("")
        else:
            parts[-1] += word
    return [part for part in parts if part]


def type_named(text: str) -> Config:
    name, _, inner = text.strip().partition("<")
    if name == "T":
        return {"type_name": name, "is_type_param": True}
    if not inner:
        return {"type_name": name}
    return {"type_name": name, "params": [type_named(p) for p in split(inner.removesuffix(">"))]}
