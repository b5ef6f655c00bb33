"""What commands share: options, files, output and exit codes."""
