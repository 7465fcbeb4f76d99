#!/usr/bin/env python3
"""Tests which test program, and which suites of it, tools/unit finds for a file."""
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
    "cli/CMakeLists.txt": "if(PERDURE_TESTS)\n  perdure_test(test_cli SOURCES ${tests})\nendif()\n",
    "cli/ls_test.cpp": "TEST(Ls, A) {}\n",
    "models/CMakeLists.txt": "perdure_test(test_track SOURCES ${tests})\n  perdure_test(test_mesh OPTIMISED\n    SOURCES ${tests})\n",
    "models/mesh/ghosts_test.cpp": "TEST(Ghosts, A) {}\n",
    "models/mesh/rows_test.cpp": "TEST(Rows, A) {}\n",
    "models/track/box_set_test.cpp": "TEST(BoxSet, A) {}\n",
    "fronts/CMakeLists.txt": "add_subdirectory(cpp)\n",
    "fronts/cpp/CMakeLists.txt": "perdure_test(test_cpp_front SOURCES handle_test.cpp)\n",
    "fronts/cpp/handle_test.cpp": "TEST(Handle, A) {}\n",
    "fronts/fortran/CMakeLists.txt": "add_test(NAME Fortran.A COMMAND a)\n",
    "tests/CMakeLists.txt": "perdure_test(spine_tests SOURCES ${spine_tests})\n",
    "tests/support/CMakeLists.txt": "add_library(perdure_test_support STATIC ranks.cpp)\n",
    "tests/spine/restart_test.cpp": '#include "support/ranks.hpp"\nTEST(Restart, A) {}\n',
    "tests/acceptance/sources/whole_test.cpp": '#include "support/ranks.hpp"\nTEST(Whole, A) {}\n',
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

    def test_a_file_of_a_model_is_in_the_program_of_its_folders_name(self):
        self.assertEqual(found("models/mesh/ghosts.hpp"), ("test_mesh", ["Ghosts"]))
        self.assertEqual(found("models/track/box_set.cpp"), ("test_track", ["BoxSet"]))

    def test_a_file_of_a_model_without_tests_of_its_name_has_all_of_the_model(self):
        self.assertEqual(found("models/mesh/division.cpp"), ("test_mesh", []))
        self.assertEqual(found("models/mesh/inner/part.hpp"), ("test_mesh", []))

    def test_a_folders_own_program_may_have_any_name(self):
        self.assertEqual(found("fronts/cpp/handle_test.cpp"), ("test_cpp_front", ["Handle"]))
        self.assertEqual(found("fronts/cpp/element_type.cpp"), ("test_cpp_front", []))

    def test_of_whole_systems_a_test_is_run_and_what_helps_it_is_not(self):
        self.assertEqual(found("tests/spine/restart_test.cpp"), ("spine_tests", ["Restart"]))
        with self.assertRaisesRegex(SystemExit, "tests/spine/scenario.cpp: it helps tests and is none; name the test that uses it"):
            found("tests/spine/scenario.cpp")
        with self.assertRaisesRegex(SystemExit, "name one of the 1 that include it, such as tests/spine/restart_test.cpp"):
            found("tests/support/ranks.cpp")

    def test_a_folder_without_a_test_program_is_refused(self):
        for file in ("fronts/fortran/track.c", "models/new/x.cpp", "daemon/main.cpp", "src/LAYERS", "README.md"):
            with self.subTest(file), self.assertRaisesRegex(SystemExit, f"unit: {file}: no test program is named for its folder; run ctest"):
                found(file)


if __name__ == "__main__":
    unittest.main()
