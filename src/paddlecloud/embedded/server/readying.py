"""A body on its way into the store: pruned, completed, admitted, checked.

Nothing is stored that did not come out of `Readying.ready`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from . import celrules, refusals
from .admission import Admission
from .casting import cast, cast_metadata
from .deletion import new_finalizers
from .kinds import CRD, Kind
from .names import check_metadata
from .rules import rules_of
from .schema import default, prune, violations
from .views import kept_kind, to_keep, view_of
from .writing import WriteOptions, report_unknown

Body = dict[str, Any]
MOST = 1000  # problems that are told of one object: who wants to know them all sends it again


class Readying:
    def __init__(self, admission: Admission, named: Callable[[Body], Body]) -> None:
        self._admission = admission
        self._named = named
        """Gives a definition the names it may have."""

    def ready(self, kind: Kind, body: Body, old: Body | None, options: WriteOptions) -> Body:
        """The body as it is stored; raises what is wrong with it."""
        view = view_of(kind)
        # First in the stored bytes, where lists of built-in kinds leave them out.
        rest = {k: v for k, v in body.items() if k not in ("apiVersion", "kind")}
        body = {"apiVersion": kind.api_version, "kind": kind.kind, **rest}
        if kind.schema is not None:
            body, unknown = prune(body, kind.schema)
            body["metadata"], strange = cast_metadata(kind, body)
            report_unknown([*strange, *unknown], options, kind, body)
            body = default(body, kind.schema)
        else:
            body, unknown = cast(kind, body)
            report_unknown(unknown, options, kind, body)
            if view:
                body, _ = cast(kept_kind(kind), to_keep(kind, body))
                kind = kept_kind(kind)
            self._complete(kind, body, old, options)
        if options.admit is not None:
            options.admit(body, old)
        found = [*islice(check_metadata(kind, body["metadata"]), MOST), *new_finalizers(body, old)]
        if kind.schema is not None:
            found += violations(body, kind.schema)[:MOST]
            found += celrules.asked(kind.rules, body, old, found)
        elif not options.checked:
            check = view.check if view and view.check else rules_of(kind.resource, options.door).check
            found += islice(check(body, old), MOST)
        if found:
            raise refusals.invalid(kind, body["metadata"].get("name") or "", found)
        return self._named(body) if kind == CRD else body

    def give_access(self, kind: Kind, body: Body, suffix: Callable[[], str]) -> None:
        """What a new object is given after its owners are known: nobody owns it."""
        if kind.resource == "/pods":
            self._admission.give_access(body, suffix())

    def _complete(self, kind: Kind, body: Body, old: Body | None, options: WriteOptions) -> None:
        rules = rules_of(kind.resource)
        rules.complete(body)
        if old is None:
            self._admission.admit(kind, body, options)
            rules.default(body)
        else:
            rules.carry(body, old)
            self._admission.admit_change(kind, body, old, options)
