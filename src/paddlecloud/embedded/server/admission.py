"""What an object gets from others when it is made, and why they may refuse it: accounts, classes, limits.

These are the plug-ins that are on in every Kubernetes. They look at the store and change nothing in it; a
refusal is `Forbidden` in the words of the plug-in.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from ...errors import Forbidden
from ..store import Place, Store
from . import limits, podaccess, podsecurity, refusals
from .checks_ephemeral import DOOR
from .facts.scalars import amount
from .kinds import Kind
from .writing import WriteOptions

Body = dict[str, Any]
PRIORITIES, RUNTIMES = "scheduling.k8s.io/priorityclasses", "node.k8s.io/runtimeclasses"
STORAGE, INGRESSES = "storage.k8s.io/storageclasses", "networking.k8s.io/ingressclasses"
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
MIRROR = "kubernetes.io/config.mirror"  # on pods that a node has made itself and only shows
LIMITED = ("/pods", "/persistentvolumeclaims")
# Where the pods that an object makes are described.
TEMPLATED = (
    "/podtemplates", "/replicationcontrollers", "apps/deployments", "apps/replicasets", "apps/statefulsets",
    "apps/daemonsets", "batch/jobs", "batch/cronjobs",
)  # fmt: skip


class Admission:
    def __init__(self, store: Store) -> None:
        self._store = store

    def admit(self, kind: Kind, body: Body, options: WriteOptions) -> None:
        """Complete a new object; raises `Forbidden`."""
        resource = kind.resource
        if resource == "/pods":
            self._limit(kind, body)
            self._account(kind, body)
            self._secure(kind, body, options)
            self._prioritize(kind, body)
            self._runtime(kind, body)
        elif resource == "/persistentvolumeclaims":
            if "storageClassName" not in body["spec"]:
                self._classify(body, STORAGE, "storageClassName", "storageclass")
            self._limit(kind, body)
        elif resource == "/nodes":
            keep_pods_away(body)
        elif resource == "networking.k8s.io/ingresses":
            if "kubernetes.io/ingress.class" in (body["metadata"].get("annotations") or {}):
                options.warnings.append(DEPRECATED_CLASS)
            elif "ingressClassName" not in body["spec"]:
                self._classify(body, INGRESSES, "ingressClassName", "ingressclass")
        elif resource in TEMPLATED:
            self._warn(body, options)

    def admit_change(self, kind: Kind, body: Body, old: Body, options: WriteOptions) -> None:
        """What others have to say to a change; raises `Forbidden`."""
        if options.door == DOOR:
            self._secure(kind, body, options)
        if kind.resource == "/persistentvolumeclaims":
            self._grow(kind, body, old)

    def _grow(self, kind: Kind, claim: Body, old: Body) -> None:
        asked, had = (amount(requested(b["spec"])) for b in (claim, old))
        if asked <= had:
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise refused(kind, claim, "Only bound persistent volume claims can be expanded")
        entry = self._store.get(Place(STORAGE, "", claim["spec"].get("storageClassName") or ""))
        if entry is None or not entry.load().get("allowVolumeExpansion"):
            why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the "
            raise refused(kind, claim, why + "pvc must support resize")

    def _limit(self, kind: Kind, body: Body) -> None:
        ranges = [e.load() for e in self._store.entries("/limitranges", body["metadata"]["namespace"])]
        if not ranges:
            return
        if kind.resource == "/pods":
            limits.fill(body, ranges)
        found = limits.problems(kind.resource, body, ranges)
        if found:
            raise refused(kind, body, found[0] if len(found) == 1 else f"[{', '.join(found)}]")

    def _account(self, kind: Kind, pod: Body) -> None:
        spec, namespace = pod["spec"], pod["metadata"]["namespace"]
        name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
        entry = self._store.get(Place("/serviceaccounts", namespace, name))
        if entry is None:
            # The default one is made by a controller a moment after its namespace: nobody is kept waiting.
            if name == "default":
                return
            why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
            raise refused(kind, pod, why)
        if not spec.get("imagePullSecrets") and (secrets := entry.body.get("imagePullSecrets")):
            spec["imagePullSecrets"] = copy.deepcopy(secrets)

    def give_access(self, pod: Body, suffix: str) -> None:
        """Let a new pod reach the API, unless it or its account wants it not to."""
        if MIRROR in (pod["metadata"].get("annotations") or {}):
            return
        spec, namespace = pod["spec"], pod["metadata"]["namespace"]
        account = spec.get("serviceAccountName") or "default"
        entry = self._store.get(Place("/serviceaccounts", namespace, account))
        if podaccess.wanted(spec, entry.load() if entry else None):
            podaccess.give_access(spec, suffix)

    def _secure(self, kind: Kind, pod: Body, options: WriteOptions) -> None:
        namespace = self._namespace(pod)
        level, version = podsecurity.level_of(namespace, "enforce")
        if problem := podsecurity.violated(pod["spec"], level):
            raise refused(kind, pod, f'violates PodSecurity "{level}:{version}": {problem}')
        self._warned(pod["spec"], namespace, options)

    def _warn(self, body: Body, options: WriteOptions) -> None:
        template: Body = body.get("template") or (body.get("spec") or {}).get("template") or {}
        if "jobTemplate" in (body.get("spec") or {}):
            template = body["spec"]["jobTemplate"]["spec"]["template"]
        if template:
            self._warned(template["spec"], self._namespace(body), options)

    def _warned(self, spec: Body, namespace: Body, options: WriteOptions) -> None:
        level, version = podsecurity.level_of(namespace, "warn")
        if problem := podsecurity.violated(spec, level):
            options.warnings.append(f'would violate PodSecurity "{level}:{version}": {problem}')

    def _namespace(self, body: Body) -> Body:
        entry = self._store.get(Place("/namespaces", "", body["metadata"]["namespace"]))
        return entry.body if entry else {"metadata": {}}

    def _prioritize(self, kind: Kind, pod: Body) -> None:
        spec = pod["spec"]
        found = self._priority(kind, pod, spec.get("priorityClassName") or "")
        value, policy = (found.get("value", 0), found.get("preemptionPolicy")) if found else (0, None)
        policy = policy or "PreemptLowerPriority"
        computed = "must not be provided in pod spec; priority admission controller computed"
        end = "from the given PriorityClass name"
        if spec.get("priority") not in (None, value):
            why = f"the integer value of priority ({spec['priority']}) {computed} {value} {end}"
            raise refused(kind, pod, why)
        if spec.get("preemptionPolicy") not in (None, policy):
            why = (
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) {computed} {policy} {end}"
            )
            raise refused(kind, pod, why)
        spec["priority"], spec["preemptionPolicy"] = value, policy
        if found:
            spec["priorityClassName"] = found["metadata"]["name"]

    def _priority(self, kind: Kind, pod: Body, name: str) -> Body | None:
        if name:
            entry = self._store.get(Place(PRIORITIES, "", name))
            if entry is None:
                raise refused(kind, pod, f"no PriorityClass with name {name} was found")
            return entry.body
        general = [c for c in self._all(PRIORITIES) if c.get("globalDefault")]
        return min(general, key=lambda c: int(c["value"]), default=None)

    def _runtime(self, kind: Kind, pod: Body) -> None:
        spec = pod["spec"]
        name, overhead = spec.get("runtimeClassName"), spec.get("overhead")
        if not name:
            if overhead:
                why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
                raise refused(kind, pod, f"pod rejected: {why}")
            return
        entry = self._store.get(Place(RUNTIMES, "", name))
        if entry is None:
            raise refused(kind, pod, f'pod rejected: RuntimeClass "{name}" not found')
        runtime = entry.load()
        fixed = (runtime.get("overhead") or {}).get("podFixed")
        if overhead and overhead != fixed:
            why = "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            raise refused(kind, pod, f"pod rejected: {why}")
        if fixed:
            spec["overhead"] = fixed
        scheduling = runtime.get("scheduling") or {}
        for key, value in (scheduling.get("nodeSelector") or {}).items():
            own = (spec.get("nodeSelector") or {}).get(key, value)
            if own != value:
                path = f"nodeSelector[{key}]"
                why = f"conflict: runtimeClass.scheduling.{path} = {value}; pod.spec.{path} = {own}"
                raise refused(kind, pod, why)
            spec.setdefault("nodeSelector", {})[key] = value
        for toleration in scheduling.get("tolerations") or ():
            if toleration not in (spec.get("tolerations") or ()):
                spec["tolerations"] = [*(spec.get("tolerations") or ()), toleration]

    def _classify(self, body: Body, resource: str, field: str, prefix: str) -> None:
        """The class that is marked as the default one; of several the newest."""
        key = f"{prefix}.kubernetes.io/is-default-class"
        marked = [
            c for c in self._all(resource) if (c["metadata"].get("annotations") or {}).get(key) == "true"
        ]
        if marked:
            marked.sort(key=lambda c: c["metadata"]["name"])
            newest = max(marked, key=lambda c: str(c["metadata"]["creationTimestamp"]))
            body["spec"][field] = newest["metadata"]["name"]

    def _all(self, resource: str) -> Iterator[Body]:
        return (e.body for e in self._store.entries(resource))


DEPRECATED_CLASS = (
    "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
)


def keep_pods_away(node: Body) -> None:
    """Nothing is placed on a new node before somebody has looked at its conditions."""
    taints = node["spec"].get("taints") or []
    if not any((t.get("key"), t.get("effect")) == (NOT_READY["key"], NOT_READY["effect"]) for t in taints):
        node["spec"]["taints"] = [*taints, dict(NOT_READY)]


def requested(spec: Body) -> str:
    return str(((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0")


def refused(kind: Kind, body: Body, why: str) -> Forbidden:
    name = str(body["metadata"].get("name") or "")
    return Forbidden(
        f'{kind.full_name} "{name}" is forbidden: {why}', details=refusals.not_found(kind, name).details
    )
