#!/usr/bin/env python3
"""Which tests tools/draw_tests leaves to the address sanitizer's run."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

loader = importlib.machinery.SourceFileLoader("draw_tests", str(pathlib.Path(__file__).with_name("draw_tests")))
draw_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_tests", loader))
loader.exec_module(draw_tests)

LISTED = [(number, f"Suite.Test{number}") for number in range(1, 31)]
NAMES = {name for _, name in LISTED}


class DrawnTests(unittest.TestCase):
    def test_what_runs_nowhere_else_runs_each_day(self):
        for day in range(1, 4):
            self.assertEqual(draw_tests.drawn(LISTED, set(), day), list(range(1, 31)))

    def test_three_days_take_each_test_once(self):
        taken = sorted(number for day in (365, 366, 367) for number in draw_tests.drawn(LISTED, NAMES, day))
        self.assertEqual(taken, list(range(1, 31)))

    def test_a_day_takes_a_third(self):
        for day in range(1, 4):
            self.assertEqual(len(draw_tests.drawn(LISTED, NAMES, day)), 10)

    def test_what_does_less_beside_a_sanitizer_runs_each_day(self):
        listed = LISTED + [(31, "Modes/FourHosts.Lose/daemon")]
        for day in range(1, 4):
            self.assertIn(31, draw_tests.drawn(listed, {name for _, name in listed}, day))

    def test_reads_what_ctest_lists(self):
        self.assertEqual(draw_tests.LISTED.findall("Test project /x\n  Test    #1: A.B\n  Test #4167: Modes/C.D/daemon\n\nTotal Tests: 2\n"),
                         [("1", "A.B"), ("4167", "Modes/C.D/daemon")])


if __name__ == "__main__":
    unittest.main()
