#!/usr/bin/env python3
"""Tests tools/check_promises."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
PATH = pathlib.Path(__file__).resolve().parent / "check_promises"
LOADER = importlib.machinery.SourceFileLoader("check_promises", str(PATH))
MODULE = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_promises", LOADER))
LOADER.exec_module(MODULE)

HEAD = "| promise | tests |\n| --- | --- |\n"


def defects(rows, tests=("A.B",), functions=()):
    return list(MODULE.defects(HEAD + rows, set(tests), set(functions)))


class CheckPromises(unittest.TestCase):
    def test_a_row_with_a_test_is_good(self):
        self.assertEqual(defects("| It holds. | `A.B` |\n"), [])

    def test_a_row_without_a_test_is_refused(self):
        self.assertEqual(defects("| It holds. | |\n"), ["line 3: no test for: It holds."])
        self.assertEqual(defects("| It holds. | by care |\n"), ["line 3: no test for: It holds."])

    def test_a_test_that_is_not_there_is_refused(self):
        self.assertEqual(defects("| It holds. | `A.B`, `A.C` |\n"), ["line 3: there is no test A.C"])

    def test_a_function_that_no_row_names_is_refused(self):
        row = "| `perdure_open`: it opens. | `A.B` |\n"
        self.assertEqual(defects(row, functions=["perdure_open", "perdure_wait"]), ["no row names perdure_wait"])

    def test_an_empty_page_is_refused(self):
        self.assertEqual(defects(""), ["there are no rows"])

    def test_the_sources_have_tests_and_functions(self):
        self.assertGreater(len(MODULE.tests_in(MODULE.ROOT)), 1000)
        self.assertIn("perdure_restore_regions", MODULE.functions_in(MODULE.ROOT))


if __name__ == "__main__":
    unittest.main()
