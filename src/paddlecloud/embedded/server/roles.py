"""The roles and bindings every cluster begins with: those Kubernetes has and clients expect, and our own.

Each of our processes may do what its work needs; nothing here reads secrets but the node, which mounts
them, and the two collectors, which may have to delete anything. Programs in pods (pipeline steps, the
uploader) act in their own namespace only: `component_binding` is made once in each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .ourkinds import plurals as our_plurals
from .rbac import GROUP, MASTERS
from .users import AUTHENTICATED

Body = dict[str, Any]
READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "patch", "update")
ALL = (*WRITE, *READ)
BOOTSTRAPPED = {"kubernetes.io/bootstrapping": "rbac-defaults"}
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
CONTROLLERS, NODE, GATEWAY = (f"system:paddlecloud:{n}" for n in ("controllers", "node", "gateway"))
COMPONENT = "paddlecloud-component"
COMPONENT_ACCOUNTS = ("default", "pipeline-runner")


def rule(groups: str, resources: str, *verbs: str) -> Body:
    """Words apart by spaces; `core` stands for the group without a name."""
    named = ["" if g == "core" else g for g in groups.split()]
    return {"verbs": sorted(verbs), "apiGroups": named, "resources": sorted(resources.split())}


def paths(*urls: str) -> Body:
    return {"verbs": ["get"], "nonResourceURLs": list(urls)}


def ours(*verbs: str, status: bool = False) -> list[Body]:
    """A rule for each group of our kinds."""
    plurals: dict[str, set[str]] = {}
    for group, plural in our_plurals():
        found = plurals.setdefault(group, set())
        found |= {plural, f"{plural}/status"} if status else {plural}
    return [rule(group, " ".join(names), *verbs) for group, names in sorted(plurals.items())]


HEALTH = ("/healthz", "/livez", "/readyz", "/version", "/version/")
VIEW = [
    rule("core", "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "
         "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
         *READ),
    rule("core", "bindings events limitranges namespaces/status pods/log pods/status "
         "replicationcontrollers/status resourcequotas resourcequotas/status", *READ),
    rule("core", "namespaces", *READ),
    rule("discovery.k8s.io", "endpointslices", *READ),
    rule("apps", "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
         "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
         "statefulsets/scale statefulsets/status", *READ),
    rule("autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", *READ),
    rule("batch", "cronjobs cronjobs/status jobs jobs/status", *READ),
    rule("policy", "poddisruptionbudgets poddisruptionbudgets/status", *READ),
    rule("networking.k8s.io", "ingresses ingresses/status networkpolicies", *READ),
]  # fmt: skip
EDIT = [
    rule("core", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", *READ),
    rule("core", "serviceaccounts", "impersonate"),
    rule("core", "pods pods/attach pods/exec pods/portforward pods/proxy", *WRITE),
    rule("core", "pods/eviction serviceaccounts/token", "create"),
    rule("core", "configmaps events persistentvolumeclaims replicationcontrollers "
         "replicationcontrollers/scale secrets serviceaccounts services services/proxy", *WRITE),
    rule("apps", "daemonsets deployments deployments/rollback deployments/scale replicasets "
         "replicasets/scale statefulsets statefulsets/scale", *WRITE),
    rule("autoscaling", "horizontalpodautoscalers", *WRITE),
    rule("batch", "cronjobs jobs", *WRITE),
    rule("policy", "poddisruptionbudgets", *WRITE),
    rule("networking.k8s.io", "ingresses networkpolicies", *WRITE),
    rule("coordination.k8s.io", "leases", *ALL),
]  # fmt: skip
ADMIN = [
    rule("authorization.k8s.io", "localsubjectaccessreviews", "create"),
    rule(GROUP, "roles rolebindings", *ALL),
]
ANY = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
EVENTS = rule("core events.k8s.io", "events", "create", "get", "patch", "update")

# A program of a pipeline makes our objects and waits for them; volumes, servers and jobs beside them, and the
# report of an upload. Secrets it may only name in what it makes.
COMPONENT_RULES = [
    *ours("create", "delete", "patch", "update", *READ),
    rule("core", "persistentvolumeclaims services", "create", "delete", "patch", *READ),
    rule("core", "configmaps", "create", "get", "patch", "update"),
    rule("core", "pods", *READ),
    rule("apps", "deployments", "create", "delete", "patch", *READ),
    rule("batch", "jobs", "create", "delete", "patch", *READ),
]

PLAIN: dict[str, list[Body]] = {
    "cluster-admin": [ANY, {"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "system:basic-user": [
        rule("authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create"),
        rule("authentication.k8s.io", "selfsubjectreviews", "create"),
    ],
    "system:discovery": [paths("/api", "/api/*", "/apis", "/apis/*", *HEALTH, "/openapi", "/openapi/*")],
    "system:public-info-viewer": [paths(*HEALTH)],
    "system:monitoring": [
        paths("/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis",
              "/readyz", "/readyz/*")
    ],
    "system:service-account-issuer-discovery": [
        paths("/.well-known/openid-configuration", "/.well-known/openid-configuration/",
              "/openid/v1/jwks", "/openid/v1/jwks/")
    ],
    "system:auth-delegator": [
        rule("authentication.k8s.io", "tokenreviews", "create"),
        rule("authorization.k8s.io", "subjectaccessreviews", "create"),
    ],
    "system:node": [
        rule("core", "services endpoints pods", *READ),
        rule("core", "nodes", "create", "patch", "update", *READ),
        rule("core", "nodes/status pods/status", "patch", "update"),
        rule("core", "pods", "create", "delete"),
        rule("core", "pods/eviction serviceaccounts/token", "create"),
        rule("core", "configmaps secrets persistentvolumeclaims persistentvolumes serviceaccounts", *READ),
        rule("core", "persistentvolumeclaims/status", "get", "patch", "update"),
        rule("discovery.k8s.io", "endpointslices", *READ),
        rule("coordination.k8s.io", "leases", "create", "delete", "get", "patch", "update"),
        rule("authentication.k8s.io", "tokenreviews", "create"),
        rule("authorization.k8s.io", "subjectaccessreviews localsubjectaccessreviews", "create"),
        EVENTS,
    ],
    "system:kube-scheduler": [
        rule("core", "nodes pods persistentvolumeclaims persistentvolumes namespaces", *READ),
        rule("core", "bindings pods/binding", "create"),
        rule("core", "pods/status", "patch", "update"),
        EVENTS,
    ],
    "system:controller:generic-garbage-collector": [
        rule("*", "*", "delete", "patch", "update", *READ), EVENTS,
    ],
    "system:controller:namespace-controller": [
        rule("core", "namespaces", "delete", *READ),
        rule("core", "namespaces/finalize namespaces/status", "update", "patch"),
        rule("*", "*", "delete", "deletecollection", "get", "list"),
    ],
    CONTROLLERS: [
        rule("core", "configmaps endpoints persistentvolumeclaims persistentvolumes pods serviceaccounts "
             "services", "create", "patch", "update"),
        # Tokens of the data runtimes are made here; other secrets are named, never listed.
        rule("core", "secrets", "create", "get"),
        rule("core", "nodes", "patch"),
        rule("core", "nodes/status persistentvolumeclaims/status persistentvolumes/status pods/status "
             "resourcequotas/status services/status", "patch", "update"),
        rule("core", "pods/log", "get"),
        rule("core", "pods/eviction", "create"),
        rule("apps", "controllerrevisions daemonsets deployments replicasets statefulsets", *ALL),
        rule("apps", "*/status */scale", "get", "patch", "update"),
        rule("batch", "cronjobs jobs", *ALL),
        rule("batch autoscaling policy", "*/status", "patch", "update"),
        rule("autoscaling", "horizontalpodautoscalers", *ALL),
        rule("metrics.k8s.io", "pods", "get", "list"),
        rule("discovery.k8s.io", "endpointslices", *ALL),
        rule("coordination.k8s.io", "leases", *ALL),
        rule("networking.k8s.io", "ingresses/status", "patch", "update"),
        *ours(*ALL, status=True),
        # The one role it may give to others, in the namespaces that come into being.
        rule(GROUP, "rolebindings", "create", "get"),
        {**rule(GROUP, "clusterroles", "bind"), "resourceNames": [COMPONENT]},
        EVENTS,
    ],
    GATEWAY: [
        rule("core", "pods", *READ),
        # The pipelines service, which is part of it, keeps all it knows as objects.
        rule("workflows.paddlepaddle.org",
             "experiments pipelines pipelineversions recurringruns workflowruns",
             "create", "delete", "patch", *READ),
        rule("workflows.paddlepaddle.org", "steprecords", *READ),
        rule("core", "configmaps", "create", "get", "patch"),
        rule("core", "pods/log", "get"),
        rule("serving.knative.dev", "services revisions", *READ),
        rule("serving.knative.dev", "revisions", "patch"),
        rule("apps", "deployments", *READ),
        rule("apps", "deployments/scale", "patch"),
    ],
    # What a call to a Service wakes.
    NODE: [rule("apps", "deployments/scale", "patch")],
    COMPONENT: COMPONENT_RULES,
}  # fmt: skip


def aggregated(name: str, target: str, labels: Body | None = None) -> Body:
    """A role whose rules are those of every role labelled for it."""
    rule = {"clusterRoleSelectors": [{"matchLabels": to(target)}]}
    return cluster_role(name, None, labels) | {"aggregationRule": rule}


def cluster_role(name: str, rules: list[Body] | None, labels: Body | None = None) -> Body:
    metadata = {"name": name, "labels": BOOTSTRAPPED | (labels or {}), "annotations": {AUTOUPDATE: "true"}}
    return {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def to(target: str) -> Body:
    return {f"{GROUP}/aggregate-to-{target}": "true"}


def cluster_roles() -> Iterator[Body]:
    for name, rules in PLAIN.items():
        yield cluster_role(name, rules)
    yield cluster_role("system:aggregate-to-admin", ADMIN, to("admin"))
    yield cluster_role("system:aggregate-to-edit", EDIT, to("edit"))
    yield cluster_role("system:aggregate-to-view", VIEW, to("view"))
    yield cluster_role("paddlecloud-aggregate-to-edit", ours(*WRITE), to("edit"))
    yield cluster_role("paddlecloud-aggregate-to-view", ours(*READ, status=True), to("view"))
    measured = [rule("metrics.k8s.io", "nodes pods", "get", "list", "watch")]
    readers = to("view") | to("edit") | to("admin")
    yield cluster_role("system:aggregated-metrics-reader", measured, readers)
    # Whoever edits may look, and whoever administrates may edit.
    yield aggregated("admin", "admin")
    yield aggregated("edit", "edit", to("admin"))
    yield aggregated("view", "view", to("edit"))


def bindings() -> Iterator[Body]:
    yield cluster_binding("cluster-admin", "Group", MASTERS)
    for name in ("system:basic-user", "system:discovery", "system:public-info-viewer"):
        yield cluster_binding(name, "Group", AUTHENTICATED)
    yield cluster_binding("system:monitoring", "Group", "system:monitoring")
    yield cluster_binding("system:service-account-issuer-discovery", "Group", "system:serviceaccounts")
    yield cluster_binding("system:node", "User", NODE)
    yield cluster_binding(NODE, "User", NODE)
    yield cluster_binding("system:kube-scheduler", "User", CONTROLLERS)
    for name in ("generic-garbage-collector", "namespace-controller"):
        yield cluster_binding(f"system:controller:{name}", "User", CONTROLLERS)
    yield cluster_binding(CONTROLLERS, "User", CONTROLLERS)
    yield cluster_binding(GATEWAY, "User", GATEWAY)


def cluster_binding(role: str, kind: str, subject: str) -> Body:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role, "labels": dict(BOOTSTRAPPED), "annotations": {AUTOUPDATE: "true"}},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": kind, "apiGroup": GROUP, "name": subject}],
    }


def component_binding(namespace: str) -> Body:
    """What the programs of a namespace may do in it, and nowhere else."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "paddlecloud-components", "namespace": namespace},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": COMPONENT},
        "subjects": [
            {"kind": "ServiceAccount", "name": n, "namespace": namespace} for n in COMPONENT_ACCOUNTS
        ],
    }


def has_components(namespace: str) -> bool:
    """The namespaces of the cluster itself run no programs of users."""
    return not namespace.startswith("kube-")
