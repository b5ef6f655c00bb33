"""Privacy losses: one file for each kind of event, as values with one algebra."""
