#!/usr/bin/env python3
"""Tests names of types in small trees: known words, unknown ones, and forbidden ones."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check_words"
loader = importlib.machinery.SourceFileLoader("check_words", str(TOOL))
check_words = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_words", loader))
loader.exec_module(check_words)

GLOSSARY = """# Glossary
| word | meaning |
| --- | --- |
| flush | to copy chunks |
| rank image | everything of one rank; one is a *picture* |
| commit, abort | two ends |

## Words that we do not use
| not | but |
| --- | --- |
| loan, lend | export |
| kept part | block |
"""
PLAIN = "# comment words\nwriter table\nstate  # more comment\n"


def defects(source, glossary=GLOSSARY, plain=PLAIN, file="src/m/a.hpp"):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {"docs/glossary.md": glossary, "tools/plain_words.txt": plain, file: source}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return list(check_words.defects(root))


class CheckWords(unittest.TestCase):
    def test_words_of_the_glossary_and_plain_ones_are_known_in_every_form(self):
        self.assertEqual(defects("class FlushedTables final : public State {};\nstruct Outer::RankImage { };\nenum class Aborting { a };\nunion Pictures {};"), [])

    def test_another_word_is_found_with_its_file_and_type(self):
        self.assertEqual(defects("struct FlushShelf {"), ["src/m/a.hpp: FlushShelf: 'shelf' is neither in docs/glossary.md nor in tools/plain_words.txt"])

    def test_an_unused_word_is_refused_in_every_place(self):
        for plain in (PLAIN, PLAIN + "loan\n"):
            self.assertEqual(defects("struct LoanTable {", plain=plain),
                             ["src/m/a.hpp: LoanTable: 'loan' is a word that we do not use; docs/glossary.md says which instead"])
        self.assertEqual(len(defects("struct Loans {")), 1)

    def test_a_word_of_an_unused_expression_is_judged_by_itself(self):
        self.assertIn("'kept' is neither", defects("struct KeptTable {")[0])

    def test_names_of_c_are_taken_apart_at_underscores(self):
        self.assertEqual(len(defects("typedef enum {\n  a\n} flush_odd;\n", file="include/x.h")), 1)
        self.assertEqual(defects("typedef struct {\n  int a;\n} flush_state;\n", file="include/x.h"), [])

    def test_declarations_comments_text_and_tests_are_no_definitions(self):
        self.assertEqual(defects('class Odd;\n// struct Odd {\n/* class Odd { */ const char* a = "enum Odd {";\ntemplate <class Odd> void f();'), [])
        self.assertEqual(defects("struct Odd {", file="src/m/a_test.cpp"), [])
        self.assertEqual(defects("struct Odd {", file="src/m/a_testing.hpp"), [])
        self.assertEqual(defects("struct Odd {", file="models/process/programs/a.cpp"), [])

    def test_every_folder_of_the_product_is_read(self):
        for file in ("include/perdure/a.h", "models/mesh/a.hpp", "models/process/capi/a.hpp", "cli/a.cpp", "fronts/fortran/a.c", "daemon/main.cpp", "parityd/main.cpp"):
            with self.subTest(file):
                self.assertEqual(defects("struct Odd {", file=file), [f"{file}: Odd: 'odd' is neither in docs/glossary.md nor in tools/plain_words.txt"])

    def test_no_word_stands_in_two_lists(self):
        self.assertEqual(defects("", plain=PLAIN + "flush\n"), ["tools/plain_words.txt: flush: it is a word of the glossary"])
        self.assertEqual(defects("", glossary=GLOSSARY.replace("| flush |", "| loan |")), ["docs/glossary.md: loan: it is used and not used"])


if __name__ == "__main__":
    unittest.main()
