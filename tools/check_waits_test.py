#!/usr/bin/env python3
"""Tests the check on small trees with one violation each, because a check that finds nothing is useless."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

PATH = pathlib.Path(__file__).resolve().parent / "check_waits"
LOADER = importlib.machinery.SourceFileLoader("check_waits", str(PATH))
check_waits = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_waits", LOADER))
LOADER.exec_module(check_waits)

GOOD = {
    "src/os/system.cpp": "std::this_thread::sleep_for(1s);\n",  # no test
    "src/engine/a_test.cpp": "EXPECT_TRUE(eventually(\"it ends\", [&] { return over; }));\nwhile (next()) take();\n"
                             "do {\n  take();\n} while (more);  // sleep_for\ndo x = any();\nwhile (x == y);\nwhile (::waitpid(-1, nullptr, 0) > 0) {\n}\nwhile (a\n       && b) {\n  take();\n}\n"
                             "std::optional<int> sleep(double) override;\n",
    "tests/support/eventually.hpp": "std::this_thread::sleep_for(pause);\n",
    "tests/spine/a.cpp": "usleep(1);  // wait: it computes\n// wait: killed at a drawn moment, which may\nusleep(2);\n",
    "tests/install/a.py": "time.sleep(1)  # wait: a terminal is that slow\n",
}


def defects(changes):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {**GOOD, **changes}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_waits.check(root)


class CheckWaits(unittest.TestCase):
    def test_accepts_the_one_place_reasons_and_loops_that_do_something(self):
        self.assertEqual(defects({}), [])

    def test_refuses_every_way_to_sleep(self):
        for line in ("std::this_thread::sleep_for(1s);", "os::sleep_ns(1);", "::usleep(1000);", "nanosleep(&t, nullptr);",
                     "clock_nanosleep(c, 0, &t, nullptr);", "::sleep(1);", "while (!done) std::this_thread::yield();"):
            with self.subTest(line):
                found = defects({"src/engine/flush/b_test.cpp": "\n" + line + "\n"})
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].startswith("src/engine/flush/b_test.cpp:2: sleeps; wait for what is to come by"))

    def test_refuses_loops_that_spin(self):
        for line in ("while (!done);", "while (!done) {}", "while (!done) {\n}", "while (!store->set(a, b)) continue;",
                     "while (!done) {  // it comes\n}"):
            with self.subTest(line):
                found = defects({"src/engine/flush/b_test.cpp": "\n" + line + "\n"})
                self.assertEqual([text.split(";")[0] for text in found], ["src/engine/flush/b_test.cpp:2: spins"])

    def test_a_marker_without_a_reason_is_none(self):
        for line in ("usleep(1);  // wait:", "usleep(1);  // wait", "// wait: it computes\n\nusleep(1);",
                     "f();  // wait: it computes\nusleep(1);"):
            with self.subTest(line):
                self.assertEqual(len(defects({"src/a_test.cpp": line + "\n"})), 1)

    def test_looks_at_every_folder_with_tests(self):
        for path in ("src/a/b_testing.hpp", "models/process/a_test.cpp", "models/process/programs/a.c", "cli/a_testing.hpp",
                     "fronts/cpp/a_test.cpp", "tests/spine/a.hpp", "tests/campaign/a.cpp", "apps/tests/a.cpp",
                     "bench/micro/a_test.cpp"):
            with self.subTest(path):
                self.assertEqual(len(defects({path: "usleep(1);\n"})), 1)
        for path in ("tests/install/b.py", "fronts/python/tests/test_a.py", "models/process/programs/a.py"):
            with self.subTest(path):
                self.assertEqual(len(defects({path: "    time.sleep(1)\n"})), 1)


if __name__ == "__main__":
    unittest.main()
