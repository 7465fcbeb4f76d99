"""These jobs have the ranks of an mpi4py communicator, under mpirun."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import perdure
from support import PATIENCE_S, PlaceCase

PROGRAM = Path(__file__).with_name("mpi_program.py")


def why_not():
    if shutil.which("mpirun") is None:
        return "there is no mpirun"
    found = subprocess.run([sys.executable, "-c", "import mpi4py.MPI"], capture_output=True, text=True)
    return found.stderr.strip().splitlines()[-1] if found.returncode else None


WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, f"needs mpi4py: {WHY_NOT}")
class Mpi(PlaceCase):
    def run_program(self, ranks, what):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        command = ["mpirun", "-n", str(ranks), "--oversubscribe", sys.executable, str(PROGRAM), str(self.place), what]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout.count("good")), (0, ranks), done.stdout + done.stderr)

    def test_writes_on_two_ranks_and_restores_on_three_and_one(self):
        self.run_program(2, "write")
        self.run_program(3, "read")
        self.run_program(1, "read")

    def test_has_a_communicator_of_its_own(self):
        (self.place / "0").mkdir()
        (self.place / "1").mkdir()
        self.run_program(2, "split")

    def test_closes_at_finalize_what_is_open(self):
        self.run_program(2, "late")
        self.assertEqual(self.stored(), [4])

    def test_closes_at_the_end_what_was_forgotten(self):
        self.run_program(2, "forgotten")
        self.assertEqual(self.stored(), [4])

    def stored(self):
        """The node has lost all its data."""
        shutil.rmtree(self.place / "node", ignore_errors=True)
        shutil.rmtree(self.place / "file", ignore_errors=True)
        return [version.version for version in perdure.Store(self.store).versions("app")]


if __name__ == "__main__":
    unittest.main()
