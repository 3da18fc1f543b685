"""Container images without a container engine: named, fetched, kept, unpacked, built.

The store in the home is an OCI image layout that any other tool can read. Suites are known here by their
names only; whoever calls says which there are.
"""
