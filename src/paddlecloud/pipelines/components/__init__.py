"""The components: each a thin program over the SDK that makes one resource and waits for it."""
