"""Templates: one workflow a domain task, from data to a served model, with a few parameters."""
