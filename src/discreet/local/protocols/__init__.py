"""Local protocols: one file or folder each; the folder is the list of them."""
