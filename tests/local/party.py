"""A party of a secure sum as a process of its own: `python -m tests.local.party people honest epsilon length`."""

import socket
import sys
from fractions import Fraction

from discreet.local.secure_sum import SecureSum
from discreet.local.secure_sum_wire import serve_party

if __name__ == "__main__":
    people, honest, epsilon, length = sys.argv[1:]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        plan = SecureSum(int(people), int(honest), Fraction(epsilon), length=int(length))
        serve_party(plan, listener)
