"""Methods of synthesis: one file each; the folder is the list of them."""
