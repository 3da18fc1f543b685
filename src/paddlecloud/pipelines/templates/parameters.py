"""The parameters of a template: what type each has, between which bounds, and what it is for; pure.

A value that does not fit is a sentence with what would, before anything is made.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, model_validator

from ...api.meta import Value
from ...controllers.dataengines import SCHEMES
from ...errors import WrongUse

Given = str | int | bool
NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
LONGEST_NAME = 40
"""Names of pods, claims and services are made of it and may have 63 letters."""
YES, NO = ("true", "yes"), ("false", "no")
IN_WORDS = {"integer": "a whole number", "boolean": "true or false", "text": "a text"}


class Parameter(Value):
    model_config = ConfigDict(extra="forbid")

    type: Literal["integer", "boolean", "text"] = "text"
    default: bool | int | str | None = None
    """None: it has to be given."""
    least: int | None = None
    most: int | None = None
    about: str

    @model_validator(mode="after")
    def default_fits(self) -> Self:
        if self.default is not None:
            try:
                checked("the default", self, self.default)
            except WrongUse as error:
                raise ValueError(error.message) from error
        return self

    @property
    def bounds(self) -> str:
        low, high = self.least, self.most
        if low is not None and high is not None:
            return f"from {low} to {high}"
        return f"from {low} on" if low is not None else f"up to {high}" if high is not None else ""


def common(name: str) -> dict[str, Parameter]:
    """What every template takes; *name* is the template's."""
    return {
        "name": Parameter(default=name, about="Name of the model, of its service and of its data set."),
        "data": Parameter(
            default="", about="Address of the data (s3://…, file:///…, pvc://claim/folder); empty: drawn."
        ),
        "data_secret": Parameter(default="", about="Secret with the keys of the data, where it needs any."),
        "workers": Parameter(type="integer", default=1, least=1, most=64, about="Pods that train together."),
        "serve": Parameter(type="boolean", default=True, about="Whether the model is served afterwards."),
    }


def chosen(template: str, has: Mapping[str, Parameter], given: Mapping[str, object]) -> dict[str, Given]:
    """A value for every parameter. Raises `WrongUse` for the first that is unknown, missing or wrong."""
    for name in given:
        if name not in has:
            raise WrongUse(
                f"template {template} has no parameter {name!r}{near(name, has)}",
                next_step=f"it has {', '.join(has)}; `pdc template show {template}` explains them",
            )
    found: dict[str, Given] = {}
    for name, parameter in has.items():
        value = given.get(name, parameter.default)
        if value is None:
            raise WrongUse(
                f"template {template} needs parameter {name}, which was not given: {parameter.about}",
                next_step=f"--set {name}=…",
            )
        found[name] = checked(name, parameter, value)
    check_names(found)
    return found


def checked(name: str, parameter: Parameter, value: object) -> Given:
    """The value in its type; texts of a command line are read. Raises `WrongUse`."""
    wrong = WrongUse(f"{name} is to be {IN_WORDS[parameter.type]} and is {value!r}")
    if parameter.type == "text":
        if not isinstance(value, str):
            raise wrong
        return value
    if parameter.type == "boolean":
        text = str(value).lower()
        if text not in (*YES, *NO):
            raise wrong
        return text in YES
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise wrong
    try:
        number = int(value)
    except ValueError:
        raise wrong from None
    low, high = parameter.least, parameter.most
    if (low is not None and number < low) or (high is not None and number > high):
        raise WrongUse(f"{name} is to be {parameter.bounds} and is {number}")
    return number


def check_names(values: Mapping[str, Given]) -> None:
    """What becomes names and addresses of the cluster is looked at here, and not by its refusals."""
    name, data = str(values.get("name", "")), str(values.get("data", ""))
    if "name" in values and (not NAME.fullmatch(name) or len(name) > LONGEST_NAME):
        raise WrongUse(
            f"name {name!r} cannot be the name of a model and its service",
            next_step=f"use up to {LONGEST_NAME} small letters, digits and dashes, beginning with a letter",
        )
    if data and urlsplit(data).scheme not in SCHEMES:
        raise WrongUse(
            f"data {data!r} is no address of data",
            next_step="write s3://BUCKET/PREFIX, file:///folder, https://…, pvc://CLAIM/folder",
        )


def near(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; closest: {', '.join(found)}" if found else ""
