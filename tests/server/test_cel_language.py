# ruff: noqa: E501
"""Expressions in CEL, from text to value: what the contracts do not reach."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from paddlecloud.embedded.server import cel
from paddlecloud.embedded.server.cel.declarations import COMPARISONS, SIGNATURES
from paddlecloud.embedded.server.cel.evaluation import CALLS
from paddlecloud.embedded.server.cel.patterns import without_groups

SELF = {"a": 1, "f": 1.5, "s": "aB", "l": ["a", "b"], "m": {"x": 1}, "n": None}


def value(source: str, limit: int = cel.LIMIT) -> Any:
    return cel.compiled(source).ask({"self": SELF}, limit)[0]


@pytest.mark.parametrize(
    "source, wanted",
    [
        ("dyn(1) == true", False),
        ("dyn([1, true]) == dyn([1.0, 1])", False),
        ("dyn({'a': [1]}) == dyn({'a': [1.0]})", True),
        ("self.n == null", True),
        ("type(self.l) == list && type(self.m) == map && type(1u) == uint", True),
        ("7 % -3", 1),
        ("-9223372036854775807 - 1", -(1 << 63)),
        ("1.0 / 0.0 > 1e308", True),
        ("string(0.1) + string(100.0) + string(1e25) + string(-0.00001)", "0.11001e+25-1e-05"),
        ("string(duration('1h0.5s'))", "3600.5s"),
        ("string(timestamp('2024-01-02T03:04:05.120Z'))", "2024-01-02T03:04:05.12Z"),
        ("(timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z')).getHours()", 24),
        ("timestamp('2024-01-02T00:00:00Z').getDayOfWeek('-02:00')", 1),
        ("duration('-1m30s').getSeconds()", -90),
        ("bytes('é').size()", 2),
        ("'é€'.size() + 'é€'.indexOf('€')", 3),
        ("b'a' < b'b' && 'a' <= 'a'", True),
        ("'a-b'.split('') == ['a', '-', 'b'] && 'abc'.split('', 2) == ['a', 'bc']", True),
        ("'a,b'.split(',', 0) == [] && ['a', 'b'].join() == 'ab'", True),
        ("'ÀBC'.lowerAscii()", "Àbc"),
        ("[2u, 3u].sum() == 5u && [1.5].sum() == 1.5 && [duration('1s')].sum() == duration('1s')", True),
        ("optional.ofNonZeroValue('').or(optional.of('b')).value()", "b"),
        ("optional.unwrap([optional.of(1), optional.none()]) == [1]", True),
        ("self.m.transformMapEntry(k, v, {string(v): k})", {"1": "x"}),
        ("cidr('192.168.1.7/24').ip() == ip('192.168.1.7')", True),
    ],
)  # fmt: skip
def test_an_expression_has_the_value_the_language_gives_it(source: str, wanted: Any) -> None:
    assert value(source) == wanted


@pytest.mark.parametrize(
    "source, wanted",
    [
        ("1 / 0 == 1 || true", True),
        ("false && 1 / 0 == 1", False),
        ("1 / 0 == 1 && false", False),
        ("[0, 1].all(x, 1 / x > 5)", False),
        ("[0, 1].exists(x, 1 / x == 1)", True),
    ],
)
def test_an_error_does_not_matter_where_the_rest_decides(source: str, wanted: bool) -> None:
    assert value(source) is wanted


@pytest.mark.parametrize(
    "source, message",
    [
        ("1 / 0 == 1 && true", "division by zero"),
        ("[0, 1].all(x, 1 / x > 0)", "division by zero"),
        ("[1, 2].map(x, 1 / (x - 1)) == []", "division by zero"),
        ("self.a + self.s == 'x'", "no such overload"),
        ("self.a.b == 1", "no such overload"),
        ("self.a ? true : false", "no such overload"),
        ("18446744073709551615u + 1u == 0u", "unsigned integer overflow"),
        ("timestamp('2024-01-01T00:00:00Z').getHours('Nowhere/Town') == 1", "unknown time zone Nowhere/Town"),
        ("url('x').getHost() == ''", 'URL parse error during conversion from string: parse "x": invalid URI for request'),
        ("ip('::ffff:1.2.3.4').family() == 4", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        ("'%d'.format([self.s]) == ''", "error during formatting: decimal clause can only be used on integers, was given string"),
    ],
)  # fmt: skip
def test_an_expression_without_a_value_says_why(source: str, message: str) -> None:
    with pytest.raises(cel.CelError) as caught:
        value(source)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "source",
    [
        "[1, 2, 3].all(x, [1, 2, 3].all(y, x + y > 0))",
        "self.l.map(x, x + x + x + x + x + x + x + x).size() == 2",
        "self.s.matches('^[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+[a-z]+$')",
    ],
)
def test_an_expression_ends_where_its_budget_ends(source: str) -> None:
    value(source)
    with pytest.raises(cel.Exceeded):
        value(source, limit=20)


def test_nothing_in_an_expression_hides_that_it_ran_out_of_budget() -> None:
    with pytest.raises(cel.Exceeded):
        value("[1, 2, 3].all(x, [1, 2, 3].all(y, x + y > 0)) || true", limit=20)


def test_a_pattern_cannot_hold_up_the_server() -> None:
    text = "a" * 5000 + "b"
    program = cel.compiled("self.matches('^(a+)+$') || self.find('(a|a)*c') == 'c'")
    assert program.ask({"self": text})[0] is False


@pytest.mark.parametrize(
    "pattern, wanted",
    [
        ("a(b)c", "a(?:b)c"),
        (r"\(a\)", r"\(a\)"),
        ("[(](a)", "[(](?:a)"),
        ("[]()](a)", "[]()](?:a)"),
        ("(?:a)(?i)b", "(?:a)(?i)b"),
        ("(?P<n>a)", "(?:a)"),
    ],
)
def test_groups_of_a_pattern_are_forgotten(pattern: str, wanted: str) -> None:
    assert without_groups(pattern) == wanted


def test_an_expression_that_is_nested_too_deeply_is_an_error() -> None:
    with pytest.raises(cel.CelError):
        cel.compiled(" + ".join(["self.a"] * 5000) + " > 0").ask({"self": SELF})
    with pytest.raises(cel.CelError):
        cel.compiled("(" * 5000 + "1" + ")" * 5000)


def test_whatever_is_declared_can_be_called() -> None:
    assert not {*SIGNATURES, *COMPARISONS} - CALLS.keys()


def test_only_who_has_rules_loads_the_library() -> None:
    program = (
        "import sys; from paddlecloud.embedded.server import app, objects, celcheck, celrules; "
        "celrules.tree({'type': 'object'}); celcheck.rule_problems({'type': 'object'}, ''); "
        "sys.exit('cel_expr_python' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
