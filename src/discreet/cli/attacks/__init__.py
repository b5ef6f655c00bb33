"""The commands under `discreet attack`: one file per attack."""
