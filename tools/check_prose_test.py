#!/usr/bin/env python3
"""Comments and pages in small trees: each count with an example and a counterexample; bounds only fall; subjects of commits."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check_prose"
loader = importlib.machinery.SourceFileLoader("check_prose", str(TOOL))
check_prose = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_prose", loader))
loader.exec_module(check_prose)

LONG = " ".join(["one"] * 26)
SHORT = " ".join(["one"] * 25)


@contextlib.contextmanager
def tree(files):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        yield root


def run(root, *arguments):
    """(status, output) of a call of the tool."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = check_prose.main(list(arguments), root)
    return status, output.getvalue()


def counts(text, file="src/m/a.cpp"):
    with tree({file: text}) as root:
        return check_prose.counts(root).get(check_prose.bounded(file), {})


def places(text, file="src/m/a.cpp"):
    with tree({file: text}) as root:
        return [(count, number) for count, number, _ in check_prose.places_of(root / file)]


class Openings(unittest.TestCase):
    def test_each_of_the_four_words_is_counted_where_a_comment_begins(self):
        for word in ("What", "Of", "Who", "Where"):
            with self.subTest(word):
                self.assertEqual(places(f"int a;\n// {word} is said here.\n"), [("openings", 2)])
                self.assertEqual(counts(f"/// {word} is said here.\n"), {"openings": 1})
                self.assertEqual(counts(f"int a;  ///< {word} is said here\n"), {"openings": 1})

    def test_they_are_counted_at_the_beginning_of_a_sentence_and_of_a_line(self):
        self.assertEqual(places("// Copies a block. What is left stays.\n// It ends\n// Of course it does.\n"), [("openings", 1), ("openings", 3)])

    def test_other_words_small_letters_and_questions_are_not(self):
        self.assertEqual(counts("// Whatever comes. Often so; what is left stays. Offers that.\nint a;  // what it is\n// What is left?\n"), {})

    def test_they_are_not_counted_in_code_and_its_texts(self):
        self.assertEqual(counts('const char* a = "// What is this"; auto b = R"(\n// Of it)"; int What; char c = \'"\';  // good\nint d = 1\'000;\n'), {})

    def test_comments_in_blocks_are_read(self):
        self.assertEqual(places("/* Copies.\n * What is left stays.\n */\n", "include/p/a.h"), [("openings", 2)])

    def test_other_languages_have_comments_too(self):
        self.assertEqual(places('"""What it does."""\n# Of it.\na = "# Who"\nb = """What"""\n', "tools/a.py"), [("openings", 1), ("openings", 2)])
        self.assertEqual(places("#!/usr/bin/env bash\n# Who calls.\necho a  # Where it is\necho '# What'\n", "tools/a"), [("openings", 2), ("openings", 3)])
        self.assertEqual(places("#!/usr/bin/env python3\n# Who calls.\n", "tools/a"), [("openings", 2)])
        self.assertEqual(places("x = 'What ! Of'\n!> What it does.\n", "fronts/a.f90"), [("openings", 2)])
        self.assertEqual(places("add(a)\n# What it adds.\n", "src/m/CMakeLists.txt"), [("openings", 2)])
        self.assertEqual(places("# What it adds.\n", "src/m/data.txt"), [])

    def test_pages_may_begin_so(self):
        self.assertEqual(counts("What it is. Of it.\n", "README.md"), {})

    def test_the_reason_of_a_wait_is_prose(self):
        self.assertEqual(counts("// wait: Who comes is not known\n"), {"openings": 1})


class Long(unittest.TestCase):
    def test_a_sentence_of_26_words_is_counted_in_a_comment_and_on_a_page(self):
        self.assertEqual(places(f"\n// {LONG}.\n"), [("long", 2)])
        self.assertEqual(places(f"\n{LONG}.\n", "docs/a.md"), [("long", 2)])
        self.assertEqual(counts(f"// {SHORT}.\n"), {})
        self.assertEqual(counts(f"{SHORT}.\n", "docs/a.md"), {})

    def test_a_sentence_goes_on_over_lines(self):
        self.assertEqual(places(f"// Ends. {SHORT}\n// word.\n"), [("long", 1)])
        self.assertEqual(places(f"Ends. {SHORT}\nword.\n", "docs/a.md"), [("long", 1)])
        self.assertEqual(places(f"int a;  // {SHORT}\n        // word.\n"), [("long", 1)])

    def test_it_ends_at_a_full_stop_an_empty_line_and_an_item(self):
        for between in (". Then ", "? Then ", ". read_all() ", ". at(", "\n//\n// ", "\n// - ", "\n// 2. ", "\n\n// ", "\nint a;\n// ", "\n/// "):
            with self.subTest(between):
                self.assertEqual(counts(f"// {SHORT}{between}word.\n"), {})
        for between in ("\n\n", "\n- ", "\n1. ", "\n## Title\n"):
            with self.subTest(between):
                self.assertEqual(counts(f"{SHORT}{between}word.\n", "docs/a.md"), {})

    def test_it_does_not_end_at_an_abbreviation_or_within_a_word(self):
        for inside in ("e.g. Word", "a.b", "i.e. Word", "J. Word"):
            with self.subTest(inside):
                self.assertEqual(counts(f"// {SHORT[4:]} {inside}.\n"), {"long": 1} if " " in inside else {})

    def test_comments_behind_code_are_read_one_by_one(self):
        self.assertEqual(counts(f"int a;  // {SHORT}\nint b;  // word\n// word\n"), {})

    def test_code_and_links_are_one_word(self):
        self.assertEqual(counts(f"{SHORT[4:]} `a b c`.\n", "docs/a.md"), {})
        self.assertEqual(counts(f"{SHORT[4:]} [word](https://a.b/c-d).\n", "docs/a.md"), {})

    def test_listings_tables_and_html_comments_are_no_sentences(self):
        for page in (f"```\n{LONG}\n```\n", f"| {LONG} |\n", f"<!-- {LONG} -->\n", f"<!--\n{LONG}\n-->\n", f"Text:\n\n    {LONG}\n", f"## {LONG}\n"):
            with self.subTest(page):
                self.assertEqual(counts(page, "docs/a.md").get("long", 0), 0)
        self.assertEqual(counts(f"// Layout:\n//     {LONG}\n//   a    {LONG}\n"), {})

    def test_paragraphs_of_lists_are_sentences(self):
        self.assertEqual(counts(f"- Item\n\n    {LONG}\n", "docs/a.md").get("long"), 1)


class Wide(unittest.TestCase):
    def test_a_line_of_121_columns_is_counted(self):
        self.assertEqual(places("a\n" + "x" * 121, "docs/a.md"), [("wide", 2)])
        self.assertEqual(counts("x" * 120, "docs/a.md"), {})

    def test_tables_listings_html_comments_and_targets_are_left_out(self):
        wide = "x" * 121
        for page in (f"| {wide} |\n", f"```\n{wide}\n```\n", f"<!-- {wide} -->\n", f"A:\n\n    {wide}\n", f"[a]({wide})\n", f"See https://{wide}\n"):
            with self.subTest(page[:20]):
                self.assertEqual(counts(page, "docs/a.md"), {})

    def test_code_may_be_as_wide_as_its_layout_allows(self):
        self.assertEqual(counts("// " + "x" * 121 + "\n"), {})


class Bounds(unittest.TestCase):
    FILES = {"src/m/a.cpp": "// What is.\n// Of it.\n", "docs/adr/a.md": f"{LONG}.\n"}

    def bounded(self, bounds):
        return tree(self.FILES | {check_prose.BOUNDS: bounds})

    def test_folders_of_families_and_pages_of_the_root_have_bounds_of_their_own(self):
        for file, folder in {"src/m/n/a.cpp": "src/m", "models/m/a.cpp": "models/m", "models/CMakeLists.txt": "models", "cli/a/b.cpp": "cli",
                             "docs/adr/a.md": "docs/adr", "docs/a.md": "docs", "README.md": "README.md"}.items():
            self.assertEqual(check_prose.bounded(file), folder)

    def test_a_count_at_its_bound_is_good(self):
        with self.bounded('"src/m" = { openings = 2 }\n"docs/adr" = { long = 1 }\n') as root:
            self.assertEqual(run(root), (0, "prose: good\n"))

    def test_a_count_above_its_bound_is_refused_and_without_a_bound_too(self):
        with self.bounded('"src/m" = { openings = 1 }\n') as root:
            status, output = run(root)
            self.assertEqual(status, 1)
            self.assertIn("src/m: openings: 2, and the bound is 1", output)
            self.assertIn("docs/adr: long: 1, and the bound is 0", output)

    def test_a_count_below_its_bound_is_said_and_good(self):
        with self.bounded('"src/m" = { openings = 3 }\n"docs/adr" = { long = 1 }\n"src/gone" = { long = 1 }\n') as root:
            status, output = run(root)
            self.assertEqual(status, 0)
            self.assertIn("src/m: openings: the bound can be lowered from 3 to 2", output)
            self.assertIn("src/gone: long: the bound can be lowered from 1 to 0", output)

    def test_lower_writes_lower_bounds_and_raises_none(self):
        with self.bounded('# Head.\n"src/m" = { openings = 3, long = 7 }\n"src/gone" = { long = 1 }\n') as root:
            self.assertEqual(run(root, "--lower"), (0, "bounds lowered: 3\n"))
            self.assertEqual((root / check_prose.BOUNDS).read_text(), '# Head.\n"src/m" = { openings = 2 }\n')
            self.assertEqual(run(root, "--lower"), (0, "bounds lowered: 0\n"))
            self.assertEqual(run(root)[0], 1)

    def test_list_names_the_places_of_a_folder(self):
        with self.bounded("") as root:
            self.assertEqual(run(root, "--list", "src/m"), (0, "src/m/a.cpp:1: openings: What is.\nsrc/m/a.cpp:2: openings: Of it.\n"))
            self.assertEqual(run(root, "--list", "docs/adr/a.md"), (0, f"docs/adr/a.md:1: long: {LONG}.\n"))


class Commits(unittest.TestCase):
    def test_a_subject_of_73_characters_is_refused_and_older_ones_are_not(self):
        with tempfile.TemporaryDirectory() as name:
            def commit(subject):
                subprocess.run(["git", "-C", name, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", subject + "\n\n" + LONG],
                               check=True)
            subprocess.run(["git", "init", "-q", name], check=True)
            commit("x" * 73)
            commit("x" * 72)
            self.assertEqual(run(pathlib.Path(name), "--commits", "HEAD~1"), (0, "commit subjects: good\n"))
            commit("y" * 73)
            status, output = run(pathlib.Path(name), "--commits", "HEAD~2")
            self.assertEqual(status, 1)
            self.assertEqual(output.count("\n"), 1)
            self.assertIn("a subject of 73 characters; at most 72: yyy", output)


if __name__ == "__main__":
    unittest.main()
