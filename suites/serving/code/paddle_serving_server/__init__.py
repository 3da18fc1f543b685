"""The name under which Paddle Serving's command for servers is known."""
