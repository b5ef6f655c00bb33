"""Arrays: NumPy is imported with the first one, and its version is known without it."""

import subprocess
import sys

import numpy as np

from discreet.noise.arrays import numpy_version

SCRIPT = """
import sys
from discreet import noise
from discreet.noise.arrays import numpy_version
print(type(noise.laplace(2)) is int, numpy_version(), "numpy" in sys.modules)
noise.laplace(2, 5)
print("numpy" in sys.modules)
"""


def test_numpy_is_imported_with_the_first_array_and_not_for_single_numbers():
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", np.__version__, "False", "True"]


def test_the_version_that_a_debit_is_bound_to_is_numpys_own():
    assert numpy_version() == np.__version__
