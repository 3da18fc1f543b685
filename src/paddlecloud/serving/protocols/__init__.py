"""What goes over the wire: each protocol in a module of its own, over one internal call of arrays."""
