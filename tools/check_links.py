#!/usr/bin/env python3
"""Checks every page of a built site: tools/check_links.py FOLDER
Every link within the site must lead to an existing file, and to an existing anchor. No page may load anything from
outside. Prints the violations; status 1 if there are any.
"""
import html.parser
import pathlib
import sys
import urllib.parse

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}  # and <link href>, unless it is canonical


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8", errors="replace"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        source = values.get(LOADED.get(tag, "")) or (values.get("href") if tag == "link" else None)
        if source and values.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(source)

    handle_startendtag = handle_starttag


def defects(root):
    root = root.resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    if not pages:
        yield f"{root}: no page"
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme not in ("data", "javascript"):
                    yield f"{path.relative_to(root)}: loads {link} from outside"
                continue
            target = path
            if parts.path:
                base = root if parts.path.startswith("/") else path.parent
                target = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or not target.is_relative_to(root):
                yield f"{path.relative_to(root)}: {link} leads nowhere"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(root)}: {link}: no such anchor there"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(defects(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "links: good")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
