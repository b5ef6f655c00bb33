"""The demonstration behind `discreet demo`."""
