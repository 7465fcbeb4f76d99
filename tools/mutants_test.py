#!/usr/bin/env python3
"""Tests which mutants tools/mutants makes of a source, and that the code behaves as before until one of them is
switched on."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import types
import unittest

from mutation import listed, running, systems, tree
from mutation.operators import changes_of
from mutation.source import Source

ROOT = pathlib.Path(__file__).resolve().parent.parent

loader = importlib.machinery.SourceFileLoader("mutants", str(ROOT / "tools/mutants"))  # a program, without an ending
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
loader.exec_module(mutants)

PROGRAM = """// A program. a < b in a comment is nothing.
#include <cstdio>
#include <string>
#include <vector>

namespace {
#define TWICE(x) ((x) + (x))

struct Pair {
  int first = 1 + 1;
  bool less(const Pair& other) const { return first < other.first; }
};

int sum(const std::vector<int>& all, int least) {
  int total = 0;
  for (int one : all)
    if (one >= least && !(one == 7))
      total += one;
    else
      total += TWICE(one - 1);
  return total;
}

void say(int number) {
  const std::string text = "is " + std::to_string(number);
  std::puts(text.c_str());
}

}  // namespace

int main() {
  const Pair one{1}, two{2};
  std::vector<std::vector<int>> lists{{1, 2, 7, 9}};
  if (one.less(two)) say(sum(lists[1 - 1], 2));
  return 0;
}
"""


def changes(text):
    return changes_of(Source("src/a.cpp", text))


def whats(text):
    return [change.what for change in changes(text)]


class Generator(unittest.TestCase):
    def test_leaves_out_what_changes_no_result_and_what_the_compiler_computes(self):
        self.assertEqual(whats("void f(int a, int b) {\n  g(a > b ? a - b : 0);\n  list.reserve(a);\n}"), ["f() returns at once", "left out: g(a > b ? a - b : 0)", "- becomes +"])
        self.assertIn("> becomes >=", whats("void f(int a, int b) { g(a > b ? a - c : 0); }"))
        self.assertEqual(whats("constexpr int f(int a) {\n  return a + 1;\n}"), [])

    def test_finds_operators_and_no_templates_references_or_words(self):
        self.assertEqual(whats("bool f(T&& a, std::map<int, std::set<int>> b) { return g(a, b) < 3 && !b.empty(); }"),
                         ["f() returns at once", "! is left out", "&& becomes ||", "< becomes <="])
        self.assertEqual(whats('std::string f(int a) { return "a < b && " + std::to_string(a) + "!"; }'), ["f() returns at once"])

    def test_changes_nothing_outside_of_functions(self):
        self.assertEqual(whats("constexpr int kTwo = 1 + 1;\nint table[] = {2 - 1};\nstruct A { int b = 2 - 1; bool c(); };\nenum class E { one = 2 - 1 };"), [])

    def test_exchanges_the_smallest_expression(self):
        found = {change.what: change.text for change in changes("int f(int a) {\n  const int b = g([&](int c) { return c < a; }, a - 1);\n  return b;\n}")}
        self.assertEqual(found["< becomes <="], "c <= a")
        self.assertEqual(found["- becomes +"], "a + 1")

    def test_leaves_out_statements_and_no_declarations(self):
        text = "void f() {\n  int a = 1, b;\n  std::lock_guard lock(m);\n  a = 2;\n  g(a);\n  if (a) h();\n  for (;;) break;\n  PERDURE_TRY(b, g());\n  PERDURE_CHECK(h(a));\n}"
        self.assertEqual([what for what in whats(text) if what.startswith("left out")],
                         ["left out: a = 2", "left out: g(a)", "left out: h()", "left out: break", "left out: PERDURE_CHECK(h(a))"])

    def test_turns_conditions_round_that_have_no_operator(self):
        self.assertIn("the condition is turned round: found(a)", whats("void f() { if (found(a)) g(); }"))
        self.assertIn("the condition is turned round: a", whats("void f() { if (auto a = g(); a) g(); }"))
        self.assertFalse([what for what in whats("void f() { if (a == b) g(); if (const auto* c = d()) g(); }") if "round" in what])

    def test_names_lines_and_numbers_files_in_order(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for file in ("a.cpp", "b.cpp"):
                (root / file).write_text("// one\nint f(int a) {\n  return a - 1;\n}\n")
            numbered = tree.numbered(root, [pathlib.Path("a.cpp"), pathlib.Path("b.cpp")])
        self.assertEqual([(c.number, c.path, c.line) for c in numbered], [(1, "a.cpp", 2), (2, "a.cpp", 3), (3, "b.cpp", 2), (4, "b.cpp", 3)])


class Listed(unittest.TestCase):
    def test_the_list_fits_the_code(self):
        mutants, _ = listed.read(ROOT, ROOT / "tests/mutants.toml")
        self.assertGreater(len(mutants), 10)
        files = list(tree.sources(ROOT))
        for mutant in mutants:
            self.assertIn(pathlib.Path(mutant.path), files, "it would not be run")
        self.assertGreater(len(tree.numbered(ROOT, files, mutants)), 3000)

    def test_what_nobody_could_notice_is_a_change_that_is_made(self):
        mutants, equivalents = listed.read(ROOT, ROOT / "tests/mutants.toml")
        made = tree.numbered(ROOT, list(tree.sources(ROOT)), mutants)
        for entry in equivalents:
            self.assertIn(len([change for change in made if listed.is_equivalent(change, [entry])]), (1, 2), entry)

    def test_what_is_not_there_exactly_once_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "a.cpp").write_text("void f() {\n  g(1);\n  // the second\n  g(1);\n}\n")
            entry = '[[mutant]]\nbreaks = "a promise"\nfile = "a.cpp"\nold = "g(1);"\nnew = ""\n'
            (root / "list").write_text(entry)
            with self.assertRaisesRegex(ValueError, "a promise.* 2 times"):
                listed.read(root, root / "list")
            (root / "list").write_text(entry + 'after = "the second"\n')
            (mutant,), _ = listed.read(root, root / "list")
        self.assertEqual((mutant.line, mutant.kind), (4, "statement"))


class Draw(unittest.TestCase):
    def changes(self, root, text):
        (root / "a.cpp").write_text(text)
        return tree.numbered(root, [pathlib.Path("a.cpp")])

    def lots(self, text, seed=1):
        with tempfile.TemporaryDirectory() as name:
            changes = self.changes(pathlib.Path(name), text)
        order = mutants.lots(changes, seed)
        return {(change.what, change.text, order[change.number]) for change in changes}

    def test_asks_unchanged_code_the_same_again(self):
        text = "int f(int a) {\n  return a - 1;\n}\nint g(int a) {\n  return b - 1;\n}\n"
        before, after = self.lots(text), self.lots("// moved\n" + text.replace("b - 1", "b - 2"))
        self.assertEqual(len(before), 4)
        self.assertEqual(len(before & after), 3)
        self.assertFalse(before & self.lots(text, seed=2))

    def test_does_not_ask_what_nobody_could_notice(self):
        with tempfile.TemporaryDirectory() as name:
            changes = self.changes(pathlib.Path(name), "int f(int a) {\n  return a - 1;\n}\n")
        options = types.SimpleNamespace(number=[], file="", count=0, seed=1)
        entry = {"file": "a.cpp", "what": "- becomes +"}
        self.assertEqual([change.what for change in mutants.drawn(changes, options, [entry])], ["f() returns at once"])


class WholeSystems(unittest.TestCase):
    def test_judge_with_the_quickest_tests_that_there_is_time_for(self):
        tests = [("spine", "slow", systems.LONGEST_TEST + 1.0), ("spine", "b", 2.0), ("spine", "a", 1.0)] + [("spine", f"long {i}", 9.0) for i in range(20)]
        chosen = systems.affordable(tests)
        self.assertEqual([name for _, name, _ in chosen[:3]], ["a", "b", "long 0"])
        self.assertNotIn("slow", [name for _, name, _ in chosen])
        self.assertLessEqual(sum(seconds for _, _, seconds in chosen), systems.LONGEST)

    def test_are_suites_that_there_are(self):
        there = set(re.findall(r"^TEST(?:_[FP])?\((\w+),", "".join(file.read_text() for file in (ROOT / "tests/spine").glob("*_test.cpp")), re.M))
        self.assertFalse(set(systems.SUITES) - there)


class Batches(unittest.TestCase):
    def test_are_the_quick_tests_first_and_all_of_them_once(self):
        tests = [("own", "slow", 20.0), ("own", "quick", 0.1), ("other", "middling", 3.0), ("own", "also quick", 0.2)]
        found = list(running.batches(tests))
        self.assertEqual([(program, names) for program, names, _ in found],
                         [("own", ["quick", "also quick"]), ("other", ["middling"]), ("own", ["slow"])])


@unittest.skipUnless(shutil.which("c++"), "there is no compiler")
class Mutated(unittest.TestCase):
    def test_every_mutant_compiles_and_is_behind_its_own_switch(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            all_changes = tree.numbered(self.written(root, PROGRAM), [pathlib.Path("a.cpp")])
            tree.replace(root / "perdure_mutation.hpp", tree.SWITCH.read_bytes())
            said = self.compile(root, all_changes)
            self.assertEqual(said, "")
            (root / "marks").write_bytes(bytes(len(all_changes) + 1))
            self.assertEqual(self.run_with(root, PERDURE_TEST_MUTANTS_REACHED=root / "marks"), (0, "is 23\n"))
            self.assertEqual((root / "marks").read_bytes(), b"\0" + b"\1" * len(all_changes))
            outcomes = {change.what: self.run_with(root, PERDURE_TEST_MUTANT=change.number) for change in all_changes}
        self.assertEqual(outcomes["< becomes <="], (0, "is 23\n"))
        self.assertEqual(outcomes["less() returns at once"], (0, ""))
        self.assertEqual(outcomes["&& becomes ||"], (0, "is 19\n"))
        self.assertEqual(outcomes["! is left out"], (0, "is 25\n"))
        self.assertEqual(outcomes["left out: std::puts(text.c_str())"], (0, ""))
        self.assertEqual(len([what for what in outcomes if outcomes[what] != (0, "is 23\n")]), len(outcomes) - 2, "one is not less than itself; 2 is twice 1")

    def test_the_compiler_says_which_one_it_refuses(self):
        text = "struct A {};\nstruct B {\n  B() = delete;\n};\nB* f(int a) {\n  A x;\n  return a - 1 == 0 ? nullptr : (B*)&x;\n}\nB& g(B& b) {\n  return b;\n}\n"
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            all_changes = tree.numbered(self.written(root, text), [pathlib.Path("a.cpp")])
            tree.replace(root / "perdure_mutation.hpp", tree.SWITCH.read_bytes())
            numbers = tree.blamed(self.compile(root, all_changes, "-c"), root, all_changes)
            self.assertEqual([c.what for c in all_changes if c.number in numbers], ["g() returns at once"])

    def written(self, root, text):
        (root / "a.cpp").write_text(text)
        return root

    def compile(self, root, all_changes, *more):
        (root / "m.cpp").write_text(tree.MutatedFile("a.cpp", (root / "a.cpp").read_text(), all_changes, root).render())
        return subprocess.run(["c++", "-std=c++20", "-w", *more, "m.cpp", "-o", "m"], cwd=root, capture_output=True, text=True).stderr

    def run_with(self, root, **environment):
        done = subprocess.run([root / "m"], env={**os.environ, **{key: str(value) for key, value in environment.items()}}, capture_output=True, text=True)
        return done.returncode, done.stdout


if __name__ == "__main__":
    unittest.main()
