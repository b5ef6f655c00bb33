"""The table of planted bugs: a module for each package, with its `MUTANTS`."""
