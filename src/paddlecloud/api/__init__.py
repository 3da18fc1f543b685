"""The nouns: every resource as a frozen value, the one source of the CRDs, the docs and the SDK."""
