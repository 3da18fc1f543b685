"""The store: every object ever written, one row a revision, newest last."""

from .entries import Change, Changes, Entry, Place
from .store import Store
from .watches import Watch

__all__ = ["Change", "Changes", "Entry", "Place", "Store", "Watch"]
