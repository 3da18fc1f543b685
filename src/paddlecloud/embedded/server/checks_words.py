"""Words that fields of many kinds are made of: ports, paths, addresses, names; in Kubernetes' words; pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from .complaints import invalid, required
from .names import label_problem, qualified_problems, subdomain_problem
from .schema import Violation

PORT_RULE = "must be between 1 and 65535, inclusive"
ADDRESS_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
KEY = re.compile(r"[-._a-zA-Z0-9]+")
KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)


def check_port_number(port: int, path: str) -> Iterator[Violation]:
    if not 0 < port < 65536:
        yield invalid(path, port, PORT_RULE)


def port_name_problems(name: str) -> Iterator[str]:
    if len(name) > 15:
        yield "must be no more than 15 characters"
    if not re.fullmatch(r"[-a-z0-9]+", name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search(r"[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name and (name[0] == "-" or name[-1] == "-"):
        yield "must not begin or end with a hyphen"


def check_port(port: int | str, path: str) -> Iterator[Violation]:
    """A port by its number or its name."""
    if isinstance(port, int):
        yield from check_port_number(port, path)
    else:
        yield from (invalid(path, port, problem) for problem in port_name_problems(port))


def check_label(name: str, path: str) -> Iterator[Violation]:
    """One part of a host name."""
    if problem := label_problem(name):
        yield invalid(path, name, problem)


def check_subdomain(name: str, path: str) -> Iterator[Violation]:
    if problem := subdomain_problem(name):
        yield invalid(path, name, problem)


def check_qualified(name: str, path: str) -> Iterator[Violation]:
    yield from (invalid(path, name, problem) for problem in qualified_problems(name))


def check_key(key: str, path: str) -> Iterator[Violation]:
    """The key of an entry in a ConfigMap or a Secret."""
    if not KEY.fullmatch(key):
        yield invalid(path, key, KEY_RULE)


def check_address(address: str, path: str) -> Iterator[Violation]:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        yield invalid(path, address, ADDRESS_RULE)


def check_no_backsteps(text: str, path: str) -> Iterator[Violation]:
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def check_inside(text: str, path: str) -> Iterator[Violation]:
    """A path below another."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    yield from check_no_backsteps(text, path)


def check_file(text: str, path: str) -> Iterator[Violation]:
    """The path of a file in a volume that is made of keys."""
    if not text:
        yield required(path)
        return
    yield from check_inside(text, path)
    if text.startswith("..") and not text.startswith("../"):
        yield invalid(path, text, "must not start with '..'")


def check_mode(mode: int | None, path: str) -> Iterator[Violation]:
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")
