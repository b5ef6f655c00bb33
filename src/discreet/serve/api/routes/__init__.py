"""Routes of the HTTP API: a file for what belongs together, each with a function `add`; the folder is the list."""
