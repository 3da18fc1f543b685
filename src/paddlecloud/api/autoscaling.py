"""View of HorizontalPodAutoscaler: identity typed, the rest as it came."""

from __future__ import annotations

from typing import Any

from .meta import Resource


class HorizontalPodAutoscaler(Resource):
    api_version, plural, short_names = "autoscaling/v2", "horizontalpodautoscalers", ("hpa",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
