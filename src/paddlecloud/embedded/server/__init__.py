"""The Kubernetes API on the store: one file a concern, every rule a function of its arguments."""
