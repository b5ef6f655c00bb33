"""Recovery of a vault: its witnesses, what is done when it is older than they are, backups and new keys."""
