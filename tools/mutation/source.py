"""Splits a C++ source into tokens with their brackets, for the generator of mutants.

It relies on the layout of tools/format: a binary operator has a blank on both sides, and the brackets of a template have
none inside.
"""
import bisect
import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
      |(?P<text>(?:u8|[uUL])?R"(?P<end>\w*)\(.*?\)(?P=end)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      |(?P<number>\.?\d(?:['\w.]|(?<=[eEpP])[-+])*)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<sign>::|->\*?|\.\.\.|<=>|<<=|>>=|&&|\|\||[<>=!]=|[-+*/%^&|]=|\+\+|--|<<|.)""",
    re.X | re.S | re.M,
)
OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = set(OPENING.values())
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "mutable"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    outer: int = -1  # the opening bracket around it, as an index; -1: none
    other: int = -1  # of a bracket: its counterpart


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "blank"]
        self._lines = [m.start() for m in re.finditer("^", text, re.M)]
        self._match_brackets()
        self.braces = {i: self._kind_of_brace(i) for i, token in enumerate(self.tokens) if token.text == "{"}

    def line(self, position):
        return bisect.bisect_right(self._lines, position)

    def _match_brackets(self):
        stack = []
        for i, token in enumerate(self.tokens):
            if token.text in CLOSING and stack:
                token.other = stack.pop()
                self.tokens[token.other].other = i
            token.outer = stack[-1] if stack else -1
            if token.text in OPENING:
                stack.append(i)
        if stack:
            raise ValueError(f"{self.path}: a bracket is not closed")

    def is_text(self, i, *texts):
        return 0 <= i < len(self.tokens) and self.tokens[i].text in texts

    def declaration_begin(self, i):
        """Returns the first token of the declaration of token i, outside of functions."""
        outer = self.tokens[i].outer
        while i > outer + 1 and not self.is_text(i - 1, ";", "{", "}"):
            i -= 1
        return i

    def _kind_of_brace(self, i):
        """Returns "space" (a namespace or a class), "body" (of a function or lambda), "block" (in a function) or "list"
        (of values)."""
        tokens, before = self.tokens, i - 1
        inside = tokens[i].outer >= 0 and self.in_function(tokens[i].outer)
        while before >= 0 and tokens[before].text in AFTER_PARAMETERS:
            before -= 1
        if self.is_text(before, "else", "do", "try"):
            return "block"
        if self.is_text(before, ")"):
            opener = tokens[before].other
            return "block" if inside and self.is_text(opener - 1, "if", "for", "while", "switch", "catch", "constexpr") else "body"
        if self.is_text(before, "]"):
            return "body"  # of a lambda without parameters
        if inside:
            if self.is_text(before, ";", "{", "}"):
                return "block"
            return "body" if self._ends_return_type(before) else "list"
        words = [t.text for t in tokens[self.declaration_begin(i) : i]]
        if "=" in words:
            return "list"
        if "namespace" in words or {"class", "struct", "union"} & set(words[:1] + (words[words.index(">") + 1 :][:1] if words[:1] == ["template"] else [])):
            return "space"
        if words[:1] == ["enum"]:
            return "list"
        return "body" if self._ends_return_type(before) or self.is_text(before, "}") else "list"

    def _ends_return_type(self, i):
        """Matches `-> base::Result<int> {`."""
        for _ in range(12):
            if self.is_text(i, "->"):
                return True
            if i < 0 or not (self.tokens[i].kind == "name" or self.is_text(i, "::", "<", ">", ",", "*", "&")):
                return False
            i -= 1
        return False

    def in_function(self, i):
        """Whether token i is a bracket of the body of a function, or within it."""
        while i >= 0:
            if self.braces_kind(i) == "body":
                return True
            i = self.tokens[i].outer
        return False

    def braces_kind(self, i):
        return self.__dict__.setdefault("braces", {}).get(i) or (self._remember_brace(i) if self.tokens[i].text == "{" else None)

    def _remember_brace(self, i):
        self.braces[i] = self._kind_of_brace(i)
        return self.braces[i]

    def flat(self, begin, end):
        """Returns the text between two positions on one line, without comments."""
        words, last = [], begin
        for token in self.tokens[bisect.bisect_left([t.begin for t in self.tokens], begin) :]:
            if token.begin >= end:
                break
            if words and token.begin > last:
                words.append(" ")
            words.append(token.text)
            last = token.end
        return "".join(words)
