#!/usr/bin/env python3
"""Tests the check on small trees with one violation each, because a check that finds nothing is useless."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

PATH = pathlib.Path(__file__).resolve().parent / "check_threads"
LOADER = importlib.machinery.SourceFileLoader("check_threads", str(PATH))
check_threads = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_threads", LOADER))
LOADER.exec_module(check_threads)

GOOD = {
    "src/os/thread.cpp": "std::thread thread(run);\n",
    "src/os/system.cpp": "std::thread::hardware_concurrency(); std::this_thread::sleep_for(1s);  // no std::thread\n",
    "src/os/thread_test.cpp": "std::thread thread(run);\n",
    "src/network/network_testing.hpp": "std::thread thread(run);\n",
}


def defects(changes):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {**GOOD, **changes}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_threads.check(root)


class CheckThreads(unittest.TestCase):
    def test_accepts_the_one_place_tests_and_questions(self):
        self.assertEqual(defects({}), [])

    def test_refuses_every_way_to_begin_one(self):
        for line in ("std::thread t(run);", "std::jthread t(run);", "std::vector<std::thread> all;", "std::async(run);",
                     "pthread_create(&t, 0, run, 0);"):
            with self.subTest(line):
                self.assertEqual(defects({"src/engine/flush/a.cpp": "\n" + line + "\n"}),
                                 ["src/engine/flush/a.cpp:2: begins a thread by itself; use os::Thread "
                                  "(src/os/thread.hpp)"])

    def test_refuses_threads_that_are_kept_elsewhere(self):
        for line in ("std::vector<os::Thread> threads_;", "std::vector<Thread> threads_;", "std::deque<os::Thread> all;"):
            with self.subTest(line):
                self.assertEqual(len(defects({"src/engine/flush/a.cpp": line + "\n"})), 1)
        self.assertEqual(defects({"src/engine/flush/a.cpp": "os::Threads all;  // no std::vector<os::Thread>\n"}), [])

    def test_looks_at_programs_too(self):
        for folder in ("daemon", "parityd", "cli", "fronts"):
            self.assertEqual(len(defects({folder + "/a.cpp": "std::thread t(run);\n"})), 1)


if __name__ == "__main__":
    unittest.main()
