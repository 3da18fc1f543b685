"""What Kubernetes 1.33 says about its built-in kinds, as data; made by `make facts`, read when asked."""

from .book import definitions, digest, kinds, names_in, schema_name, schema_of, type_of, version

__all__ = ["definitions", "digest", "kinds", "names_in", "schema_name", "schema_of", "type_of", "version"]
