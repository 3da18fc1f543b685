"""The engine `juicefs`: one file system in an object store, with a cache on every node that mounts it."""
