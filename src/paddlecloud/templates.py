"""One workflow a domain task, as functions: `templates.text_detection(epochs=10).run(client)`.

Every template is a function of its parameters, with dashes written as underscores; it gives a pipeline that
has a `graph`, a `package` for Kubeflow Pipelines and a `run`. What suites of the user bring is here, too.
"""

from __future__ import annotations

from collections.abc import Callable

from .errors import NotFound
from .pipelines.templates.description import find
from .pipelines.templates.description import templates as _templates
from .pipelines.templates.pipeline import TemplatePipeline, pipeline_of

Function = Callable[..., TemplatePipeline]


def names() -> list[str]:
    """The templates there are."""
    return list(_templates())


def template(name: str) -> Function:
    """The function of a template. Raises `NotFound` with what comes near."""
    about = find(name).says.description

    def function(**given: object) -> TemplatePipeline:
        return pipeline_of(name, given)

    function.__name__, function.__doc__ = name.replace("-", "_"), about
    return function


def __getattr__(name: str) -> Function:
    # Names of Python's own are asked for by many, and are no templates.
    if not name.startswith("_"):
        try:
            return template(name.replace("_", "-"))
        except NotFound as error:
            raise AttributeError(str(error)) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["names", "template", *(name.replace("-", "_") for name in names())]
