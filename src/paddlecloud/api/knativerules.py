"""What Knative's webhook refuses in a Service, as rules of a schema: numbers out of range, wrong shares.

Only what somebody could write into a PaddleService or by hand for the stand-in; a field that is not named
here is kept as it is. How many and how long things may be is bounded so that the cost of rules is.
"""

from __future__ import annotations

from typing import Any

from .meta import Rule

Schema = dict[str, Any]
AUTOSCALING = "autoscaling.knative.dev"
KEPT: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def note(name: str, condition: str, message: str) -> Rule:
    """A rule about an annotation; `@` in *condition* is its text."""
    key = f"self.annotations['{AUTOSCALING}/{name}']"
    absent = f"!has(self.annotations) || !('{AUTOSCALING}/{name}' in self.annotations)"
    return Rule(f"{absent} || {condition.replace('@', key)}", f"{AUTOSCALING}/{name} {message}")


def number(name: str, least: float, most: float | None = None) -> Rule:
    limits = f"double(@) >= {least:.2f}" + (f" && double(@) <= {most:.2f}" if most else "")
    words = f"must be a number of at least {least:g}" + (f" and at most {most:g}" if most else "")
    return note(name, f"@.matches('^[0-9]+([.][0-9]+)?$') && {limits}", words)


NOTES = (
    note("min-scale", "@.matches('^[0-9]{1,9}$')", "must be a whole number of at least 0"),
    note("max-scale", "@.matches('^[0-9]{1,9}$')", "must be a whole number of at least 0"),
    note(
        "class",
        f"!@.endsWith('{AUTOSCALING}') || @ in ['kpa.{AUTOSCALING}', 'hpa.{AUTOSCALING}']",
        f"must be kpa.{AUTOSCALING} or hpa.{AUTOSCALING}",
    ),
    note(
        "metric",
        f"(('{AUTOSCALING}/class' in self.annotations) && self.annotations['{AUTOSCALING}/class'] != "
        f"'kpa.{AUTOSCALING}') || @ in ['concurrency', 'rps']",
        "must be concurrency or rps where requests decide",
    ),
    note(
        "window",
        "@.matches('^([0-9]{1,6}[hms])+$') && duration(@) >= duration('6s') && duration(@) <= duration('1h')",
        "must be whole seconds from 6s to 1h",
    ),
    number("target", 0.01),
    number("target-utilization-percentage", 1, 100),
    number("panic-window-percentage", 1, 100),
    number("panic-threshold-percentage", 110, 1000),
)
SCALES = Rule(
    f"!has(self.annotations) || !('{AUTOSCALING}/min-scale' in self.annotations) || "
    f"!('{AUTOSCALING}/max-scale' in self.annotations) || "
    f"!self.annotations['{AUTOSCALING}/min-scale'].matches('^[0-9]{{1,9}}$') || "
    f"!self.annotations['{AUTOSCALING}/max-scale'].matches('^[0-9]{{1,9}}$') || "
    f"self.annotations['{AUTOSCALING}/max-scale'].matches('^0+$') || "
    f"int(self.annotations['{AUTOSCALING}/max-scale']) >= int(self.annotations['{AUTOSCALING}/min-scale'])",
    "max-scale is less than min-scale",
)
TRAFFIC = (
    Rule("self.map(t, has(t.percent) ? t.percent : 0).sum() == 100", "traffic targets must sum to 100"),
    Rule(
        "self.all(t, !has(t.tag) || self.exists_one(u, has(u.tag) && u.tag == t.tag))",
        "two traffic targets have one tag",
    ),
)
TARGET = (
    Rule(
        "!has(self.latestRevision) || "
        "self.latestRevision != (has(self.revisionName) && self.revisionName != '')",
        "may not set revisionName when latestRevision is true, and must when it is false",
    ),
    Rule("!has(self.configurationName)", "must not set the field configurationName"),
    Rule("!has(self.url)", "must not set the field url"),
)
PREFIX = Rule(
    "!has(self.spec) || !has(self.spec.template) || !has(self.spec.template.metadata) || "
    "!has(self.spec.template.metadata.name) || "
    "self.spec.template.metadata.name.startsWith(self.metadata.name + '-')",
    "the name of a revision must have the prefix of its service: spec.template.metadata.name",
)


def checked(*rules: Rule) -> Schema:
    return {"x-kubernetes-validations": [rule._asdict() for rule in rules]}


SPEC: Schema = {
    **KEPT,
    "required": ["template"],
    "properties": {
        "template": {
            **KEPT,
            "required": ["spec"],
            "properties": {
                "metadata": {
                    **KEPT,
                    **checked(*NOTES, SCALES),
                    "properties": {
                        "name": {"type": "string", "maxLength": 63},
                        "annotations": {
                            "type": "object",
                            "additionalProperties": {"type": "string", "maxLength": 16384},
                        },
                    },
                },
                "spec": {
                    **KEPT,
                    "required": ["containers"],
                    "properties": {
                        "containers": {"type": "array", "minItems": 1, "items": KEPT},
                        "containerConcurrency": {"type": "integer", "minimum": 0, "maximum": 1000},
                        "timeoutSeconds": {"type": "integer", "minimum": 0, "maximum": 600},
                    },
                },
            },
        },
        "traffic": {
            "type": "array",
            "maxItems": 50,
            **checked(*TRAFFIC),
            "items": {
                **KEPT,
                **checked(*TARGET),
                "properties": {
                    "percent": {"type": "integer", "minimum": 0, "maximum": 100},
                    "revisionName": {"type": "string", "maxLength": 253},
                    "configurationName": {"type": "string"},
                    "latestRevision": {"type": "boolean"},
                    "tag": {"type": "string", "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63},
                    "url": {"type": "string"},
                },
            },
        },
    },
}
