#!/usr/bin/env python3
"""Which tests tools/draw_tests leaves to other runs, and to other days."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

loader = importlib.machinery.SourceFileLoader("draw_tests", str(pathlib.Path(__file__).with_name("draw_tests")))
draw_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_tests", loader))
loader.exec_module(draw_tests)

LISTED = [(number, f"Suite.Test{number}") for number in range(1, 31)]
NAMES = {name for _, name in LISTED}
VARIANTS = [(number, f"Every/Crashes.LoseNothing/point_{number}") for number in range(31, 41)]
WHOLE = [(41, "Modes/FourHosts.Lose/daemon")]


def names(listed, numbers):
    return {name for number, name in listed if number in numbers}


class DrawnTests(unittest.TestCase):
    def test_what_runs_nowhere_else_runs_each_day(self):
        for day in range(1, 4):
            self.assertEqual(draw_tests.of_suite(LISTED, set(), day), list(range(1, 31)))

    def test_three_days_take_each_test_once(self):
        taken = sorted(number for day in (365, 366, 367) for number in draw_tests.of_suite(LISTED, NAMES, day))
        self.assertEqual(taken, list(range(1, 31)))

    def test_what_two_runs_have_runs_in_one_of_them_each_day(self):
        suite = LISTED + VARIANTS
        asan = [(100 - number, name) for number, name in LISTED + VARIANTS[:5]]
        for day in range(1, 7):
            here = names(suite, draw_tests.of_suite(suite, {name for _, name in asan} - {"Suite.Test7"}, day))
            there = names(asan, draw_tests.of_asan(asan, suite, "Test7$", day))
            self.assertFalse(here & there)
            self.assertLessEqual(NAMES, here | there)
            self.assertLessEqual({name for _, name in VARIANTS[:5]}, here | there)
            self.assertIn("Suite.Test7", here)

    def test_variants_that_run_nowhere_else_run_every_other_day(self):
        one, other = (draw_tests.of_suite(VARIANTS, set(), day) for day in (1, 2))
        self.assertEqual(sorted(one + other), [number for number, _ in VARIANTS])
        self.assertTrue(one and other)

    def test_shares_are_about_as_large(self):
        many = [(number, f"Suite.Test{number}") for number in range(3000)]
        for day in range(1, 4):
            self.assertTrue(900 < len(draw_tests.of_suite(many, {name for _, name in many}, day)) < 1100)
            self.assertTrue(1400 < len(draw_tests.of_tsan(many, "^$", day)) < 1600)

    def test_other_tests_do_not_change_when_one_runs(self):
        for day in range(1, 4):
            self.assertLessEqual(set(draw_tests.of_suite(LISTED[5:], NAMES, day)), set(draw_tests.of_suite(LISTED, NAMES, day)))

    def test_what_does_less_beside_a_sanitizer_runs_each_day(self):
        listed = LISTED + WHOLE
        for day in range(1, 4):
            self.assertIn(41, draw_tests.of_suite(listed, {name for _, name in listed}, day))

    def test_and_with_the_sanitizer_on_two_days_of_three_or_more(self):
        days = sum(41 in draw_tests.of_asan(LISTED + WHOLE, LISTED + WHOLE, "^$", day) for day in range(1, 4))
        self.assertGreaterEqual(days, 2)

    def test_the_thread_sanitizer_takes_a_half_each_day(self):
        one, other = (draw_tests.of_tsan(LISTED, "Test1$", day) for day in (1, 2))
        self.assertEqual(sorted(one + other), list(range(2, 31)))
        self.assertTrue(one and other)

    def test_reads_what_ctest_lists(self):
        self.assertEqual(draw_tests.LISTED.findall("Test project /x\n  Test    #1: A.B\n  Test #4167: Modes/C.D/daemon\n\nTotal Tests: 2\n"),
                         [("1", "A.B"), ("4167", "Modes/C.D/daemon")])


if __name__ == "__main__":
    unittest.main()
