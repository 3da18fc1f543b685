"""The files of model versions: kept by content, listed by a manifest, fetched and verified."""
