"""Scalars of YAML, and what surrounds them in a line, as yaml-scalars.mjs reads them.

A value is read into a text that is equal for equal values; what is not read in full has the value `?`, which equals nothing.
"""
import json
import re

from common import Reader
from yaml_plain import cannot_be_plain, plain_value

# Allowed in a file: C1 controls and line ends that only some parsers know are not.
FOREIGN = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|\r(?!\n)")
SPACE = re.compile("[ \t]*")
SPACES = re.compile(" *")
NEWLINE = re.compile("\r?\n")
REST_OF_LINE = re.compile("[^\r\n]*")
# A comment stands at the start of the file, or behind a space, a tab, a line end or the byte order mark.
ONLY_COMMENT = re.compile("[ \t]*(?:(?<![^ \t\n\ufeff])#[^\r\n]*)?(?=[\r\n]|\\Z)")
COLON = re.compile(r"[ \t]#|:(?=[ \t]|\Z)")
BLOCK_HEADER = re.compile("[|>](?:[1-9][+-]?|[+-][1-9]?)?")
PROPERTY = re.compile("&[A-Za-z0-9_.-]+|!!?[A-Za-z][A-Za-z0-9_./:-]*|!")
IN_DOUBLE = re.compile('[^"\\\\\r\n]+')
IN_SINGLE = re.compile("[^'\r\n]+")
ESCAPE = re.compile(r'\\(?:[0abt\tnvfre "/\\N_LP]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})')
ESCAPED = {
    "0": "\0",
    "a": "\x07",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


class Node:
    """A node of a file; its kind is scalar, block, null, flow, map, seq or alias.

    `end` is behind its last character; `is_opaque` says that an anchor, an alias or a tag belongs to it, `is_open` that
    its value changes when a line end is added behind it.
    """

    def __init__(self, kind, start, end, value):
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.is_opaque = False
        self.is_open = False
        self.entries = []
        self.items = []
        self.line_start = start
        self.indent = 0


class YamlReader(Reader):
    """Reads what a node has in or from its first line."""

    def __init__(self, text):
        Reader.__init__(self, text)
        self.anchors = set()
        found = FOREIGN.search(text, self.pos)
        if found is not None:
            self.refuse("This character is not allowed in YAML.", found.start())

    def at_line_end(self):
        return self.next() in ("", "\n", "\r")

    def has_only_comment(self):
        """Whether nothing but a comment is left in the line, which is passed over then."""
        found = ONLY_COMMENT.match(self.text, self.pos)
        if found is None:
            return False
        self.pos = found.end()
        return True

    def indentation(self):
        """The spaces at the start of a line. Parsers differ in what a tab behind them means."""
        length = len(self.take(SPACES))
        if self.next() == "\t":
            self.refuse("A tab is used as indentation.")
        return length

    def take_properties(self):
        """An anchor and a tag before a node."""
        if self.next() not in ("&", "!"):
            return False
        kinds = set()
        found = self.take(PROPERTY)
        while found:
            if found[0] in kinds:
                self.refuse("The value has two anchors or tags.")
            kinds.add(found[0])
            if found[0] == "&":
                self.anchors.add(found[1:])
            if not self.take(SPACE) and not self.at_line_end():
                self.refuse("An anchor or tag is not followed by a space.")
            found = self.take(PROPERTY)
        return bool(kinds)

    def quoted(self, parent):
        """A quoted scalar, whose further lines must be indented more than `parent`."""
        start = self.pos
        quote = self.next()
        self.pos += 1
        parts = []
        while True:
            run = self.take(IN_DOUBLE if quote == '"' else IN_SINGLE)
            parts.append(run.rstrip(" \t") if self.at_line_end() else run)
            if self.has(quote):
                if quote == '"' or not self.has("'"):
                    return "".join(parts)
                parts.append("'")
            elif self.next() == "\\":
                parts.append(self.escape(parent, start))
            else:
                parts.append(self.fold(parent, start))

    def escape(self, parent, start):
        """What a backslash and its sequence stand for; `start` is that of the scalar."""
        if self.text[self.pos + 1 : self.pos + 2] not in ("\r", "\n"):
            return self.unescape(ESCAPE, ESCAPED)
        self.pos += 1
        return self.fold(parent, start).replace(" ", "")

    def fold(self, parent, start):
        """Line ends within a quoted scalar: one is a space, several are one less."""
        lines = 0
        while self.take(NEWLINE):
            lines += 1
            indent = self.indentation()
            if not self.at_line_end() and indent <= parent:
                self.refuse("The line is not indented enough for this string.")
        if lines == 0 or self.pos == len(self.text):
            self.refuse("The string does not end.", start)
        return " " if lines == 1 else "\n" * (lines - 1)

    def plain(self, parent):
        start = self.pos
        parts = [self.plain_line(True)]
        end = self.pos
        while self.to_next_line(parent, parts):
            parts.append(self.plain_line(False))
            end = self.pos
        self.pos = end
        text = "".join(parts)
        return Node("scalar", start, end, plain_value(text) if len(parts) == 1 else "s" + json.dumps(text))

    def plain_line(self, is_first):
        """What belongs to a plain scalar in this line."""
        start = self.pos
        line = self.take(REST_OF_LINE)
        if is_first and cannot_be_plain(line):
            self.refuse("A value cannot begin like this.", start)
        found = COLON.search(line)
        if found is not None and found.group() == ":":
            self.refuse("A second key is in this line.", start + found.start())
        text = (line if found is None else line[: found.start()]).rstrip(" \t")
        self.pos = start + len(text)
        return text

    def to_next_line(self, parent, parts):
        """To the next line of a plain scalar, if there is one. What the line ends mean is added to `parts`."""
        lines = 0
        indent = 0
        self.take(SPACE)
        while self.take(NEWLINE):
            lines += 1
            indent = self.indentation()
        if lines == 0 or indent <= parent or self.at_line_end() or self.next() == "#":
            return False
        parts.append(" " if lines == 1 else "\n" * (lines - 1))
        return True

    def block(self, parent):
        """A literal or folded scalar, whose lines are not interpreted."""
        start = self.pos
        header = self.take(BLOCK_HEADER)
        if not self.has_only_comment():
            self.refuse("The block scalar does not begin here.")
        explicit = re.search("[1-9]", header)
        indent = 0 if explicit is None else parent + int(explicit.group())
        end = self.pos
        blanks = 0
        while self.take(NEWLINE):
            line = self.pos
            width = len(self.take(SPACES))
            if self.at_line_end() and (indent == 0 or width <= indent):
                blanks = max(blanks, width)
                if "+" in header and (width > 0 or self.pos < len(self.text)):
                    end = self.pos
                continue
            if indent == 0 and width > parent:
                indent = width
            if width < indent or width <= parent:
                if width > parent and self.next() != "#":
                    self.refuse("The line is not indented enough.")
                if self.next() == "\t":
                    self.refuse("A tab is used as indentation.")
                break
            if blanks > indent:
                self.refuse("A blank line before this one has more spaces.", line)
            self.take(REST_OF_LINE)
            end = self.pos
        self.pos = end
        node = Node("block", start, end, "?")
        node.is_open = end == len(self.text) and "-" not in header
        return node
