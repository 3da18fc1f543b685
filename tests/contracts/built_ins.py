"""The least a client may write for an object of each built-in kind, and where it is written to."""

from __future__ import annotations

from typing import Any, NamedTuple

LABELS = {"app": "x"}


class Manifest(NamedTuple):
    api_version: str
    plural: str
    body: dict[str, Any]
    namespaced: bool = True

    def path(self, namespace: str) -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if self.namespaced else f"{root}/{self.plural}"


def containers(**more: Any) -> list[dict[str, Any]]:
    return [{"name": "main", "image": "example/image", **more}]


def template(**spec: Any) -> dict[str, Any]:
    # A scheduler nobody runs: the pods of a controller stay as they are.
    pod = {"schedulerName": "nobody", "containers": containers(), **spec}
    return {"metadata": {"labels": LABELS}, "spec": pod}


SELECTOR = {"matchLabels": LABELS}
PROBED = containers(
    ports=[{"containerPort": 80}],
    readinessProbe={"httpGet": {"port": 80}},
    livenessProbe={"exec": {"command": ["true"]}, "timeoutSeconds": 5},
    startupProbe={"grpc": {"port": 81}},
    resources={"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {"cpu": 0.5}},
    env=[{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
    volumeMounts=[{"name": "scratch", "mountPath": "/scratch"}],
)
VOLUMES: list[dict[str, Any]] = [
    {"name": "scratch"},
    {"name": "settings", "configMap": {"name": "settings"}},
    {"name": "secret", "secret": {"secretName": "secret"}},
    {"name": "host", "hostPath": {"path": "/data"}},
    {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    {"name": "about", "downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
]
ROLE_REF = {"apiGroup": "rbac.authorization.k8s.io", "name": "view"}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
BACKEND = {"service": {"name": "x", "port": {"number": 80}}}

MANIFESTS: dict[str, Manifest] = {
    "pod": Manifest(
        "v1",
        "pods",
        {"spec": {"schedulerName": "nobody", "automountServiceAccountToken": False,
                  "containers": containers()}},
    ),
    "pod-with-all": Manifest(
        "v1",
        "pods",
        {"spec": {"schedulerName": "nobody", "automountServiceAccountToken": False, "containers": PROBED,
                  "initContainers": [{"name": "first", "image": "example/image:1"}], "volumes": VOLUMES}},
    ),
    "configmap": Manifest("v1", "configmaps", {"data": {"a": "1"}}),
    "secret": Manifest("v1", "secrets", {"stringData": {"a": "1"}}),
    "service": Manifest("v1", "services", {"spec": {"selector": LABELS, "ports": [{"port": 80}]}}),
    "service-headless": Manifest(
        "v1", "services", {"spec": {"clusterIP": "None", "selector": LABELS, "ports": [{"port": 80}]}}
    ),
    "service-external": Manifest(
        "v1", "services", {"spec": {"type": "ExternalName", "externalName": "example.org"}}
    ),
    "serviceaccount": Manifest("v1", "serviceaccounts", {}),
    "endpoints": Manifest(
        "v1", "endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}
    ),
    "claim": Manifest(
        "v1",
        "persistentvolumeclaims",
        {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
                  "resources": {"requests": {"storage": "1024Mi"}}}},
    ),
    "volume": Manifest(
        "v1",
        "persistentvolumes",
        {"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                  "storageClassName": "nobody", "hostPath": {"path": "/data"}}},
        namespaced=False,
    ),
    "quota": Manifest("v1", "resourcequotas", {"spec": {"hard": {"pods": 10, "requests.cpu": "2000m"}}}),
    "limitrange": Manifest(
        "v1", "limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}}
    ),
    "podtemplate": Manifest("v1", "podtemplates", {"template": template()}),
    "replicationcontroller": Manifest(
        "v1", "replicationcontrollers", {"spec": {"replicas": 0, "template": template()}}
    ),
    "node": Manifest("v1", "nodes", {}, namespaced=False),
    "namespace": Manifest("v1", "namespaces", {}, namespaced=False),
    "event": Manifest(
        "v1",
        "events",
        {"involvedObject": {"kind": "Pod", "name": "x"}, "reason": "Tested", "message": "a test"},
    ),
    "deployment": Manifest(
        "apps/v1", "deployments", {"spec": {"selector": SELECTOR, "template": template()}}
    ),
    "replicaset": Manifest(
        "apps/v1", "replicasets", {"spec": {"selector": SELECTOR, "template": template()}}
    ),
    "statefulset": Manifest(
        "apps/v1",
        "statefulsets",
        {"spec": {"selector": SELECTOR, "serviceName": "x", "template": template(),
                  "volumeClaimTemplates": [
                      {"metadata": {"name": "data"},
                       "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
                                "resources": {"requests": {"storage": "1Gi"}}}}]}},
    ),
    "daemonset": Manifest("apps/v1", "daemonsets", {"spec": {"selector": SELECTOR, "template": template()}}),
    "controllerrevision": Manifest("apps/v1", "controllerrevisions", {"data": {"a": 1}, "revision": 1}),
    "job": Manifest("batch/v1", "jobs", {"spec": {"template": template(restartPolicy="Never")}}),
    "cronjob": Manifest(
        "batch/v1",
        "cronjobs",
        {"spec": {"schedule": "0 0 1 1 *",
                  "jobTemplate": {"spec": {"template": template(restartPolicy="Never")}}}},
    ),
    "hpa": Manifest(
        "autoscaling/v2",
        "horizontalpodautoscalers",
        {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "x"}}},
    ),
    "ingress": Manifest(
        "networking.k8s.io/v1",
        "ingresses",
        {"spec": {"rules": [{"http": {"paths": [{"pathType": "Prefix", "path": "/", "backend": BACKEND}]}}]}},
    ),
    "ingressclass": Manifest(
        "networking.k8s.io/v1", "ingressclasses", {"spec": {"controller": "example.org/x"}}, namespaced=False
    ),
    "networkpolicy": Manifest(
        "networking.k8s.io/v1", "networkpolicies", {"spec": {"podSelector": {}, "egress": [{}]}}
    ),
    "role": Manifest("rbac.authorization.k8s.io/v1", "roles", {"rules": RULES}),
    "rolebinding": Manifest(
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        {"roleRef": {"kind": "ClusterRole", **ROLE_REF},
         "subjects": [{"kind": "User", "name": "x"}, {"kind": "ServiceAccount", "name": "y"}]},
    ),
    "clusterrole": Manifest(
        "rbac.authorization.k8s.io/v1", "clusterroles", {"rules": RULES}, namespaced=False
    ),
    "clusterrolebinding": Manifest(
        "rbac.authorization.k8s.io/v1",
        "clusterrolebindings",
        {"roleRef": {"kind": "ClusterRole", **ROLE_REF}},
        namespaced=False,
    ),
    "budget": Manifest(
        "policy/v1", "poddisruptionbudgets", {"spec": {"selector": SELECTOR, "minAvailable": 1}}
    ),
    "storageclass": Manifest(
        "storage.k8s.io/v1", "storageclasses", {"provisioner": "example.org/x"}, namespaced=False
    ),
    "priorityclass": Manifest(
        "scheduling.k8s.io/v1", "priorityclasses", {"value": 1000}, namespaced=False
    ),
    "lease": Manifest(
        "coordination.k8s.io/v1",
        "leases",
        {"spec": {"holderIdentity": "x", "renewTime": "2026-01-02T03:04:05.000000Z"}},
    ),
    "endpointslice": Manifest(
        "discovery.k8s.io/v1",
        "endpointslices",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]},
    ),
    "runtimeclass": Manifest("node.k8s.io/v1", "runtimeclasses", {"handler": "x"}, namespaced=False),
    "csidriver": Manifest("storage.k8s.io/v1", "csidrivers", {"spec": {}}, namespaced=False),
    "webhook": Manifest(
        "admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
        {"webhooks": [{"name": "x.example.org", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                       "clientConfig": {"service": {"namespace": "default", "name": "x"}}}]},
        namespaced=False,
    ),
}  # fmt: skip


def rested(key: str, **spec: Any) -> Manifest:
    """A manifest that no controller finds anything to do about."""
    manifest = MANIFESTS[key]
    return manifest._replace(body={**manifest.body, "spec": {**manifest.body["spec"], **spec}})


RBAC = "rbac.authorization.k8s.io/v1"
ADMISSION = "admissionregistration.k8s.io/v1"
SCALED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}
ADDRESSES = [f"10.0.0.{i}" for i in range(1, 6)]
PORTS = [{"name": name, "port": port} for port, name in enumerate("abcd", 80)]
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}

SHOWN: dict[str, Manifest] = {
    **{k: m for k, m in MANIFESTS.items() if k not in ("quota", "volume")},
    "deployment": rested("deployment", replicas=0),
    "replicaset": rested("replicaset", replicas=0),
    "statefulset": rested("statefulset", replicas=0),
    "daemonset": rested("daemonset", template=template(nodeSelector={"a": "b"})),
    "cronjob": rested("cronjob", suspend=True, timeZone="Etc/UTC"),
    "ingress-with-tls": rested(
        "ingress", ingressClassName="nginx", tls=[{"hosts": ["a.b"]}],
        rules=[{"host": "a.b"}, {"host": "c.d"}],
    ),
    "storageclass-default": MANIFESTS["storageclass"]._replace(
        body={"provisioner": "example.org/x", "allowVolumeExpansion": True,
              "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
    ),
    "budget-of-failures": rested("budget", minAvailable=None, maxUnavailable="30%"),
    "service-of-two": rested(
        "service", selector=None, externalIPs=["1.2.3.4"],
        ports=[{"name": "a", "port": 1}, {"name": "b", "port": 2, "protocol": "UDP"}],
    ),
    "endpointslice-of-many": MANIFESTS["endpointslice"]._replace(
        body={"addressType": "IPv4", "endpoints": [{"addresses": [a]} for a in ADDRESSES], "ports": PORTS}
    ),
    "endpoints-of-many": MANIFESTS["endpoints"]._replace(
        body={"subsets": [{"addresses": [{"ip": a} for a in ADDRESSES], "ports": PORTS[:2]}]}
    ),
    "event-of-container": MANIFESTS["event"]._replace(
        body={"involvedObject": {"kind": "Pod", "name": "x", "fieldPath": "spec.containers{main}"},
              "reason": "Tested", "message": " a test\n", "type": "Normal", "count": 3,
              "source": {"component": "c", "host": "h"}}
    ),
    "networkpolicy-of-some": rested(
        "networkpolicy",
        podSelector={"matchLabels": {"b": "1", "a": "2"},
                     "matchExpressions": [{"key": "z", "operator": "In", "values": ["q", "p"]},
                                          {"key": "y", "operator": "Exists"}]},
    ),
    "clusterrolebinding-of-many": MANIFESTS["clusterrolebinding"]._replace(
        body={"roleRef": {"kind": "ClusterRole", **ROLE_REF},
              "subjects": [{"kind": "User", "name": "u"}, {"kind": "Group", "name": "g"},
                           {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]}
    ),
    "autoscaler-of-old": Manifest(
        "autoscaling/v1",
        "horizontalpodautoscalers",
        {"spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 50, "scaleTargetRef": SCALED}},
    ),
    "node-with-roles": MANIFESTS["node"]._replace(
        body={"metadata": {"labels": {"node-role.kubernetes.io/b": "", "kubernetes.io/role": "a"}},
              "spec": {"unschedulable": True}}
    ),
    "csinode": Manifest("storage.k8s.io/v1", "csinodes", {"spec": {"drivers": []}}, namespaced=False),
    "attachment": Manifest(
        "storage.k8s.io/v1",
        "volumeattachments",
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}}},
        namespaced=False,
    ),
    "capacity": Manifest(
        "storage.k8s.io/v1", "csistoragecapacities", {"storageClassName": "s", "capacity": "1Gi"}
    ),
    "admissionpolicy": Manifest(
        ADMISSION,
        "validatingadmissionpolicies",
        {"spec": {"validations": [{"expression": "true"}], "matchConstraints": {"resourceRules": [RULE]}}},
        namespaced=False,
    ),
    "admissionbinding": Manifest(
        ADMISSION,
        "validatingadmissionpolicybindings",
        {"spec": {"policyName": "contract-x", "validationActions": ["Audit"],
                  "matchResources": {"namespaceSelector": {"matchLabels": {"nobody": "here"}}}}},
        namespaced=False,
    ),
    "mutatingwebhook": Manifest(
        ADMISSION, "mutatingwebhookconfigurations", {"webhooks": []}, namespaced=False
    ),
    "lease-of-nobody": Manifest("coordination.k8s.io/v1", "leases", {}),
}  # fmt: skip
