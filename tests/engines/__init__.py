"""One suite for every engine: the same exact integers, whatever the records."""
