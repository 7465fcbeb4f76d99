"""Runs docs/python.md as it is printed, from top to bottom, in one folder. The comment before a program says how, and
what it has to print. A program is run twice if that is what it shows: `expect` covers all runs together, in their
order."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import PATIENCE_S, PlaceCase
from test_mpi import WHY_NOT

PAGE = Path(__file__).resolve().parents[3] / "docs/python.md"
PROGRAM = re.compile(
    r"<!-- test: (?P<name>\S+)(?: ranks=\"(?P<ranks>[\d ]+)\")? expect=\"(?P<expect>[^\n]*)\" -->\n\n"
    r"```python\n(?P<text>.*?)```",
    re.S,
)
TWICE = {"alone.py"}


class Page(PlaceCase):
    def run_program(self, command):
        environment = {**os.environ, "PERDURE_NODE_PATH": str(self.place / "node"), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "PERDURE_TIER_FILE_PATH": str(self.place / "file"), "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "PERDURE_TIER_MEMORY_MAX_BYTES": "64MiB"}
        done = subprocess.run(command, cwd=self.place, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_says_of_every_program_what_it_prints(self):
        text = PAGE.read_text()
        self.assertEqual(len(PROGRAM.findall(text)), text.count("```python"))
        self.assertGreater(text.count("```python"), 0)

    def test_is_true(self):
        for program in PROGRAM.finditer(PAGE.read_text()):
            with self.subTest(program["name"]):
                if program["ranks"] and WHY_NOT:
                    self.skipTest(WHY_NOT)
                file = self.place / program["name"]
                file.write_text(program["text"])
                commands = [[sys.executable, str(file)]] * (2 if program["name"] in TWICE else 1)
                if program["ranks"]:
                    mpirun = ["mpirun", "--oversubscribe", "-n"]
                    commands = [[*mpirun, ranks, sys.executable, str(file)] for ranks in program["ranks"].split()]
                said = "".join(self.run_program(command) for command in commands)
                self.assertRegex(said.rstrip("\n"), program["expect"])


if __name__ == "__main__":
    unittest.main()
