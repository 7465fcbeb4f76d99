#!/usr/bin/env python3
"""Tests that the acceptance test of the layout refuses a member that needs more places than promised."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

FILE = pathlib.Path(__file__).resolve().parent / "acceptance"
LOADER = importlib.machinery.SourceFileLoader("acceptance", str(FILE))
acceptance = importlib.util.module_from_spec(importlib.util.spec_from_loader("acceptance", LOADER))
LOADER.exec_module(acceptance)

TREE = {"src/registry.cpp": b"declared\nrows\n", "src/other.cpp": b"rows\n", "src/suite_test.cpp": b"members\n",
        "src/ipc/all_messages.hpp": b"structures\ntable\n", "src/engine/serve/all_requests.cpp": b"handlers\n", acceptance.OPTIONS: b"options\n"}
HEAD = 'what = "a member"\nsource = "new.cpp"\nto = "src/new.cpp"\n'
ROW = '[[row]]\nfile = "src/registry.cpp"\nafter = "rows"\nadd = """\nnew\n"""\n'
MESSAGE = 'what = "a message"\n[[row]]\nfile = "src/ipc/all_messages.hpp"\nreplace = "table"\nadd = """\n1\n2\n3\n4\ntable and 1\n"""\n'
HANDLER = '[[handler]]\nfile = "src/engine/serve/all_requests.cpp"\nafter = "handlers"\nadd = """\nnew\n"""\n'
ENROLMENT = '[enrolment]\nfile = "src/suite_test.cpp"\nafter = "members"\nadd = """\nnew\n"""\n'


class Acceptance(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        acceptance.DESCRIPTIONS = pathlib.Path(self.folder.name)
        (acceptance.DESCRIPTIONS / "sources").mkdir()
        (acceptance.DESCRIPTIONS / "sources/new.cpp").write_text("source\n")

    def added(self, text):
        description = acceptance.DESCRIPTIONS / "new.toml"
        description.write_text(text)
        tree = dict(TREE)
        return acceptance.add_member(tree, description), tree

    def refused(self, text, why):
        with self.assertRaisesRegex(acceptance.Refused, why):
            self.added(text)

    def test_a_file_a_row_an_enrolment_and_options_are_added(self):
        option = '[[option]]\nbefore = "options"\nadd = """\none\ntwo\n"""\n'
        text, tree = self.added(HEAD + ROW + option + ENROLMENT)
        self.assertEqual(tree["src/registry.cpp"], b"declared\nrows\nnew\n")
        self.assertEqual(tree[acceptance.OPTIONS], b"one\ntwo\noptions\n")
        self.assertEqual(tree["src/suite_test.cpp"], b"members\nnew\n")
        self.assertEqual(tree["src/new.cpp"], b"source\n")
        self.assertIn("its options", text)

    def test_a_message_is_in_the_header_of_its_family_and_with_its_handlers(self):
        text, tree = self.added(MESSAGE + HANDLER)
        self.assertEqual(tree["src/ipc/all_messages.hpp"], b"structures\n1\n2\n3\n4\ntable and 1\n")
        self.assertEqual(tree["src/engine/serve/all_requests.cpp"], b"handlers\nnew\n")
        self.assertEqual(set(tree), set(TREE))
        self.assertEqual(text, "src/ipc/all_messages.hpp, its handler in src/engine/serve/all_requests.cpp")

    def test_a_message_of_more_than_two_places_is_refused(self):
        self.refused(MESSAGE, "is no message")
        self.refused(MESSAGE + HANDLER + HANDLER.replace("src/engine/serve/all_requests.cpp", "src/other.cpp").replace("handlers", "rows"), "handler is in 2 files")
        self.refused(MESSAGE + HANDLER + ENROLMENT, "is no message")
        self.refused(MESSAGE + HANDLER + '[[option]]\nbefore = "options"\nadd = """\none\n"""\n', "is no message")
        self.refused(MESSAGE.replace("src/ipc/all_messages.hpp", "src/other.cpp").replace('"table"', '"rows"') + HANDLER, "is no message")
        self.refused(MESSAGE + HANDLER.replace("src/engine/serve/all_requests.cpp", "src/other.cpp").replace("handlers", "rows"), "is no message")

    def test_only_a_message_has_a_handler(self):
        self.refused(HEAD + ROW + HANDLER, "it changes src/engine/serve/all_requests.cpp")

    def test_rows_in_two_files_are_refused(self):
        self.refused(HEAD + ROW + ROW.replace("registry", "other"), "row is in 2 files")

    def test_a_row_of_many_lines_is_refused(self):
        self.refused(HEAD + ROW.replace("new\n", "1\n2\n3\n4\n"), "has 4 lines")

    def test_two_lines_of_enrolment_are_refused(self):
        self.refused(HEAD + ROW + ENROLMENT.replace("new\n", "1\n2\n"), "enrolment has 2 lines")

    def test_an_enrolment_that_is_not_in_a_suite_is_refused(self):
        self.refused(HEAD + ROW + ENROLMENT.replace("src/suite_test.cpp", "src/other.cpp").replace("members", "rows"), "is no suite")

    def test_a_member_without_a_row_is_refused(self):
        self.refused(HEAD, "no row")

    def test_a_place_that_is_not_there_any_more_is_refused(self):
        self.refused(HEAD + ROW.replace('"rows"', '"moved"'), "0 lines are")

    def test_a_source_that_is_there_already_is_refused(self):
        self.refused(HEAD.replace("src/new.cpp", "src/other.cpp") + ROW, "is there already")


if __name__ == "__main__":
    unittest.main()
