"""Volumes of a pod: the folders and files that stand for them, kept as the cluster says while it lives."""

from .mounting import lacks as lacks
from .mounting import mounts as mounts
from .places import ACCESS_PATH as ACCESS_PATH
from .places import Place as Place
from .places import Sources as Sources
from .places import has_access as has_access
from .preparing import prepare as prepare
