"""Models that answer: the model server, and the gateway that finds the pods of a service."""
