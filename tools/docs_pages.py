"""Implements mkdocs hooks (mkdocs.yml). They add pages from outside docs/ (README, CONTRIBUTING, CHANGELOG, the list of
decisions), and the API reference that doxygen wrote to build/api. Links to other files of the repository become their
paths. In the navigation, "folder/*" stands for the folder's pages that are not named elsewhere."""
import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
CODE = re.compile(r"(^ *```.*?^ *```$|`(?:[^`\n]|\n(?!\n))+`)", re.M | re.S)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def named(nav):
    """Yields the pages that a navigation names."""
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from named(value) if isinstance(value, list) else [value]


def expanded(nav, taken):
    for entry in nav:
        if isinstance(entry, dict):
            yield {title: list(expanded(value, taken)) if isinstance(value, list) else value for title, value in entry.items()}
        elif entry.endswith("*"):
            found = sorted((ROOT / "docs").glob(entry + ".md"))
            yield from (path for path in (str(p.relative_to(ROOT / "docs")) for p in found) if path not in taken)
        else:
            yield entry


def decisions():
    yield "# Decisions\n\nWhat cost thought: the context, the decision and its consequences, half a page each.\n"
    for path in sorted((ROOT / "docs/adr").glob("[0-9]*.md")):
        title = path.read_text().splitlines()[0].removeprefix("# ")
        yield f"- [{title}]({path.name})"


def on_config(config):
    config.nav = list(expanded(config.nav, set(named(config.nav))))
    return config


def on_files(files, config):
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    files.append(File.generated(config, "adr/index.md", content="\n".join(decisions())))
    for path in sorted((ROOT / "build/api").rglob("*")):
        if path.is_file():
            files.append(File.generated(config, "api/" + str(path.relative_to(ROOT / "build/api")), abs_src_path=str(path)))
    return files


def target_of(link, source):
    """Returns the target of a link in the repository's file `source`, as seen from the page that the file becomes."""
    path, hash_sign, anchor = link.partition("#")
    absolute = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    place = OUTSIDE.get(absolute) or (absolute.removeprefix("docs/") if absolute.startswith("docs/") else None)
    if place == "adr":
        place = "adr/index.md"
    if place is None:
        if not (ROOT / absolute).exists():
            raise PluginError(f"{source}: the link to {link} leads nowhere")
        return None, absolute
    here = OUTSIDE.get(source) or source.removeprefix("docs/")
    return posixpath.relpath(place, posixpath.dirname(here) or ".") + hash_sign + anchor, absolute


def on_page_markdown(markdown, page, config, files):
    source = next((outside for outside, name in OUTSIDE.items() if name == page.file.src_uri), "docs/" + page.file.src_uri)
    if source == "docs/adr/index.md":
        return markdown

    def replaced(match):
        mark, words, link = match.groups()
        if re.match(r"[a-z]+:|#", link):
            return match[0]
        target, absolute = target_of(link, source)
        if target is not None:
            return f"{mark}[{words}]({target})"
        return words if words.strip("`") == absolute else f"{words} (`{absolute}`)"

    parts = CODE.split(markdown)
    return "".join(part if index % 2 else LINK.sub(replaced, part) for index, part in enumerate(parts))
