#!/usr/bin/env python3
"""Tests which tests a plan holds, how they are dealt to processes, and how their results are counted."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
plan_tests, run_cases, count_tests, reach = (load(name) for name in ("plan_tests", "run_cases", "count_tests", "reach"))

# Stands for a GoogleTest program: its cases are named after their behaviour.
PROGRAM = textwrap.dedent("""\
    #!/usr/bin/env python3
    import os, sys, time
    names = next(word for word in sys.argv if word.startswith("--gtest_filter="))[len("--gtest_filter="):].split(":")
    failed = False
    for name in [name for name in names if not name.endswith("Unknown")]:
        print(f"[ RUN      ] {name}", flush=True)
        if name.endswith("Dies"):
            os.abort()
        if name.endswith("Hangs"):
            time.sleep(600)
        print(f"words of {name}")
        result = "  FAILED  " if name.endswith("Fails") else "  SKIPPED " if name.endswith("Skips") else "       OK "
        failed |= name.endswith("Fails")
        print(f"[{result}] {name} (0 ms)", flush=True)
    print("a leak" if any(name.endswith("Leaks") for name in names) else "the end")
    sys.exit(failed or any(name.endswith("Leaks") for name in names))
    """)


def gtest(program, name, label="unit", **properties):
    said = {"LABELS": [label], "TIMEOUT": 10.0, **properties}
    return plan_tests.Test({"name": name, "command": [f"/build/tests/{program}", f"--gtest_filter={name}"],
                            "properties": [{"name": key, "value": value} for key, value in said.items()]})


def script(name, command="/bin/true", **properties):
    return plan_tests.Test({"name": name, "command": [command], "properties": [{"name": key, "value": value} for key, value in properties.items()]})


class Plans(unittest.TestCase):
    def names(self, tests, **how):
        return [test.name for test in plan_tests.chosen(tests, **how)[0]]

    def test_hold_what_is_not_left_out_and_does_not_run_elsewhere(self):
        tests = [gtest("test_a", "A.One"), gtest("test_a", "A.Two"), gtest("test_b", "A.One"), script("Apps.demo")]
        self.assertEqual(self.names(tests), ["A.One", "A.Two", "A.One", "Apps.demo"])
        self.assertEqual(self.names(tests, leave_out="Two|demo"), ["A.One", "A.One"])
        self.assertEqual(self.names(tests, elsewhere={"test_b:A.One", "Apps.demo"}), ["A.One", "A.Two", "A.One", "Apps.demo"])
        self.assertEqual(self.names(tests, elsewhere={"test_b:A.One", "test_a:A.One"}, dealt="^test_b:"), ["A.One", "A.Two", "Apps.demo"])
        self.assertEqual(self.names(tests, leave_out="^test_b:"), ["A.One", "A.Two", "Apps.demo"])
        self.assertEqual([test.name for test in plan_tests.chosen(tests, leave_out="Two")[1]], ["A.Two"])

    def test_miss_what_runs_in_no_mode(self):
        tests = [gtest("spine_tests", "Modes/A.One/daemon", "own_process"), gtest("spine_tests", "A.Two", "own_process")]
        self.assertEqual(plan_tests.lost({"spine_tests:Modes/A.One/embedded", "spine_tests:A.Two"}, tests), [])
        self.assertEqual(plan_tests.lost({"spine_tests:Modes/A.Three/embedded"}, tests), ["spine_tests:Modes/A.Three/embedded"])

    def test_of_programs_hold_their_cases_and_what_is_named_after_them(self):
        tests = [gtest("test_a", "A.One"), gtest("test_b", "B.One"), script("bench.mesh"), script("benches.mesh"), script("bench.process"),
                 script("fuzz_regression_http")]
        self.assertEqual(self.names(tests, programs=["test_b", "bench"]), ["B.One", "bench.mesh", "bench.process"])
        self.assertEqual(self.names(tests, programs=["bench.process", "fuzz_regression"]), ["bench.process", "fuzz_regression_http"])

    def test_deal_each_case_to_one_process(self):
        tests = [gtest("test_a", f"A.{number}") for number in range(60)] + [gtest("test_b", "B.0")]
        parts = plan_tests.parts_of(tests, 25)
        self.assertEqual(sorted(parts), ["test_a.1of3", "test_a.2of3", "test_a.3of3", "test_b.1of1"])
        self.assertEqual(sorted(test.name for cases in parts.values() for test in cases), sorted(test.name for test in tests))
        self.assertLessEqual(max(len(cases) for cases in parts.values()), 25)

    def test_start_what_takes_long_first(self):
        self.assertGreater(plan_tests.cost("Modes/ThreadFaults.AnyThread/daemon"), plan_tests.cost("Modes/FourNodes.Come/daemon"))
        self.assertGreater(plan_tests.cost("Modes/FourNodes.Come/daemon"), plan_tests.cost("Modes/Short.Ones/daemon"))
        self.assertEqual(plan_tests.cost("Modes/Short.Ones/daemon"), plan_tests.cost("Modes/Short.Ones/daemon"))


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.program = self.at / "test_a"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def run_all(self, *names, limit=30):
        results, texts = run_cases.run_all(str(self.program), list(names), limit)
        return {name: result for name, (result, _) in results.items()}, texts

    def test_tell_each_case(self):
        results, texts = self.run_all("A.Passes", "A.Skips", "A.Fails", "A.PassesToo")
        self.assertEqual(results, {"A.Passes": "passed", "A.Skips": "skipped", "A.Fails": "failed", "A.PassesToo": "passed"})
        self.assertEqual(list(texts), ["A.Fails"])
        self.assertIn("words of A.Fails", texts["A.Fails"])

    def test_go_on_behind_a_case_that_ends_the_process(self):
        results, texts = self.run_all("A.One", "A.Dies", "A.Two", "A.ThreeDies", "A.Four")
        self.assertEqual(results, {"A.One": "passed", "A.Dies": "failed", "A.Two": "passed", "A.ThreeDies": "failed", "A.Four": "passed"})
        self.assertIn("the process ended in it, status -6", texts["A.Dies"])

    def test_end_a_case_that_hangs(self):
        results, texts = self.run_all("A.One", "A.Hangs", "A.Two", limit=8)
        self.assertEqual(results, {"A.One": "passed", "A.Hangs": "failed", "A.Two": "passed"})
        self.assertIn("no end after 8 s", texts["A.Hangs"])

    def test_notice_an_error_behind_the_last_case(self):
        results, texts = self.run_all("A.One", "A.Leaks")
        self.assertEqual(results, {"A.One": "passed", "A.Leaks": "passed", "test_a.Ends": "failed"})
        self.assertIn("a leak", texts["test_a.Ends"])

    def test_notice_a_case_that_the_program_does_not_have(self):
        self.assertEqual(self.run_all("A.One", "A.Unknown")[0], {"A.One": "passed", "A.Unknown": "failed"})

    def test_are_counted_by_case(self):
        out = self.at / "plan"
        tests = [gtest("test_a", name) for name in ("A.One", "A.Dies", "A.Skips", "A.Fails")] + [script("Apps.true"), script("Apps.false", "/bin/false")]
        for test in tests[:4]:
            test.command[0] = str(self.program)
        plan_tests.write(tests, out)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CTEST_")}
        ran = subprocess.run(["ctest", "--test-dir", out, "-j", "2", "--output-junit", out / "junit.xml"], env=environment, capture_output=True)
        self.assertNotEqual(ran.returncode, 0)
        results = {name: result for name, (result, _) in count_tests.results_of(out).items()}
        self.assertEqual(results, {"test_a:A.One": "passed", "test_a:A.Dies": "failed", "test_a:A.Skips": "skipped", "test_a:A.Fails": "failed",
                                   "Apps.true": "passed", "Apps.false": "failed"})

    def test_without_a_result_count_as_failed(self):
        out = self.at / "plan"
        plan_tests.write([gtest("test_a", "A.One"), script("Apps.true")], out)
        self.assertEqual({result for result, _ in count_tests.results_of(out).values()}, {"failed"})


LAYERS = """\
# comment
base:
store: base
engine/flush: base store
client: base engine/flush
capi: base client
cli: base store models/process  # verbs
models/process: base client
fuzz: base store models/process
bench/micro: base
"""


class Reach(unittest.TestCase):
    def of(self, *paths):
        return reach.reach(paths, reach.read_layers(LAYERS))

    def test_of_documents_is_the_checks(self):
        self.assertEqual(self.of("docs/roadmap.md", "README.md", "docs/adr/0001-x.md", "tests/mutants.toml"), set())

    def test_of_a_module_is_what_includes_it(self):
        reached = self.of("src/engine/flush/flusher.cpp")
        self.assertLessEqual({"test_engine", "test_client", "test_capi", "test_process", "spine_tests", "Apps", "install"}, reached)
        self.assertFalse({"test_base", "test_store"} & reached)

    def test_of_a_test_is_its_program(self):
        self.assertEqual(self.of("src/store/posix_test.cpp"), {"test_store"})

    def test_of_captured_processes_is_not_the_whole_system(self):
        reached = self.of("models/process/image.cpp")
        self.assertLessEqual({"test_process", "test_cli", "numa", "bench.process", "install"}, reached)
        self.assertFalse({"spine_tests", "Apps", "bench", "Campaign"} & reached)
        self.assertFalse({"spine_tests"} & self.of("cli/capture.cpp"))
        self.assertLessEqual({"spine_tests", "test_cli"}, self.of("cli/metrics.cpp"))

    def test_of_what_all_tests_share_is_everything(self):
        for path in ("CMakeLists.txt", "cmake/modules.cmake", "src/LAYERS", "tests/support/ranks.cpp", "tools/test", "cli/CMakeLists.txt", "new/thing.cpp"):
            self.assertEqual(self.of(path), "everything", path)

    def test_knows_every_folder_of_the_tree(self):
        layers = reach.read_layers((reach.ROOT / "src/LAYERS").read_text())
        needs = reach.graph(layers)
        listed = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp", "*.c", "*.h", "*.f90", "*.py"], cwd=reach.ROOT, check=True, capture_output=True,
                                text=True).stdout.split()
        lost = {str(pathlib.Path(path).parent) for path in listed if reach.place_of(path, needs) is None and not path.startswith("tools/")
                and reach.reach([path], layers) != "everything"}
        self.assertEqual(lost, set())


if __name__ == "__main__":
    unittest.main()
