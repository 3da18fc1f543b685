"""What the model suites have in common: configurations, the training loop, checkpoints, records, export."""
