#!/usr/bin/env python3
"""Tests the campaign's program as a user starts it: campaign_program_test.py PROGRAM. If Perdure lies, the program must
fail, say so, and say how to repeat it."""
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)

# The lie happens in the second launch; the rest is not needed.
SCENARIO = """job ranks=2
launch nodes=0,1 store=full do=restore,checkpoint,checkpoint
launch nodes=0,1 store=full do=restore,look
"""

ELASTIC = """job ranks=2 arrays=7
launch nodes=0,1 do=restore,checkpoint,store
launch ranks=3 per_node=3 do=restore
"""


def run(*arguments, env=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=800, env=env)


class Lies(unittest.TestCase):
    def judged(self, lie):
        return run("--lie", lie, "--scenario", SCENARIO)

    def test_none_is_good(self):
        done = run("--scenario", SCENARIO)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "1 runs, 0 failed")

    def test_each_is_noticed(self):
        for lie, rule in (
            ("older", "the latest is never older than what was promised"),
            ("flipped", "what is restored is what was captured"),
            ("not-found", "what was promised comes back"),
        ):
            with self.subTest(lie):
                done = self.judged(lie)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"violated: {rule}: launch 2", done.stdout)
                self.assertEqual(done.stdout.splitlines()[-1], "1 runs, 1 failed")

    # Only a check of each array element detects that one is of another step.
    def test_an_element_of_another_step_is_noticed(self):
        self.assertEqual(run("--scenario", ELASTIC).returncode, 0)
        done = run("--lie", "element", "--scenario", ELASTIC)
        self.assertEqual(done.returncode, 1)
        self.assertIn("violated: what is restored is what was captured: launch 2", done.stdout)
        self.assertIn("elements are wrong, first [", done.stdout)
        self.assertEqual(run("--lie", "element", "--scenario", SCENARIO).returncode, 0, "no arrays")

    def test_of_a_drawn_scenario_is_made_smaller_and_can_be_repeated(self):
        # Timing may also decide whether a drawn scenario restores anything.
        for seed in range(1, 6):
            done = run("--lie", "flipped", "--seed", str(seed), "--runs", "1", "--tries", "10")
            if done.returncode == 1:
                break
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "1 runs, 1 failed")
        self.assertIn(f"FAILED: seed {seed}\n", done.stdout)
        before, shrunk = done.stdout.split("shrunk:\n")
        lines = [[line for line in text.split("violated:")[0].splitlines() if line.startswith("launch")] for text in (before, shrunk)]
        self.assertLess(len(" ".join(lines[1])), len(" ".join(lines[0])))
        command = shlex.split(shrunk.split("repeat: ")[1].rsplit("1 runs, 1 failed", 1)[0])
        # A drawn failure may depend on timing (a version that reached a level or not).
        for _ in range(5):
            again = subprocess.run(command, capture_output=True, text=True, timeout=100)
            if again.returncode == 1:
                break
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertIn("violated: what is restored is what was captured", again.stdout)

    def test_a_run_that_hangs_is_ended_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as place:
            environment = os.environ | {"PERDURE_TEST_DIRECTORY": place}
            done = run("--limit", "0.05", "--seed", "1", "--runs", "1", "--tries", "0", env=environment)
            self.assertEqual(os.listdir(place), [])
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run was ended at its time limit", done.stdout)
        running = subprocess.run(["pgrep", "-f", f"^{PROGRAM} --limit 0.05"], capture_output=True, text=True).stdout
        self.assertEqual(running, "")


class WrongUse(unittest.TestCase):
    def test_is_refused(self):
        for arguments in (["--lie", "white"], ["--runs"], ["--runs", "0"], ["--colour", "red"], ["--scenario", "job\nlaunch do=dance\n"]):
            self.assertEqual(run(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
