#!/usr/bin/env python3
"""Tests the gauges on small sources: methods, members, flags, lines of functions, classes behind a lock, containers of
versions, places, and bounds."""
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
        parsers = gauges.parsed(root)
        return {gauge: (value, of) for gauge, of, value in gauges.rows(root, parsers, gauges.sizes(parsers), gauges.known_of(root))}


def behind_locks(*texts):
    """Returns {class: the names of the classes whose public methods are counted for it}."""
    parsers = [gauges.Parser(f"src/m/{number}.hpp", text) for number, text in enumerate(texts)]
    return {name: sorted(one.full_name for one in reached) for name, reached in gauges.interfaces(parsers).items()}


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


class Functions(unittest.TestCase):
    def lines(self, text):
        return dict(gauges.Parser("src/m/a.cpp", text).functions)

    def test_lines_are_those_from_the_first_word_to_the_closing_brace(self):
        self.assertEqual(self.lines("namespace perdure::m {\n\n// said of it\nvoid f(int a,\n       int b) {\n  // one\n\n  g();\n}\nint h() { return 1; }\n}\n"),
                         {"m::f": 6, "m::h": 1})

    def test_comments_texts_and_directives_keep_the_lines_behind_them(self):
        self.assertEqual(self.lines('/* a\nb */\n#define A \\\n  1\nconst char* t = R"(x\ny)";\nvoid f() {\n  g(R"(x\ny)");\n  /* a\n */\n}\n'), {"f": 6})

    def test_the_complexity_counts_branches_in_lambdas_and_macros_too(self):
        text = ("int h() { return 1; }\nvoid f(std::vector<int>&& a) {\n  // if && ?\n  PERDURE_CHECK(g([&] { if (a && b) c(\"if\"); }));\n"
                "  for (auto&& x : y) d = x ? 1 : 2;\n}\n")
        self.assertEqual(dict(gauges.Parser("src/m/a.cpp", text).complexities), {"h": 1, "f": 5})

    def test_methods_bear_the_names_of_their_classes(self):
        found = self.lines("namespace n { class A { A() : a_{1} {\n} int b() const {\n\n} }; template <class T> void A::c(T t) {\n} A::~A() {\n}"
                           "A& A::operator=(const A&) {\n return *this; } std::string operator+(A a) { return {}; } }")
        self.assertEqual(found, {"n::A::A": 2, "n::A::b": 3, "n::A::c": 2, "n::A::~A": 2, "n::A::operator": 2, "n::operator": 1})

    def test_what_is_only_declared_has_none(self):
        self.assertEqual(self.lines("void f(int a);\nclass A { void g();\n int b_{1}; std::function<void()> c = [] {\n}; };\nauto d = [] {\n};\n"), {})


class Locks(unittest.TestCase):
    PART = "namespace perdure::m { class Part { public: void a(); void b(); private: int x_; }; }"

    def test_public_members_of_known_classes_are_parts_and_others_are_none(self):
        whole = """namespace perdure::m { class Whole { public: void c(); Part part{x}; const std::vector<Part>& all(); std::map<int, Other> others; int d;
                   private: Hidden hidden_; }; class Hidden { public: void e(); }; class Other { public: void f(); };
                   class User { mutable base::Guarded<Whole> whole_; }; }"""
        self.assertEqual(behind_locks(self.PART, whole), {"m::Whole": ["m::Part", "m::Whole"]})

    def test_parts_of_parts_and_what_is_pointed_to_count_each_once(self):
        whole = """namespace perdure::m { struct Whole { Inner one, two; std::unique_ptr<Part> part; }; struct Inner { const Part& part; Whole* back; }; }
                   namespace perdure::n { using Ledger = base::Guarded<m::Whole>; }"""
        self.assertEqual(behind_locks(self.PART, whole), {"m::Whole": ["m::Inner", "m::Part", "m::Whole"]})

    def test_names_mean_what_they_mean_where_they_stand(self):
        user = """namespace perdure::m { class User { struct State { Part part; }; base::Guarded<State> state_; }; struct State {};
                  class Lister { using Part = std::list<int>; base::Guarded<Part> parts_; }; class Other { using All = Part; base::Guarded<All> all_; };
                  class Foreign { base::Guarded<std::set<std::string>> names_; }; }"""
        self.assertEqual(behind_locks(self.PART, user), {"m::User::State": ["m::Part", "m::User::State"], "m::Part": ["m::Part"]})

    def test_the_interface_behind_one_lock_is_the_sum(self):
        whole = "namespace perdure::m { class Whole { public: void c(); Part part; private: int x_; }; struct User { base::Guarded<Whole> whole; }; }"
        self.assertEqual(values({"src/m/a.hpp": self.PART, "src/m/b.hpp": whole})["public methods behind one lock"], (3, "m::Whole"))
        self.assertEqual(values({"src/m/a.hpp": self.PART, "src/m/b.hpp": whole.replace("base::Guarded<Whole>", "Whole")})["public methods behind one lock"], (0, ""))


class Gauges(unittest.TestCase):
    def test_every_folder_of_the_product_is_seen_and_captured_programs_are_not(self):
        large = "class A { public: void f(); private: " + "".join(f"int a{i}_;" for i in range(20)) + " };"
        for folder, count in (("src/m", 20), ("models/track", 20), ("cli", 20), ("fronts/cpp", 20), ("daemon", 20), ("parityd", 20), ("bench", 0),
                              ("models/process/programs", 0)):
            with self.subTest(folder):
                self.assertEqual(values({folder + "/a.cpp": large})["members of the largest class"][0], count)

    def test_what_is_known_is_not_the_largest(self):
        text = "struct A { bool a, b, c, d, e; }; struct B { bool a, b; };"
        known = '["flags of the largest state structure"]\nA = 5\n'
        self.assertEqual(values({"models/m/a.hpp": text, gauges.KNOWN: known})["flags of the largest state structure"], (2, "B"))

    def test_a_structure_without_hidden_members_is_no_class(self):
        found = classes("struct R { int a; void f(); }; class C { public: void f(); private: int a; };")
        self.assertFalse(found["R"].is_class)
        self.assertTrue(found["C"].is_class)

    def test_the_largest_class_is_named_and_tests_are_left_out(self):
        many = "class A { public: " + "".join(f"void f{i}();" for i in range(30)) + " private: int a_; };"
        found = values({"src/m/a.hpp": many, "src/m/a_test.cpp": many.replace("A", "B") + many.replace("class A", "class C"),
                        "src/m/b_testing.hpp": many.replace("void f0();", "void f0(); void g();")})
        self.assertEqual(found["public methods of the largest class"], (30, "A"))

    def test_flags_are_those_of_the_engine_the_client_and_outside_src_without_options(self):
        found = values({"src/engine/ledger/a.hpp": "struct S { bool a, b; std::atomic<bool> c; int d; };  struct AOptions { bool a, b, c, d, e; };",
                        "src/plan/b.hpp": "struct T { bool a, b, c, d, e, f; };",
                        "cli/c.cpp": "struct CArguments { bool a, b, c, d, e; };  struct CChoices { bool a, b, c, d, e; };"})
        self.assertEqual(found["flags of the largest state structure"], (3, "S"))
        self.assertEqual(values({"cli/c.cpp": "struct C { bool a, b; };"})["flags of the largest state structure"], (2, "C"))

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
    def run_on(self, flags, arguments, reached, known=""):
        text = "struct S { " + "".join(f"bool a{i};" for i in range(flags)) + " };"
        with Tree(files={"src/engine/a.hpp": text, gauges.KNOWN: known}) as root, contextlib.redirect_stdout(io.StringIO()) as said:
            return gauges.main(arguments, root, reached), said.getvalue()

    KNOWN = '["flags of the largest state structure"]\nS = 5\n'

    def test_what_is_known_may_stay_and_not_grow(self):
        gauge = {"flags of the largest state structure"}
        status, said = self.run_on(5, ["--check"], gauge, self.KNOWN)
        self.assertEqual(status, 0)
        self.assertIn(f"gauges: 1 are known to be beyond a goal: {gauges.KNOWN}", said)
        self.assertRegex(self.run_on(5, [], gauge, self.KNOWN)[1], r"\| flags of the largest state structure \| 5 +\| 5 +\| S +\|")
        self.assertEqual(self.run_on(6, [], gauge, self.KNOWN)[0], 0)
        status, said = self.run_on(6, ["--check"], gauge, self.KNOWN)
        self.assertEqual(status, 1)
        self.assertIn(f"gauges: flags of the largest state structure: 6, and was 5 when {gauges.KNOWN} listed it: S", said)

    def test_what_has_shrunk_is_said_and_fails_nothing(self):
        gauge = {"flags of the largest state structure"}
        status, said = self.run_on(4, ["--check"], gauge, self.KNOWN)
        self.assertEqual(status, 0)
        self.assertIn(f"S is down to 4: write that in {gauges.KNOWN} in place of 5", said)
        for flags, known in ((3, self.KNOWN), (3, self.KNOWN.replace("S =", "Gone ="))):
            status, said = self.run_on(flags, ["--check"], gauge, known)
            self.assertEqual(status, 0)
            self.assertIn(f"is not beyond the goal any more: take it out of {gauges.KNOWN}", said)

    def test_at_80_percent_a_warning_fails_nothing(self):
        status, said = self.run_on(3, ["--check"], {"flags of the largest state structure"})
        self.assertEqual(status, 0)
        self.assertIn("gauges: warning: flags of the largest state structure: 1 at 80 % of 3 or more: S 3\n", said)
        self.assertNotIn("warning", self.run_on(2, ["--check"], set())[1])
        self.assertNotIn("warning", self.run_on(4, ["--check"], set())[1])

    def test_what_is_known_is_among_the_gauges_and_beyond_its_goal(self):
        for gauge, those in gauges.known_of(gauges.ROOT).items():
            for name, size in those.items():
                self.assertGreater(size, gauges.GOALS[gauge], name)

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
