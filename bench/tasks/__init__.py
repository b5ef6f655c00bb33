"""Task files: what a worker executes, one file for each area and participant; imported by workers alone."""
