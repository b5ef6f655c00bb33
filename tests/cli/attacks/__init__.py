"""Tests of the commands under `discreet attack`."""
