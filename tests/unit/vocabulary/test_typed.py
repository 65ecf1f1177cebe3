"""Types that several threads decode for the first time at once."""

from __future__ import annotations

import subprocess
import sys

TWO_THREADS = """
import sys, threading
import msgspec
from antiphon.vocabulary.typed import prepared

sys.setswitchinterval(1e-6)

def decode(kind, together):
    together.wait()
    msgspec.json.decode(b'{"inner": {"a29": 4}, "b29": ["x"]}', type=prepared(kind))

for number in range(100):
    inner = msgspec.defstruct(f"Inner{number}", [(f"a{i}", "int | None", None) for i in range(30)])
    fields = [(f"b{i}", "list[str] | None", None) for i in range(30)]
    kind = msgspec.defstruct(f"Outer{number}", [("inner", inner), *fields])
    together = threading.Barrier(2)
    threads = [threading.Thread(target=decode, args=(kind, together)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_two_threads_may_decode_a_type_for_the_first_time_at_once() -> None:
    run = subprocess.run([sys.executable, "-c", TWO_THREADS], check=False)

    assert run.returncode == 0
