"""Reads JSON with comments and trailing commas into a tree that knows where everything stands. json-tree.mjs is the same in JavaScript."""
import json
import re

from common import refuse, remembering

MAX_DEPTH = 200
WHITESPACE = re.compile(r"[ \t\r\n]*")
LINE_COMMENT = re.compile(r"//[^\r\n]*")
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SCALAR = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|true|false|null")
STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*')
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z\Z")


class Node:
    """A value. `kind`: object, array, string, number or literal. `value`: the parsed text of a string, the characters of
    a number or literal. Objects and arrays have `children`, and `tail`, the end of their last child, comma or comment."""

    __slots__ = ("kind", "start", "end", "value", "children", "tail")

    def __init__(self, kind, start, end, value, children, tail):
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.children = children
        self.tail = tail


class Child:
    """A member of an object, or an entry of an array. `gap`: where the whitespace in front of it begins. `starts_line`:
    whether it stands on another line than what is in front of it. `name`: parsed, None in arrays. `colon`: what separates
    name and value. `comma`: the offset of the comma behind it, or -1."""

    __slots__ = ("gap", "starts_line", "start", "name", "colon", "node", "end", "comma")

    def __init__(self, gap, starts_line, start, name, colon, node):
        self.gap = gap
        self.starts_line = starts_line
        self.start = start
        self.name = name
        self.colon = colon
        self.node = node
        self.end = node.end
        self.comma = -1


class Tree:
    """`root`: None in a file of comments. `line_ends`: the offsets where `//` comments end."""

    def __init__(self, text, root, line_ends):
        self.text = text
        self.root = root
        self.line_ends = line_ends


class Reader:
    def __init__(self, text):
        self.text = text
        self.offset = 1 if text.startswith("\ufeff") else 0
        self.gap = 0
        self.has_break = False
        self.line_ends = set()

    def file(self):
        self.skip()
        root = self.value(0) if self.offset < len(self.text) else None
        self.skip()
        if self.offset < len(self.text):
            self.fail("expected the end of the file")
        return Tree(self.text, root, self.line_ends)

    def skip(self):
        """Skips whitespace and comments, and notes where the last whitespace began and whether a line ended."""
        self.has_break = False
        while True:
            start = self.gap = self.offset
            end = self.offset = WHITESPACE.match(self.text, start).end()
            if end > start and self.text.find("\n", start, end) >= 0:
                self.has_break = True
            if not self.text.startswith("/", end):
                return
            if self.take(LINE_COMMENT):
                self.end_line()
            elif not self.take(BLOCK_COMMENT):
                self.fail("expected a comment that is closed")

    def end_line(self):
        """A lone CR ends a `//` comment for some programs and not for others."""
        if self.is_at("\r") and not self.is_at("\r\n"):
            self.fail("found a CR without an LF")
        self.line_ends.add(self.offset)

    def value(self, depth):
        if depth > MAX_DEPTH:
            self.fail("found more than %d levels" % MAX_DEPTH)
        start = self.offset
        first = self.text[start : start + 1]
        if first == "{":
            return self.container("object", "}", depth)
        if first == "[":
            return self.container("array", "]", depth)
        if first == '"':
            value = self.string()
            return Node("string", start, self.offset, value, [], 0)
        found = SCALAR.match(self.text, start)
        if found is None:
            self.fail("expected a value")
        self.offset = found.end()
        return Node("literal" if found.group(1) is None else "number", start, self.offset, found.group(), [], 0)

    def container(self, kind, close, depth):
        start = self.offset
        self.offset += 1
        children = []
        self.skip()
        text = self.text
        while not text.startswith(close, self.offset):
            child = self.child(kind, depth + 1)
            children.append(child)
            self.skip()
            if text.startswith(",", self.offset):
                child.comma = self.offset
                self.offset += 1
                self.skip()
            elif not text.startswith(close, self.offset):
                self.fail('expected a comma or "%s"' % close)
        self.offset += 1
        return Node(kind, start, self.offset, "", children, self.gap)

    def child(self, kind, depth):
        gap, starts_line, start = self.gap, self.has_break, self.offset
        if kind == "array":
            return Child(gap, starts_line, start, None, "", self.value(depth))
        name = self.string()
        name_end = self.offset
        self.colon()
        colon = self.text[name_end : self.offset]
        return Child(gap, starts_line, start, name, colon, self.value(depth))

    def colon(self):
        self.skip()
        if not self.is_at(":"):
            self.fail("expected a colon")
        self.offset += 1
        self.skip()

    def string(self):
        start = self.offset
        if not self.is_at('"'):
            self.fail("expected a name in double quotes")
        self.take(STRING)
        if not self.is_at('"'):
            self.fail("expected a string that is closed and escaped")
        self.offset += 1
        raw = self.text[start : self.offset]
        return json.loads(raw) if "\\" in raw else raw[1:-1]

    def is_at(self, text):
        return self.text.startswith(text, self.offset)

    def take(self, pattern):
        """Whether a pattern matches more than nothing."""
        found = pattern.match(self.text, self.offset)
        if found is None or found.end() == self.offset:
            return False
        self.offset = found.end()
        return True

    def fail(self, problem):
        refuse(self.text, self.offset, problem + ".")


@remembering
def parse(text):
    """The tree of a text: JSON, with comments and trailing commas. Raises a Refusal with the place of the first error."""
    return Reader(text).file()


def member_of(tree, node, name):
    """The member of a name, or None. Refuses two members of it: which of them counts differs between programs."""
    found = [child for child in node.children if child.name == name]
    if len(found) > 1:
        refuse(tree.text, found[1].start, "found a second member of the same name.")
    return found[0] if found else None


def is_equal(one, other):
    """Whether two values are the same, however they are written. Objects with two members of one name equal nothing."""
    return has_all(one, other, True)


def has_all(node, wanted, is_exact=False):
    """Whether an object has all members of another, at every level: tools add members to what they find. With
    `is_exact`, more members are a difference."""
    if node.kind != wanted.kind:
        return False
    if node.kind == "number":
        return is_same_number(node.value, wanted.value)
    if node.kind == "array":
        pairs = zip(node.children, wanted.children)
        return len(node.children) == len(wanted.children) and all(is_equal(own.node, entry.node) for own, entry in pairs)
    if node.kind != "object":
        return node.value == wanted.value or (is_time(node) and is_time(wanted))
    members = {child.name: child.node for child in node.children}
    names = {child.name for child in wanted.children}
    if len(members) < len(node.children) or len(names) < len(wanted.children):
        return False
    if is_exact and len(members) != len(names):
        return False
    return all(child.name in members and has_all(members[child.name], child.node, is_exact) for child in wanted.children)


def is_time(node):
    """A time is as good as another one: tools put the time of their last change where settings need one."""
    return node.kind == "string" and TIME.match(node.value) is not None


def is_same_number(one, other):
    """Numbers beyond 2^53 lose digits when they are read, so that their characters are compared."""
    return one == other or (float(one) == float(other) and abs(float(one)) <= 9007199254740991)
