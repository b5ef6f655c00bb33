"""The `discreet` command: one file per subcommand."""
