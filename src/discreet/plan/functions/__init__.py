"""Functions of expressions: one file for each, named as expressions call it; `plan/function.py` says what is in it."""
