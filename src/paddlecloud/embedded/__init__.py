"""A cluster on one machine: the Kubernetes API on SQLite, and nodes that run pods as processes."""
