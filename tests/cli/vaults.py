"""A table for the tests of commands about vaults, and the words that register it."""

ROWS = "patient_id,age,ward\n" + "".join(
    f"{number % 400},{number % 90},{'ABC'[number % 3]}\n" for number in range(1200)
)
TERMS = ("--unit", "person:patient_id", "--max-rows", "5", "--column", "age=0..110", "--column", "ward=A,B,C")
PRICE = ("--epsilon", "3", "--delta", "1e-6")
