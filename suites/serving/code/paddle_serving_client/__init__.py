"""The name under which Paddle Serving's command for clients is known."""
