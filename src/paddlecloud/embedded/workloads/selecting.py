"""Which labels a LabelSelector takes; pure. A selector that says nothing takes everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Labels = Mapping[str, str]


def takes(selector: Mapping[str, Any], labels: Labels) -> bool:
    return all(labels.get(k) == v for k, v in (selector.get("matchLabels") or {}).items()) and all(
        meets(expression, labels) for expression in selector.get("matchExpressions") or ()
    )


def meets(expression: Mapping[str, Any], labels: Labels) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def equalities(selector: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The labels it wants exactly: enough to find what it may take, `takes` decides."""
    return tuple(sorted((selector.get("matchLabels") or {}).items()))
