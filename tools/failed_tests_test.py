#!/usr/bin/env python3
"""Tests the report on failed tests at the end of `make test`, which is often all that remains of them."""
import pathlib
import subprocess
import unittest

AWK = pathlib.Path(__file__).resolve().parent / "failed_tests.awk"


def told(*lines):
    done = subprocess.run(["awk", "-f", AWK], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class FailedTests(unittest.TestCase):
    def test_nothing_is_told_of_good_and_skipped_ones(self):
        self.assertEqual(told("1/2 Test #1: A.Good ......   Passed    0.01 sec", "x.cpp:1: Failure",
                              "2/2 Test #2: A.Skipped ......***Skipped   0.01 sec", "why"), [])

    def test_a_failure_is_told_with_its_first_lines_only(self):
        lines = told("1/1 Test #7: A.Bad  # GetParam() = 3 ..........***Failed    0.30 sec", "[ RUN      ] A.Bad",
                     "x.cpp:14: Failure", "Expected: 1", "  Actual: 2", "", "more", "and more", "still", "too much",
                     "0% tests passed, 1 tests failed out of 1")
        self.assertEqual(lines[:4], ["  A.Bad  # GetParam() = 3 ***Failed    0.30 sec", "    x.cpp:14: Failure",
                                     "    Expected: 1", "      Actual: 2"])
        self.assertNotIn("    too much", lines)

    def test_of_one_that_says_no_reason_the_last_lines_are_told(self):
        lines = told("1/1 Test #7: A.Hangs ......***Timeout  120.00 sec", *[f"line {i}" for i in range(9)],
                     "      Start  8: B.Next", "that of B")
        self.assertEqual(lines, ["  A.Hangs ***Timeout  120.00 sec", *[f"    line {i}" for i in range(3, 9)]])

    def test_each_has_its_own(self):
        lines = told("1/3 Test #1: A.Bad ......***Failed    0.01 sec", "a.cpp:1: Failure", "of A",
                     "2/3 Test #2: B.Good ......   Passed    0.01 sec", "b.cpp:1: Failure",
                     "3/3 Test #3: C.Dies ......***Exception: SegFault  0.01 sec", "SUMMARY: AddressSanitizer: x")
        self.assertEqual(lines, ["  A.Bad ***Failed    0.01 sec", "    a.cpp:1: Failure", "    of A",
                                 "  C.Dies ***Exception: SegFault  0.01 sec", "    SUMMARY: AddressSanitizer: x"])


if __name__ == "__main__":
    unittest.main()
