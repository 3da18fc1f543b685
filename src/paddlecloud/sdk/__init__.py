"""The SDK: a synchronous client for any cluster, with our kinds as typed values."""
