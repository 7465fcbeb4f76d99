#!/usr/bin/env python3
"""Tests that the check of a built site's links finds its violations, and no others."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_links  # noqa: E402


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perdure-links-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "sub").mkdir()
        self.page("sub/other.html", '<h1 id="there">x</h1><a name="old"></a>')

    def page(self, name, content):
        (self.root / name).write_text(f"<html><body>{content}</body></html>")

    def found(self, content):
        self.page("index.html", content)
        return list(check_links.defects(self.root))

    def test_good_links_are_good(self):
        self.assertEqual([], self.found('<a href="sub/other.html#there">a</a><a href="sub/other.html#old">b</a><a href="#me" id="me">c</a>'
                                        '<a href="https://example.org/x">d</a><a href="mailto:a@b">e</a><a href="/sub/other.html">f</a>'))

    def test_a_page_that_is_not_there(self):
        self.assertEqual(["index.html: nowhere.html leads nowhere"], self.found('<a href="nowhere.html">a</a>'))

    def test_an_anchor_that_is_not_there(self):
        self.assertEqual(["index.html: sub/other.html#gone: no such anchor there"], self.found('<a href="sub/other.html#gone">a</a>'))

    def test_an_anchor_of_the_page_itself(self):
        self.assertEqual(["index.html: #gone: no such anchor there"], self.found('<a href="#gone">a</a>'))

    def test_a_way_out_of_the_site(self):
        self.assertEqual(1, len(self.found('<a href="../../etc/passwd">a</a>')))

    def test_a_picture_that_is_not_there(self):
        self.assertEqual(["index.html: a.svg leads nowhere"], self.found('<img src="a.svg"/>'))

    def test_what_is_loaded_from_outside(self):
        for tag in ('<script src="https://cdn.example/x.js"></script>', '<link rel="stylesheet" href="//fonts.example/y.css">'):
            with self.subTest(tag):
                self.assertEqual(1, len(self.found(tag)))

    def test_a_folder_without_pages(self):
        with tempfile.TemporaryDirectory(prefix="perdure-links-") as empty:
            self.assertEqual(1, len(list(check_links.defects(pathlib.Path(empty)))))


if __name__ == "__main__":
    unittest.main()
