"""Programs end without closing their jobs."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import perdure
from support import PATIENCE_S, PlaceCase

TESTS = Path(__file__).parent  # the folder of `support`
PROGRAM = """
import sys, threading
import numpy
import perdure
from support import ThreadGroup

place, way = sys.argv[1:]
options = {"store.path": place + "/store", "node.path": place + "/node", "tier.file.path": place + "/file",
           "tier.memory.max_bytes": "64MiB", "flush.max_bandwidth": "2MB"}
if way == "copies_on_write":
    options["capture.mode"] = "cow"
job = perdure.Job(ThreadGroup(1).rank(0) if way == "own_ranks" else None, options)
field = numpy.zeros(1 << 17)
job.protect("field", field)
for version in (1, 2):
    field[:] = version
    job.checkpoint("app", version)
if way == "exit":
    sys.exit(0)
if way == "exception":
    raise KeyError("of the program")
if way == "thread":
    lock = job._lock
    threading.Thread(target=lambda: lock.acquire(), daemon=True).start()
    while lock.acquire(blocking=False):
        lock.release()
"""


class Goodbye(PlaceCase):
    def left_by(self, way):
        command = [sys.executable, "-W", "error::ResourceWarning", "-c", PROGRAM, str(self.place), way]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=str(TESTS))
        shutil.rmtree(self.place / "node", ignore_errors=True)
        shutil.rmtree(self.place / "file", ignore_errors=True)
        stored = sorted(version.version for version in perdure.Store(self.store).versions("app"))
        return done.returncode, done.stderr, stored

    def test_by_the_end_of_the_program_stores_what_was_captured(self):
        for way in ("end", "exit", "own_ranks", "copies_on_write", "thread"):
            with self.subTest(way):
                self.assertEqual(self.left_by(way), (0, "", [1, 2]))
                shutil.rmtree(self.store)

    def test_by_an_exception_stores_it_too_and_the_exception_is_told(self):
        status, said, stored = self.left_by("exception")
        self.assertEqual((status, stored), (1, [1, 2]))
        self.assertIn("of the program", said)


if __name__ == "__main__":
    unittest.main()
