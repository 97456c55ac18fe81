"""The block structure of a YAML file with its places in the text: maps and lists by their indentation.

The same as yaml-scan.mjs.
"""
import json
import re

from common import is_empty, memoize
from yaml_flow import FlowReader
from yaml_plain import cannot_be_plain, plain_value
from yaml_scalars import COLON, REST_OF_LINE, SPACE, Node

MAX_DEPTH = 64
NEWLINES = re.compile("[\r\n]+")
QUOTED_KEY = re.compile(
    r"""(?:"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"|'[^'\r\n]*(?:''[^'\r\n]*)*')[ \t]*:(?=[ \t\r\n]|\Z)"""
)
MARKER = re.compile(r"(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
DASH = re.compile(r"-(?=[ \t\r\n]|\Z)")
QUESTION = re.compile(r"\?(?=[ \t\r\n]|\Z)")


class File:
    """`root` has the kind `null` when there is no content; `end` is where lines can be added."""

    def __init__(self, root, end):
        self.root = root
        self.end = end


class Entry:
    """A key of a map with its node; `name` is the key as a value, `colon_end` is behind its colon."""

    def __init__(self, key, name, start, indent):
        self.key = key
        self.name = name
        self.start = start
        self.line_start = start - indent


@memoize
def scan(text):
    """Refuses what is not YAML, has several documents, or is written in a way that is not read exactly."""
    # Tabs and a lone CR are refused elsewhere, but a file of whitespace holds nothing to be misread.
    return Scanner("" if is_empty(text) else text).document()


class Scanner(FlowReader):
    """The next line with content begins at `first`, after `indent` spaces: -1 at the end of the document."""

    def __init__(self, text):
        FlowReader.__init__(self, text)
        self.indent = -1
        self.first = 0

    def document(self):
        self.next_line()
        if self.next() == "%":
            self.refuse("Directives are not supported.")
        if self.indent < 0 and self.has("---"):
            if not self.has_only_comment():
                self.refuse("Content follows the start of the document in its line.")
            self.next_line()
        if self.indent > 0:
            self.refuse("The first line is indented.")
        root = Node("null", self.first, self.first, "null") if self.indent < 0 else self.block_node(-1, 0)
        if self.indent >= 0:
            self.refuse("The line does not fit to the one before.", self.first)
        return File(root, self.end_document())

    def end_document(self):
        """Where the document ends. Behind its end marker only comments are allowed."""
        end = self.first
        if end == len(self.text):
            return end
        if self.has("---"):
            self.refuse("The file has several documents.", end)
        self.pos += 3
        if not self.has_only_comment():
            self.refuse("Content follows the end of the document.")
        self.next_line()
        if self.first < len(self.text):
            self.refuse("Content follows the end of the document.", self.first)
        return end

    def next_line(self):
        """From the end of a line, or the start of the file, to the next line with content."""
        line = self.pos
        while True:
            if self.take(NEWLINES):
                line = self.pos
            self.indentation()
            first = self.pos
            if not self.has_only_comment():
                return self.stop_at(line, first)
            if self.pos == len(self.text):
                return self.stop_at(-1, self.pos)

    def stop_at(self, line, first):
        self.pos = first
        self.first = first
        self.indent = -1 if line < 0 else first - line
        if self.indent == 0 and self.take(MARKER):
            self.pos = first
            self.indent = -1

    def block_node(self, parent, depth):
        """What begins in the next line, which is indented more than `parent`."""
        if depth > MAX_DEPTH:
            self.refuse("Values are nested too deeply.")
        self.pos = self.first
        if self.is_dash():
            return self.list(self.indent, depth)
        if self.is_key():
            return self.map(self.indent, depth)
        if parent < 0:
            self.refuse("The file is neither a map nor a list.")
        return self.inline_node(parent, depth)

    def inline_node(self, parent, depth):
        node = self.inline(parent, depth)
        node.end = self.pos
        if not self.has_only_comment():
            self.refuse("The line continues unexpectedly.")
        self.next_line()
        return node

    def is_dash(self):
        return DASH.match(self.text, self.pos) is not None

    def is_key(self):
        """Whether a key with its colon is in this line."""
        start = self.pos
        first = self.next()
        if QUESTION.match(self.text, start):
            self.refuse("Complex keys are not supported.")
        if first in ("[", "{", "|", ">"):
            return False
        if first in ('"', "'"):
            return QUOTED_KEY.match(self.text, start) is not None
        found = COLON.search(self.take(REST_OF_LINE))
        self.pos = start
        return found is not None and found.group() == ":"

    def map(self, indent, depth):
        """A map whose first key is at `first`, in the column `indent`."""
        node = Node("map", self.first, 0, "")
        node.indent = indent
        keys = set()
        while True:
            self.pos = self.first
            if not self.is_key():
                self.refuse("A key is missing.")
            entry = self.entry(indent, depth)
            if entry.key in keys:
                self.refuse("The key is there twice.", entry.start)
            keys.add(entry.key)
            node.entries.append(entry)
            if self.indent != indent or self.starts_list():
                break
        if self.indent >= indent:
            self.refuse("The line does not fit to the one before.", self.first)
        is_known = not any(entry.is_opaque or entry.node.value == "?" for entry in node.entries)
        members = sorted(entry.name + ":" + entry.node.value for entry in node.entries)
        node.value = "{%s}" % ",".join(members) if is_known else "?"
        node.end = node.entries[-1].node.end
        return node

    def entry(self, indent, depth):
        start = self.pos
        has_properties = self.take_properties()
        key, name = self.key()
        entry = Entry(key, name, start, indent)
        if not self.has(":"):
            self.refuse("A colon is missing.")
        entry.colon_end = self.pos
        entry.is_opaque = has_properties or key == "<<"
        entry.node = self.value(indent, depth, True)
        return entry

    def key(self):
        """A key, up to its colon: as it is, and as a value."""
        start = self.pos
        if self.next() in ('"', "'"):
            key = self.quoted(float("inf"))
            self.take(SPACE)
            return key, "s" + json.dumps(key)
        found = COLON.search(self.take(REST_OF_LINE))
        if found is None:
            self.refuse("A colon is missing.", start)
        self.pos = start + found.start()
        key = self.text[start : self.pos].rstrip(" \t")
        if cannot_be_plain(key):
            self.refuse("A key cannot begin like this.", start)
        return key, plain_value(key)

    def list(self, indent, depth):
        """A list whose first dash is at `first`, in the column `indent`."""
        node = Node("seq", self.first, 0, "")
        node.indent = indent
        while True:
            line_start = self.first - indent
            self.pos = self.first + 1
            item = self.value(indent, depth, False)
            item.line_start = line_start
            node.items.append(item)
            if self.indent != indent or not self.starts_list():
                break
        if self.indent > indent:
            self.refuse("The line does not fit to the one before.", self.first)
        values = [item.value for item in node.items]
        node.value = "?" if "?" in values else "[%s]" % ",".join(values)
        node.end = node.items[-1].end
        return node

    def starts_list(self):
        self.pos = self.first
        return self.is_dash()

    def value(self, indent, depth, is_of_map):
        """What follows a colon or dash."""
        at = self.pos
        gap = self.take(SPACE)
        if not is_of_map and "\t" in gap:
            self.refuse("A tab is used as indentation.", at)
        has_properties = self.take_properties()
        if has_properties and self.is_dash():
            self.refuse("A list follows an anchor or tag in its line.")
        if self.has_only_comment():
            node = self.below(indent, depth, is_of_map, at)
        else:
            node = self.beside(indent, depth, is_of_map, at)
        if has_properties:
            node.is_opaque = True
            node.value = "?"
        return node

    def below(self, indent, depth, is_of_map, at):
        """A value in the lines below; without any, null."""
        self.next_line()
        if self.indent > indent:
            return self.block_node(indent, depth + 1)
        if is_of_map and self.indent == indent and self.starts_list():
            return self.list(indent, depth + 1)
        return Node("null", at, at, "null")

    def beside(self, indent, depth, is_of_map, at):
        """A value in the same line. Behind a dash it can be a map or list, in the column where it begins."""
        if is_of_map or not (self.is_dash() or self.is_key()):
            return self.inline_node(indent, depth)
        self.first = self.pos
        self.indent = indent + 1 + self.pos - at
        return self.block_node(indent, depth + 1)
