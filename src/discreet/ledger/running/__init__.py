"""Running releases: one charge of many answers, settled one by one."""
