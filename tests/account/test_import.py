"""What importing the accounting costs, and what it offers."""

import subprocess
import sys

import discreet.account as account

PROBE = """
import sys, time
import scipy.special
before = time.perf_counter()
import discreet.account
spent = time.perf_counter() - before
assert "scipy.stats" not in sys.modules
print(spent)
"""
USE = """
import sys
import discreet.account as account
(account.Gaussian(1.1).sampled(0.01) * 100 + account.Laplace(2.0)).epsilon(delta=1e-6)
account.calibrate.gaussian(1, 1e-5)
assert "scipy.stats" not in sys.modules and "scipy.signal" not in sys.modules
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_the_import_adds_at_most_fifty_milliseconds_to_that_of_scipy_special():
    assert min(float(run(PROBE)) for _ in range(3)) < 0.05


def test_no_slow_module_is_ever_needed():
    assert run(USE) == ""


def test_every_promised_name_is_there_once():
    for name in account.__all__:
        assert getattr(account, name) is not None
    assert len(set(account.__all__)) == len(account.__all__)
