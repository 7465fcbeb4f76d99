"""Splits C++ into tokens, each with its line, without comments, text and directives."""
import re

TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|&&|\|\||<=>|<=|>=|==|!=|[-+*/%^&|]=|\+\+|--|\.\.\.|\S")
ANNOTATION = re.compile(r"[A-Z][A-Z0-9_]{2,}$")


def lines_of(text):
    return "\n" * text.count("\n")


BRANCHES = ("if", "for", "while", "case", "catch", "&&", "||", "?")


def all_tokens(text):
    text = re.sub(r'R"(\w*)\(.*?\)\1"', lambda m: '""' + lines_of(m.group(0)), text, flags=re.S)
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
                  lambda m: " " + lines_of(m.group(0)) if m.group(0)[0] == "/" else " 0 ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: lines_of(m.group(0)), text, flags=re.M)
    tokens, lines = [], []
    for number, line in enumerate(text.split("\n"), 1):
        found = TOKEN.findall(line)
        tokens += found
        lines += [number] * len(found)
    return tokens, lines


def tokens_of(text):
    """Returns (the tokens, the line of each)."""
    return without_annotations(*all_tokens(text))


def branch_lines(text):
    """Returns the line of each branch, ascending, in the arguments of macros, too."""
    tokens, lines = all_tokens(text)
    return [line for k, (token, line) in enumerate(zip(tokens, lines)) if token in BRANCHES and (token != "&&" or tokens[k - 1] not in ("auto", ">"))]


def without_annotations(tokens, lines):
    """Removes macros in capitals with their arguments, because annotations such as GUARDED_BY(mutex_) look like
    functions."""
    kept, i = [], 0
    while i < len(tokens):
        if ANNOTATION.match(tokens[i]):
            i += 1
            if i < len(tokens) and tokens[i] == "(":
                i = closing(tokens, i) + 1
        else:
            kept.append(i)
            i += 1
    return [tokens[k] for k in kept], [lines[k] for k in kept]


def closing(tokens, i):
    """Returns the index of the bracket that closes the one at `i`."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    opened, closed, depth = tokens[i], pairs[tokens[i]], 0
    for j in range(i, len(tokens)):
        depth += (tokens[j] == opened) - (tokens[j] == closed)
        if depth == 0:
            return j
    return len(tokens) - 1


def angle_end(tokens, i):
    """Returns the index after the `>` that closes the `<` at `i`."""
    depth = 0
    while i < len(tokens):
        if tokens[i] in "([{":
            i = closing(tokens, i)
        elif tokens[i] == "<":
            depth += 1
        elif tokens[i] == ">":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


def top_level(text):
    """Returns the tokens, those inside of <...> blanked."""
    result, depth = [], 0
    for t in text:
        depth -= t == ">" and depth > 0
        result.append(t if depth == 0 else "")
        depth += t == "<"
    return result


def top_commas(tokens):
    piece, depth = [], 0
    for t in tokens:
        depth += (t == "<") - (t == ">")
        if t == "," and depth == 0:
            yield piece
            piece = []
        else:
            piece.append(t)
    yield piece
