"""The HTTP API: a vault on the network, for the holders of its tokens."""
