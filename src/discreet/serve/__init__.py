"""Services over HTTP: the collector of local reports, an app of its own."""
