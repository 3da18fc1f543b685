"""Speaks to any Kubernetes API: who we are, what we ask, and a cache that follows the answers."""
