#!/usr/bin/env python3
"""Which test program, and which suites of it, tools/unit finds for a file."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "unit"
loader = importlib.machinery.SourceFileLoader("unit", str(TOOL))
unit = importlib.util.module_from_spec(importlib.util.spec_from_loader("unit", loader))
loader.exec_module(unit)

FILES = {
    "src/plan/layout_test.cpp": "TEST(Layout, A) {}\nTEST(Layout, B) {}\n",
    "src/engine/flush/flusher_test.cpp": "TEST_F(Flushing, A) {}\n",
    "src/engine/flush/flusher_capture_test.cpp": "TEST_F(FlushedCaptures, A) {}\n",
    "src/engine/flush/flush_gate_test.cpp": "TEST_P(Gate, A) {}\n",
    "src/engine/serve/server_test.cpp": "TEST(Serving, A) {}\n",
    "cli/ls_test.cpp": "TEST(Ls, A) {}\n",
}


def found(path):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for file, text in FILES.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
        return unit.tests_of(pathlib.Path(path), root)


class Unit(unittest.TestCase):
    def test_a_file_of_a_module_has_the_suites_of_its_tests(self):
        self.assertEqual(found("src/plan/layout.cpp"), ("test_plan", ["Layout"]))
        self.assertEqual(found("cli/ls.cpp"), ("test_cli", ["Ls"]))

    def test_a_file_of_a_part_of_the_engine_is_in_the_engines_program(self):
        self.assertEqual(found("src/engine/flush/flusher.cpp"), ("test_engine", ["FlushedCaptures", "Flushing"]))
        self.assertEqual(found("src/engine/flush/flusher_test.cpp"), ("test_engine", ["FlushedCaptures", "Flushing"]))
        self.assertEqual(found("src/engine/flush/flusher_testing.hpp"), ("test_engine", ["FlushedCaptures", "Flushing"]))

    def test_a_file_without_tests_of_its_name_has_all_of_its_folder(self):
        self.assertEqual(found("src/plan/backoff.cpp"), ("test_plan", []))
        self.assertEqual(found("src/engine/flush/chunk_writer.cpp"), ("test_engine", ["Gate", "FlushedCaptures", "Flushing"]))

    def test_what_is_in_no_module_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "not in a module"):
            found("tests/spine/x.cpp")


if __name__ == "__main__":
    unittest.main()
