"""What `kubectl get` prints: the server makes the cells, the client only lays them out; pure."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import tables_cluster as cluster
from . import tables_network as network
from . import tables_workloads as workloads
from .ages import age
from .jsonpath import first
from .kinds import Kind

Cells = Callable[[dict[str, Any]], list[Any]]
Column = dict[str, Any]


def column(name: str, kind: str = "string", priority: int = 0) -> Column:
    return {
        "name": name,
        "type": kind,
        "format": "name" if name in ("Name", "Attacher") else "",
        "description": "",
        "priority": priority,
    }


def partial(body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def layout(kind: Kind) -> tuple[list[Column], Cells]:
    """The columns of a kind and what fills them."""
    return custom(kind.columns) if kind.custom else built_in(kind.resource)


@functools.cache
def built_in(resource: str) -> tuple[list[Column], Cells]:
    names, cells = BUILT_IN.get(resource, ("Name|Created At:date", cluster.named))
    columns = []
    for name in names.split("|"):
        title, _, type_name = name.rstrip("+").partition(":")
        columns.append(column(title, type_name or "string", int(name.endswith("+"))))
    return columns, cells


def custom(given: tuple[Column, ...]) -> tuple[list[Column], Cells]:
    printed = given or ({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},)
    columns = [column("Name")]
    columns += [column(c["name"], c["type"], c.get("priority", 0)) for c in printed]

    def cells(body: dict[str, Any]) -> list[Any]:
        row: list[Any] = [body["metadata"]["name"]]
        for c in printed:
            value = first(body, c["jsonPath"])
            row.append(age(value) if c["type"] == "date" else value)
        return row

    return columns, cells


# After the colon stands the type where it is no text; a trailing + marks what only `-o wide` shows.
TEMPLATED = "Containers+|Images+|Selector+"
BINDING = "Name|Role|Age|Users+|Groups+|ServiceAccounts+"
EVENT = "Last Seen|Type|Reason|Object|Subobject+|Source+|Message|First Seen+|Count+|Name+"
REPLICAS = f"Name|Desired:integer|Current:integer|Ready:integer|Age|{TEMPLATED}"
HOOKS = "Name|Webhooks:integer|Age"
ADMISSION = "admissionregistration.k8s.io"
BUILT_IN: dict[str, tuple[str, Cells]] = {
    "/pods": ("Name|Ready|Status|Restarts|Age|IP+|Node+|Nominated Node+|Readiness Gates+", workloads.pod),
    "/podtemplates": ("Name|Containers|Images|Pod Labels", workloads.pod_template),
    "/replicationcontrollers": (REPLICAS, workloads.replica_set),
    "/services": ("Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector+", network.service),
    "/endpoints": ("Name|Endpoints|Age", network.endpoints),
    "/nodes": (
        "Name|Status|Roles|Age|Version|Internal-IP+|External-IP+|OS-Image+|Kernel-Version+|Container-Runtime+",
        cluster.node,
    ),
    "/events": (EVENT, cluster.event),
    "/persistentvolumeclaims": (
        "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode+",
        cluster.claim,
    ),
    "/persistentvolumes": (
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age"
        "|VolumeMode+",
        cluster.volume,
    ),
    "/namespaces": ("Name|Status|Age", cluster.namespace),
    "/configmaps": ("Name|Data|Age", cluster.config_map),
    "/secrets": ("Name|Type|Data|Age", cluster.secret),
    "/serviceaccounts": ("Name|Secrets|Age", cluster.account),
    "/resourcequotas": ("Name|Request|Limit|Age", cluster.quota),
    "/componentstatuses": ("Name|Status|Message|Error", cluster.named),
    "apps/deployments": (f"Name|Ready|Up-to-date|Available|Age|{TEMPLATED}", workloads.deployment),
    "apps/replicasets": (REPLICAS, workloads.replica_set),
    "apps/statefulsets": ("Name|Ready|Age|Containers+|Images+", workloads.stateful_set),
    "apps/daemonsets": (
        "Name|Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer"
        f"|Node Selector|Age|{TEMPLATED}",
        workloads.daemon_set,
    ),
    "apps/controllerrevisions": ("Name|Controller|Revision|Age", workloads.revision),
    "batch/jobs": (f"Name|Status|Completions|Duration|Age|{TEMPLATED}", workloads.job),
    "batch/cronjobs": (
        f"Name|Schedule|Timezone|Suspend:boolean|Active:integer|Last Schedule|Age|{TEMPLATED}",
        workloads.cron_job,
    ),
    "autoscaling/horizontalpodautoscalers": (
        "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age",
        workloads.autoscaler,
    ),
    "policy/poddisruptionbudgets": (
        "Name|Min Available|Max Unavailable|Allowed Disruptions:integer|Age",
        workloads.budget,
    ),
    "scheduling.k8s.io/priorityclasses": (
        "Name|Value:integer|Global-Default:boolean|Age|PreemptionPolicy",
        workloads.priority,
    ),
    "networking.k8s.io/ingresses": ("Name|Class|Hosts|Address|Ports|Age", network.ingress),
    "networking.k8s.io/ingressclasses": ("Name|Controller|Parameters|Age", network.ingress_class),
    "networking.k8s.io/networkpolicies": ("Name|Pod-Selector|Age", network.policy),
    "discovery.k8s.io/endpointslices": ("Name|AddressType|Ports|Endpoints|Age", network.endpoint_slice),
    "events.k8s.io/events": (EVENT, cluster.event),
    "coordination.k8s.io/leases": ("Name|Holder|Age", cluster.lease),
    "rbac.authorization.k8s.io/rolebindings": (BINDING, cluster.binding),
    "rbac.authorization.k8s.io/clusterrolebindings": (BINDING, cluster.binding),
    "storage.k8s.io/storageclasses": (
        "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
        cluster.storage_class,
    ),
    "storage.k8s.io/csidrivers": (
        "Name|AttachRequired:boolean|PodInfoOnMount:boolean|StorageCapacity:boolean|TokenRequests"
        "|RequiresRepublish:boolean|Modes|Age",
        cluster.driver,
    ),
    "storage.k8s.io/csinodes": ("Name|Drivers:integer|Age", cluster.driver_node),
    "storage.k8s.io/volumeattachments": ("Name|Attacher|PV|Node|Attached:boolean|Age", cluster.attachment),
    "node.k8s.io/runtimeclasses": ("Name|Handler|Age", cluster.runtime),
    "certificates.k8s.io/certificatesigningrequests": (
        "Name|Age|SignerName|Requestor|RequestedDuration|Condition",
        cluster.signing_request,
    ),
    "apiregistration.k8s.io/apiservices": ("Name|Service|Available|Age", cluster.api_service),
    f"{ADMISSION}/mutatingwebhookconfigurations": (HOOKS, cluster.webhooks),
    f"{ADMISSION}/validatingwebhookconfigurations": (HOOKS, cluster.webhooks),
    f"{ADMISSION}/validatingadmissionpolicies": (
        "Name|Validations:integer|ParamKind|Age",
        cluster.admission_policy,
    ),
    f"{ADMISSION}/validatingadmissionpolicybindings": (
        "Name|PolicyName|ParamRef|Age",
        cluster.admission_binding,
    ),
}
