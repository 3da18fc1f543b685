"""A kind as the server serves it: where it is found, what it can do, what its objects look like."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .celrules import Node, tree
from .scale import BUILT_IN, ScalePaths

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True)
class Subresource:
    name: str
    kind: str = ""
    group: str = ""
    version: str = ""
    verbs: tuple[str, ...] = ("get", "patch", "update")


STATUS = Subresource("status")


@dataclass(frozen=True)
class Kind:
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    singular: str = ""
    verbs: tuple[str, ...] = VERBS
    custom: bool = False
    schema: dict[str, Any] | None = field(default=None, compare=False)
    columns: tuple[dict[str, Any], ...] = field(default=(), compare=False)
    """`additionalPrinterColumns` of a custom kind."""
    scale: ScalePaths = field(default=BUILT_IN, compare=False)
    deprecation: str = field(default="", compare=False)
    """What users of this version are warned with."""
    kept: str = field(default="", compare=False)
    """The resource whose objects these are in other words (`views`); empty: it has objects of its own."""
    defined: int = field(default=0, compare=False, repr=False)
    """The revision of the definition of a custom kind: what is older may lack a default."""
    several: bool = field(default=False, compare=False)
    """Objects may have been written in another version of this kind."""
    terminating: bool = field(default=False, compare=False)
    """Its definition is being deleted: nothing new is made."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The name under which the store keeps the objects: all versions of a kind share it."""
        return self.kept or f"{self.group}/{self.plural}"

    @property
    def stored(self) -> bool:
        """False for kinds that are answered from something else and never kept: reviews, bindings."""
        return "watch" in self.verbs and "create" in self.verbs

    @property
    def full_name(self) -> str:
        """As error messages name the resource: `pods`, `paddlejobs.batch.paddlepaddle.org`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def subresource(self, name: str) -> Subresource | None:
        return next((s for s in self.subresources if s.name == name), None)

    @cached_property
    def rules(self) -> Node | None:
        """The validation rules of a custom kind, compiled when first asked for."""
        return tree(self.schema) if self.schema is not None else None

    @cached_property
    def read_again(self) -> dict[Any, Any]:
        """What `versions` has made of objects older than the definition; it goes with the definition."""
        return {}

    @property
    def has_status(self) -> bool:
        return self.subresource("status") is not None


SCALE = Subresource("scale", "Scale", "autoscaling", "v1")

# Answered, never stored: who the client is to us.
WHO_AM_I = Kind(
    "authentication.k8s.io",
    "v1",
    "SelfSubjectReview",
    "selfsubjectreviews",
    namespaced=False,
    singular="selfsubjectreview",
    verbs=("create",),
)

# Named here because the server itself acts on it; equal to the one in the facts.
CRD = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    subresources=(STATUS,),
    singular="customresourcedefinition",
)

# Answered from what the nodes measure, never stored.
MEASURED = (
    Kind("metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes", namespaced=False, verbs=("get", "list")),
    Kind("metrics.k8s.io", "v1beta1", "PodMetrics", "pods", verbs=("get", "list")),
)
