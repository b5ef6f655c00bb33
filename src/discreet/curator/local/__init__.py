"""What the desk of a vault in this process is made of."""
