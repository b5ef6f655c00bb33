"""Pages of the labs: how they are read, run, drawn and exported."""
