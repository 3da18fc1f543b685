"""The formats of `format.NAME().validate(text)`: what is wrong with a text, in Kubernetes' words; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from ..formats import fits_format
from ..names import label_problem, label_value_problems, qualified_problems, subdomain_problem

DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
DNS_1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
LONG = "must be no more than 63 characters"


def problems(name: str, text: str) -> list[str]:
    """Empty for a text that has the format."""
    if name.endswith("Prefix"):
        name = name.removesuffix("Prefix")
        # What begins a name may end in a dash; the rest of the name comes after it.
        text = f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text
    return [problem for problem in FORMATS[name](text) if problem]


def dns_1035(text: str) -> list[str]:
    return [LONG if len(text) > 63 else "", "" if DNS_1035.fullmatch(text) else DNS_1035_RULE]


def uri(text: str) -> list[str]:
    if not text:
        return ['parse "": empty url']
    return (
        [] if urlsplit(text).scheme or text.startswith("/") else [f'parse "{text}": invalid URI for request']
    )


def fits(name: str, message: str) -> Callable[[str], list[str]]:
    return lambda text: [] if fits_format(text, name) else [message]


FORMATS: dict[str, Callable[[str], Iterable[str]]] = {
    "dns1123Label": lambda text: [label_problem(text)],
    "dns1123Subdomain": lambda text: [subdomain_problem(text)],
    "dns1035Label": dns_1035,
    "qualifiedName": qualified_problems,
    "labelValue": label_value_problems,
    "uri": uri,
    "uuid": fits("uuid", "does not match the UUID format"),
    "byte": fits("byte", "invalid base64"),
    "date": fits("date", "invalid date"),
    "datetime": fits("datetime", "invalid datetime"),
}
