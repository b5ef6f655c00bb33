"""Attacks: one file each; the folder is the list of them."""

from discreet.core.registry import Registry

# What each attack shows of a table without being told more than the table.
attacks = Registry("attack", "discreet.lab.attacks", entry=lambda _: "expose")
