"""What is particular to a built-in kind: its defaults and what its objects may not be; pure.

Custom kinds have a schema instead. A rule changes the body it is given, which is always a fresh one, cast
into the form of its kind: every struct is there, every zero is where Go writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import checks_ephemeral as ephemeral
from . import rbac, rolerules
from .addresses import carry_service
from .checks_autoscalers import check_autoscaler, complete_autoscaler
from .checks_jobs import check_cron_job, check_job
from .checks_limits import check_limits
from .checks_network import (
    check_endpoints,
    check_ingress,
    check_ingress_class,
    check_policy,
    check_slice,
)
from .checks_pods import check_pod
from .checks_services import check_service
from .checks_storage import check_claim, check_class, check_volume
from .checks_workloads import (
    check_budget,
    check_daemon_set,
    check_deployment,
    check_pod_template,
    check_replication_controller,
    check_stateful_set,
    check_workload,
)
from .definitions import check_definition, default_definition
from .podsecurity import check_levels
from .quota import check_quota
from .rules_admission import check_priority, complete_priority, complete_webhooks
from .rules_admission import complete_policy as complete_admission_policy
from .rules_config import (
    begin_namespace,
    check_keys,
    check_secret,
    complete_limits,
    complete_namespace,
    complete_secret,
)
from .rules_network import (
    complete_endpoints,
    complete_policy,
    complete_service,
    complete_slice,
)
from .rules_pods import begin_pod, complete_pod
from .rules_refusals import check_lease, check_runtime
from .rules_storage import (
    begin_claim,
    begin_volume,
    complete_claim,
    complete_class,
    complete_driver,
    complete_volume,
)
from .rules_workloads import (
    begin_daemon_set,
    begin_job,
    complete_cron_job,
    complete_daemon_set,
    complete_deployment,
    complete_job,
    complete_pod_template,
    complete_replica_set,
    complete_replication_controller,
    complete_stateful_set,
)
from .schema import Violation
from .views_events import check_event

Body = dict[str, Any]


def leave(_: Body) -> None:
    pass


def leave_both(_: Body, __: Body) -> None:
    pass


def allow(_: Body, __: Body | None) -> Iterator[Violation]:
    return iter(())


@dataclass(frozen=True)
class Rules:
    default: Callable[[Body], None] = leave
    """What a new object gets, once."""
    check: Callable[[Body, Body | None], Iterator[Violation]] = allow
    """Given the new and the old body."""
    complete: Callable[[Body], None] = leave
    """What every write fills in."""
    carry: Callable[[Body, Body], None] = leave_both
    """What a change keeps of the old body; given the new one first."""
    counted: bool = False
    """Whether changes are counted in `metadata.generation`."""


RULES: dict[str, Rules] = {
    "/pods": Rules(begin_pod, check_pod, complete_pod, counted=True),
    "/podtemplates": Rules(check=check_pod_template, complete=complete_pod_template, counted=True),
    "/replicationcontrollers": Rules(
        check=check_replication_controller, complete=complete_replication_controller, counted=True
    ),
    "/services": Rules(check=check_service, complete=complete_service, carry=carry_service),
    "/endpoints": Rules(check=check_endpoints, complete=complete_endpoints),
    "/namespaces": Rules(begin_namespace, check_levels, complete=complete_namespace),
    "/secrets": Rules(check=check_secret, complete=complete_secret),
    "/configmaps": Rules(check=check_keys),
    "/events": Rules(check=check_event),
    "coordination.k8s.io/leases": Rules(check=check_lease),
    "node.k8s.io/runtimeclasses": Rules(check=check_runtime),
    "/limitranges": Rules(check=check_limits, complete=complete_limits),
    "/resourcequotas": Rules(check=check_quota),
    "/persistentvolumeclaims": Rules(begin_claim, check_claim, complete_claim),
    "/persistentvolumes": Rules(begin_volume, check_volume, complete_volume),
    "apps/deployments": Rules(check=check_deployment, complete=complete_deployment, counted=True),
    "apps/replicasets": Rules(check=check_workload, complete=complete_replica_set, counted=True),
    "apps/statefulsets": Rules(check=check_stateful_set, complete=complete_stateful_set, counted=True),
    "apps/daemonsets": Rules(begin_daemon_set, check_daemon_set, complete_daemon_set, counted=True),
    "batch/jobs": Rules(begin_job, check_job, complete_job, counted=True),
    "batch/cronjobs": Rules(check=check_cron_job, complete=complete_cron_job, counted=True),
    "autoscaling/horizontalpodautoscalers": Rules(check=check_autoscaler, complete=complete_autoscaler),
    "networking.k8s.io/ingresses": Rules(check=check_ingress, counted=True),
    "networking.k8s.io/ingressclasses": Rules(check=check_ingress_class, counted=True),
    "networking.k8s.io/networkpolicies": Rules(check=check_policy, complete=complete_policy, counted=True),
    "discovery.k8s.io/endpointslices": Rules(check=check_slice, complete=complete_slice, counted=True),
    "policy/poddisruptionbudgets": Rules(check=check_budget, counted=True),
    "storage.k8s.io/storageclasses": Rules(check=check_class, complete=complete_class),
    rbac.ROLES: Rules(check=rolerules.check_role),
    rbac.CLUSTER_ROLES: Rules(check=rolerules.check_cluster_role),
    rbac.BINDINGS: Rules(check=rolerules.check_role_binding, complete=rolerules.complete_binding),
    rbac.CLUSTER_BINDINGS: Rules(check=rolerules.check_cluster_binding, complete=rolerules.complete_binding),
    "storage.k8s.io/csidrivers": Rules(complete=complete_driver),
    "scheduling.k8s.io/priorityclasses": Rules(
        check=check_priority, complete=complete_priority, counted=True
    ),
    "admissionregistration.k8s.io/mutatingwebhookconfigurations": Rules(
        complete=complete_webhooks, counted=True
    ),
    "admissionregistration.k8s.io/validatingwebhookconfigurations": Rules(
        complete=complete_webhooks, counted=True
    ),
    "admissionregistration.k8s.io/validatingadmissionpolicies": Rules(
        complete=complete_admission_policy, counted=True
    ),
    "admissionregistration.k8s.io/validatingadmissionpolicybindings": Rules(
        complete=complete_admission_policy, counted=True
    ),
    "apiextensions.k8s.io/customresourcedefinitions": Rules(
        default_definition, check_definition, counted=True
    ),
}
NO_RULES = Rules()
DOORS: dict[tuple[str, str], Rules] = {
    ("/pods", ephemeral.DOOR): Rules(check=ephemeral.check_visitors, complete=complete_pod, counted=True),
}
"""Subresources through which a part of an object is changed that is closed otherwise."""


def rules_of(resource: str, door: str = "") -> Rules:
    return DOORS.get((resource, door)) or RULES.get(resource, NO_RULES)
