#!/usr/bin/env python3
"""Tests which headers a difference reaches, what they need, and that the check finds an incomplete header."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check_headers"
loader = importlib.machinery.SourceFileLoader("check_headers", str(TOOL))
check_headers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_headers", loader))
loader.exec_module(check_headers)

FILES = {
    "include/perdure/perdure.h": "struct perdure;\n",
    "src/base/result.hpp": "#pragma once\nstruct Result {};\n",
    "src/os/file.hpp": '#pragma once\n#include "base/result.hpp"\nResult read();\n',
    "src/store/store.hpp": '#pragma once\n#include "os/file.hpp"\nResult open();\n',
    "models/mesh/mesh.hpp": '#pragma once\n#include "mesh/ranks.hpp"\n#include <mpi.h>\n',
    "models/mesh/ranks.hpp": "#pragma once\n",
    "models/process/capi/answer.hpp": '#pragma once\n#include "perdure/perdure.h"\n',
    "cli/verb.hpp": '#pragma once\n#include "store/store.hpp"\n#include "cli/usage.hpp"\n',
    "cli/usage.hpp": "#pragma once\n",
    "fronts/fortran/track.h": '#include "descriptor.h"\n',
    "fronts/fortran/descriptor.h": "int descriptor(void);\n",
    "tests/support/seeds.hpp": "#pragma once\n",
    "src/os/file.cpp": '#include "os/file.hpp"\n',
}


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def run_git(root, *arguments):
    subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false", *arguments], cwd=root, check=True, capture_output=True)


@contextlib.contextmanager
def tree(changes=None):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        write(root, {**FILES, **(changes or {})})
        yield root


@contextlib.contextmanager
def repository():
    """Makes a repository of two commits; the second changes src/os/file.hpp."""
    with tree({"src/os/file.hpp": "#pragma once\n"}) as root:
        run_git(root, "init", "-q")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "-m", "first")
        write(root, {"src/os/file.hpp": FILES["src/os/file.hpp"]})
        run_git(root, "commit", "-q", "-a", "-m", "second")
        yield root


def reached(root, files):
    return check_headers.reached(root, check_headers.Includes(root), files)


class Reach(unittest.TestCase):
    def test_what_changed_and_what_includes_it_itself_is_reached(self):
        with tree() as root:
            self.assertEqual(reached(root, {"src/base/result.hpp"}), ["src/base/result.hpp", "src/os/file.hpp"])
            self.assertEqual(reached(root, {"src/store/store.hpp"}), ["cli/verb.hpp", "src/store/store.hpp"])
            self.assertEqual(reached(root, {"src/os/file.cpp", "docs/x.md"}), [])

    def test_each_folder_finds_its_own_headers(self):
        with tree() as root:
            self.assertEqual(reached(root, {"models/mesh/ranks.hpp"}), ["models/mesh/mesh.hpp", "models/mesh/ranks.hpp"])
            self.assertEqual(reached(root, {"cli/usage.hpp"}), ["cli/usage.hpp", "cli/verb.hpp"])
            self.assertEqual(reached(root, {"fronts/fortran/descriptor.h"}), ["fronts/fortran/descriptor.h", "fronts/fortran/track.h"])
            self.assertEqual(reached(root, {"include/perdure/perdure.h"}), ["include/perdure/perdure.h", "models/process/capi/answer.hpp"])

    def test_without_a_history_all_are_reached(self):
        with tree() as root:
            every = reached(root, None)
            self.assertEqual(every, sorted(name for name in FILES if not name.startswith("tests/") and not name.endswith(".cpp")))

    def test_a_header_of_another_package_is_needed_however_deep(self):
        with tree({"cli/deep.hpp": '#include "mesh/mesh.hpp"\n'}) as root:
            includes = check_headers.Includes(root)
            self.assertIn("mpi.h", includes.all_of("cli/deep.hpp"))
            self.assertNotIn("mpi.h", includes.all_of("cli/verb.hpp"))
            self.assertEqual(includes.all_of("cli/verb.hpp"), {"src/store/store.hpp", "src/os/file.hpp", "src/base/result.hpp", "cli/usage.hpp"})


class Changed(unittest.TestCase):
    def test_the_last_commits_and_the_working_tree_count(self):
        with repository() as root:
            write(root, {"cli/new.hpp": "#pragma once\n", "cli/usage.hpp": "#pragma once\nint usage();\n"})
            self.assertEqual(check_headers.changed(root, None) & {"cli/new.hpp", "cli/usage.hpp", "src/os/file.hpp"}, {"cli/new.hpp", "cli/usage.hpp", "src/os/file.hpp"})

    def test_since_a_revision_only_the_difference_counts(self):
        with repository() as root:
            self.assertEqual(check_headers.changed(root, "HEAD~1"), {"src/os/file.hpp"})
            self.assertEqual(check_headers.changed(root, "HEAD"), set())
            write(root, {"cli/new.hpp": "#pragma once\n"})
            self.assertEqual(check_headers.changed(root, "HEAD"), {"cli/new.hpp"})
            with self.assertRaisesRegex(SystemExit, "nothere"):
                check_headers.changed(root, "nothere")

    def test_without_a_repository_nobody_knows(self):
        with tree() as root:
            self.assertIsNone(check_headers.changed(root, None))


class Compile(unittest.TestCase):
    def check(self, changes, **arguments):
        without_mpi = {"models/mesh/mesh.hpp": "#pragma once\n"}
        with tree({**without_mpi, **changes}) as root:
            return check_headers.check(root, **arguments)

    def test_headers_that_have_what_they_need_are_good(self):
        count, defects = self.check({}, every=True)
        self.assertEqual((count, defects), (len([name for name in FILES if not name.startswith("tests/") and not name.endswith(".cpp")]), []))

    def test_one_that_needs_another_before_it_is_found_in_every_folder(self):
        for name in ("src/os/bad.hpp", "models/track/bad.hpp", "cli/bad.hpp", "fronts/cpp/bad.hpp"):
            with self.subTest(name):
                _, defects = self.check({name: "#pragma once\nResult bad();\n"}, every=True)
                self.assertEqual([text.split(":")[0] for text in defects], [f"{name} does not compile alone as c++20"])

    def test_public_ones_compile_as_their_users_write(self):
        _, defects = self.check({"include/perdure/bad.h": "struct perdure_bad { int class; };\n", "include/perdure/bad.hpp": "constinit int bad = 1;\n"}, every=True)
        self.assertEqual([text.split(":")[0] for text in defects], ["include/perdure/bad.h does not compile alone as c++11", "include/perdure/bad.hpp does not compile alone as c++17"])

    def test_what_helps_tests_has_the_paths_that_cmake_gives_them(self):
        text = "const char* const program = PERDURE_PROGRAM;\n"
        cmake = {"cli/CMakeLists.txt": 'target_compile_definitions(test_cli PRIVATE PERDURE_PROGRAM="$<TARGET_FILE:perdure_cli>")\n'}
        self.assertEqual(self.check({**cmake, "cli/run_testing.hpp": text}, every=True)[1], [])
        self.assertEqual(len(self.check({**cmake, "cli/run.hpp": text}, every=True)[1]), 1)

    def test_only_what_is_reached_is_compiled_and_all_public_ones(self):
        with repository() as root:
            write(root, {"cli/usage.hpp": "#pragma once\nOdd bad();\n"})
            run_git(root, "commit", "-q", "-a", "-m", "third")
            self.assertEqual(check_headers.check(root, since="HEAD"), (1, []))
            count, defects = check_headers.check(root, since="HEAD~1")
            self.assertEqual((count, len(defects)), (3, 2))


class Program(unittest.TestCase):
    def test_other_arguments_are_refused(self):
        for arguments in (["--since"], ["--since", "--all"], ["--most"], ["--all", "x"]):
            with self.subTest(arguments), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(check_headers.main(arguments), 2)


if __name__ == "__main__":
    unittest.main()
