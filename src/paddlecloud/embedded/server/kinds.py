"""A kind as the server serves it: where it is found, what it can do, what its objects look like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The name under which the store keeps the objects: all versions of a kind share it."""
        return f"{self.group}/{self.plural}"

    @property
    def full_name(self) -> str:
        """As error messages name the resource: `pods`, `paddlejobs.batch.paddlepaddle.org`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def subresource(self, name: str) -> Subresource | None:
        return next((s for s in self.subresources if s.name == name), None)

    @property
    def has_status(self) -> bool:
        return self.subresource("status") is not None


def kind(
    api_version: str, name: str, plural: str, short: str = "", *, namespaced: bool = True, more: str = ""
) -> Kind:
    """A built-in kind; *more* names its subresources and, after a colon, its categories."""
    group, _, version = api_version.rpartition("/")
    subresources, _, categories = more.partition(":")
    return Kind(
        group,
        version,
        name,
        plural,
        namespaced,
        tuple(short.split()),
        tuple(categories.split()),
        tuple(SUBRESOURCES[s] for s in subresources.split()),
        name.lower(),
    )


SUBRESOURCES = {
    "status": STATUS,
    "scale": Subresource("scale", "Scale", "autoscaling", "v1"),
    "log": Subresource("log", "Pod", verbs=("get",)),
    "binding": Subresource("binding", "Binding", verbs=("create",)),
    "token": Subresource("token", "TokenRequest", "authentication.k8s.io", "v1", ("create",)),
    "finalize": Subresource("finalize", "Namespace", verbs=("update",)),
}

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

BUILT_IN: tuple[Kind, ...] = (
    WHO_AM_I,
    kind("v1", "ConfigMap", "configmaps", "cm"),
    kind("v1", "Endpoints", "endpoints", "ep"),
    kind("v1", "Event", "events", "ev"),
    kind("v1", "Namespace", "namespaces", "ns", namespaced=False, more="status finalize"),
    kind("v1", "Node", "nodes", "no", namespaced=False, more="status"),
    kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", more="status"),
    kind("v1", "PersistentVolume", "persistentvolumes", "pv", namespaced=False, more="status"),
    kind("v1", "Pod", "pods", "po", more="status log binding:all"),
    kind("v1", "Secret", "secrets"),
    kind("v1", "ServiceAccount", "serviceaccounts", "sa", more="token"),
    kind("v1", "Service", "services", "svc", more="status:all"),
    kind("apps/v1", "StatefulSet", "statefulsets", "sts", more="status scale:all"),
    kind("coordination.k8s.io/v1", "Lease", "leases"),
    kind("storage.k8s.io/v1", "StorageClass", "storageclasses", "sc", namespaced=False),
    kind(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        "crd crds",
        namespaced=False,
        more="status:api-extensions",
    ),
)
CRD = BUILT_IN[-1]
