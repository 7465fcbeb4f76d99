#!/usr/bin/env python3
"""The gauges on small sources: what counts as a method, a member, a flag, a container of versions, a place, a bound."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "gauges"
loader = importlib.machinery.SourceFileLoader("gauges", str(TOOL))
gauges = importlib.util.module_from_spec(importlib.util.spec_from_loader("gauges", loader))
loader.exec_module(gauges)


def classes(text, file="src/engine/a.hpp"):
    return {c.name: c for c in gauges.Parser(file, text).classes}


def members(text):
    return [name for name, _ in classes("struct A {" + text + "};")["A"].members]


def methods(text):
    return classes("class A { public: " + text + "};")["A"].methods


class Tree:
    """A source tree in a temporary directory."""

    def __init__(self, **files):
        self.files = files

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.directory.name)
        (root / "src").mkdir()
        for path, text in self.files.get("files", {}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    def __exit__(self, *_):
        self.directory.cleanup()


def values(files):
    with Tree(files=files) as root:
        return {gauge: (value, of) for gauge, of, value in gauges.rows(root, gauges.classes_of(root))}


class Methods(unittest.TestCase):
    def test_overloads_static_and_inline_ones_count_one_by_one(self):
        self.assertEqual(methods("void f(); void f(int a, int b = 3) const { if (a < b) {} } static int g(); [[nodiscard]] virtual bool h() = 0;"),
                         ["f", "f", "g", "h"])

    def test_constructors_destructors_operators_and_deleted_ones_do_not(self):
        self.assertEqual(methods("A(); explicit A(int x) : x_(x), y_{x} { f(); } ~A(); A(const A&) = delete; A& operator=(A&&) = default;"
                                 "bool operator<(const A&) const; int operator()(int) { return 1; } explicit operator bool() const; friend void k(A);"
                                 "void stays() &; private: int x_; int y_;"), ["stays"])

    def test_private_and_protected_ones_do_not(self):
        self.assertEqual(methods("void a(); private: void b(); protected: void c(); public: void d();"), ["a", "d"])
        self.assertEqual(classes("struct S { void a(); };  class C { void b(); };")["S"].methods, ["a"])
        self.assertEqual(classes("class C { void b(); };")["C"].methods, [])

    def test_templates_and_types_with_commas_and_angles_are_read(self):
        self.assertEqual(methods("template <class T, int N = 3> std::map<int, std::vector<T>> all(std::function<void(T)> each);"
                                 "auto last() -> std::pair<int, int>;"), ["all", "last"])


class Members(unittest.TestCase):
    def test_every_declarator_counts_static_ones_do_not(self):
        self.assertEqual(members("int a, b = 2; static int c; static constexpr int d = 1; std::map<int, int> e, f; unsigned g : 3;"),
                         ["a", "b", "e", "f", "g"])

    def test_functions_as_values_brace_initialisers_and_annotations_are_members(self):
        self.assertEqual(members("std::function<void(int)> a; int b{7}; std::function<bool()> c = {}; void (*d)(int) = nullptr;"
                                 "int e PERDURE_GUARDED_BY(mutex_); std::array<int, 3> f = {1, 2, 3};"),
                         ["a", "b", "c", "d", "e", "f"])

    def test_nested_types_have_their_own(self):
        found = classes("class A { struct B { int x; bool y; }; enum class C { one, two }; B b_; using D = int; friend class E; };")
        self.assertEqual([name for name, _ in found["A"].members], ["b_"])
        self.assertEqual([name for name, _ in found["B"].members], ["x", "y"])
        self.assertEqual(found["B"].full_name, "A::B")

    def test_comments_strings_and_macros_are_no_code(self):
        self.assertEqual(members('// int x;\n/* int y; */ const char* z = "int a; }";\n#define B int b;\n#if 1\nint c;\n#endif\n'), ["z", "c"])

    def test_what_a_function_declares_is_none(self):
        found = classes("namespace perdure::n { inline int f() { struct L { int a; }; int b; return 1; } struct M { int c; }; }")
        self.assertEqual(sorted(found), ["M"])
        self.assertEqual(found["M"].full_name, "n::M")


class Gauges(unittest.TestCase):
    def test_a_structure_without_hidden_members_is_no_class(self):
        found = classes("struct R { int a; void f(); }; class C { public: void f(); private: int a; };")
        self.assertFalse(found["R"].is_class)
        self.assertTrue(found["C"].is_class)

    def test_the_largest_class_is_named_and_tests_are_left_out(self):
        many = "class A { public: " + "".join(f"void f{i}();" for i in range(30)) + " private: int a_; };"
        found = values({"src/m/a.hpp": many, "src/m/a_test.cpp": many.replace("A", "B") + many.replace("class A", "class C"),
                        "src/m/b_testing.hpp": many.replace("void f0();", "void f0(); void g();")})
        self.assertEqual(found["public methods of the largest class"], (30, "A"))

    def test_flags_are_those_of_the_engine_and_the_client_without_options(self):
        found = values({"src/engine/ledger/a.hpp": "struct S { bool a, b; std::atomic<bool> c; int d; };  struct AOptions { bool a, b, c, d, e; };",
                        "src/plan/b.hpp": "struct T { bool a, b, c, d, e, f; };"})
        self.assertEqual(found["flags of the largest state structure"], (3, "S"))

    def test_containers_of_versions_ids_are_those_of_the_engine(self):
        found = values({"src/engine/a.hpp": "class A { std::map<segment::VersionId, int> a_; std::set<VersionId> b_; std::deque<VersionId> g_; std::set<std::string> c_;"
                                            "std::map<int, std::set<catalog::RedundancyId>> d_; std::map<int, VersionId> e_;"
                                            "std::map<std::pair<VersionId, int>, bool> f_; };",
                        "src/catalog/b.hpp": "struct B { std::map<VersionId, int> versions; };"})
        self.assertEqual(found["containers keyed by a version"], (4, "A.a_, A.b_, A.d_, A.f_"))

    def test_a_bound_counts_only_where_a_test_asserts_it(self):
        gauge, constant = "lock acquisitions per flushed chunk", "kMostLocksPerFlushedChunk"
        declared = f"constexpr unsigned {constant} = 2;\n"
        self.assertEqual(values({"src/a_test.cpp": declared + "TEST(A, B) {}\n"})[gauge], (None, f"no test asserts {constant}"))
        self.assertEqual(values({"src/a_test.cpp": declared + f"TEST(A, B) {{}}\nTEST_F(C, D) {{\n  EXPECT_LE(taken(),\n  {constant});\n}}\n"})[gauge],
                         (2, "C.D"))

    def test_places_are_the_existing_files_that_a_member_changes(self):
        tier = """source = "striped.cpp"
to = "src/tier/striped.cpp"
[[row]]
file = "src/tier/registry.cpp"
[[row]]
file = "src/tier/registry.cpp"
[enrolment]
file = "src/tier/conformance_test.cpp"
"""
        found = values({"tests/acceptance/tier.toml": tier, "tests/acceptance/scheme.toml": tier + "[[option]]\nadd = 'a'\n"})
        self.assertEqual(found["places to touch: tier"], (2, "src/tier/conformance_test.cpp, src/tier/registry.cpp"))
        self.assertEqual(found["places to touch: scheme"][0], 3)
        self.assertEqual(found["places to touch: store"], (None, "no tests/acceptance/store.toml"))


class Program(unittest.TestCase):
    def run_on(self, flags, arguments, reached):
        text = "struct S { " + "".join(f"bool a{i};" for i in range(flags)) + " };"
        with Tree(files={"src/engine/a.hpp": text}) as root, contextlib.redirect_stdout(io.StringIO()) as said:
            return gauges.main(arguments, root, reached), said.getvalue()

    def test_check_fails_only_when_a_reached_gauge_gets_worse(self):
        gauge = {"flags of the largest state structure"}
        self.assertEqual(self.run_on(4, ["--check"], set())[0], 0)
        self.assertEqual(self.run_on(4, [], gauge)[0], 0)
        self.assertEqual(self.run_on(3, ["--check"], gauge)[0], 0)
        status, said = self.run_on(4, ["--check"], gauge)
        self.assertEqual(status, 1)
        self.assertIn("gauges: flags of the largest state structure: 4, and was at most 3 before: S", said)

    def test_the_table_says_what_is_met(self):
        _, said = self.run_on(2, [], set())
        line = next(line for line in said.splitlines() if "flags of the largest" in line)
        self.assertRegex(line, r"\| 2 +\| 3 +\| met +\| S +\|")
        self.assertRegex(said, r"scheme +\| - +\| 2 +\| not met")

    def test_every_gauge_that_was_reached_is_one(self):
        self.assertLessEqual(gauges.REACHED, set(gauges.GOALS))


if __name__ == "__main__":
    unittest.main()
