"""Reads JSON with comments and trailing commas into a tree that knows where everything stands. json-tree.mjs is the same in JavaScript."""
import json
import re

from common import Reader, refuse, memoize

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


class JsonReader(Reader):
    """`gap` is where the whitespace in front of `pos` begins; `has_break` says whether a line ended since the last value
    or separator."""

    def __init__(self, text):
        Reader.__init__(self, text)
        self.gap = 0
        self.has_break = False
        self.line_ends = set()

    def file(self):
        self.skip()
        root = self.value(0) if self.pos < len(self.text) else None
        self.skip()
        if self.pos < len(self.text):
            self.refuse("The file continues after its value.")
        return Tree(self.text, root, self.line_ends)

    def skip(self):
        """Skips whitespace and comments."""
        self.has_break = False
        while True:
            start = self.gap = self.pos
            end = self.pos = WHITESPACE.match(self.text, start).end()
            if end > start and self.text.find("\n", start, end) >= 0:
                self.has_break = True
            if not self.text.startswith("/", end):
                return
            if self.take(LINE_COMMENT):
                self.end_line()
            elif not self.take(BLOCK_COMMENT):
                self.refuse("The comment does not end.")

    def end_line(self):
        """A lone CR ends a `//` comment for some programs and not for others."""
        if self.next() == "\r" and not self.text.startswith("\r\n", self.pos):
            self.refuse("A CR stands without an LF.")
        self.line_ends.add(self.pos)

    def value(self, depth):
        if depth > MAX_DEPTH:
            self.refuse("Values are nested too deeply.")
        start = self.pos
        first = self.next()
        if first == "{":
            return self.container("object", "}", depth)
        if first == "[":
            return self.container("array", "]", depth)
        if first == '"':
            value = self.string()
            return Node("string", start, self.pos, value, [], 0)
        found = SCALAR.match(self.text, start)
        if found is None:
            self.refuse("A value is missing or not valid.")
        self.pos = found.end()
        return Node("literal" if found.group(1) is None else "number", start, self.pos, found.group(), [], 0)

    def container(self, kind, close, depth):
        start = self.pos
        self.pos += 1
        children = []
        self.skip()
        text = self.text
        while not text.startswith(close, self.pos):
            child = self.child(kind, depth + 1)
            children.append(child)
            self.skip()
            if text.startswith(",", self.pos):
                child.comma = self.pos
                self.pos += 1
                self.skip()
            elif not text.startswith(close, self.pos):
                self.refuse('A comma or "%s" is missing.' % close)
        self.pos += 1
        return Node(kind, start, self.pos, "", children, self.gap)

    def child(self, kind, depth):
        gap, starts_line, start = self.gap, self.has_break, self.pos
        if kind == "array":
            return Child(gap, starts_line, start, None, "", self.value(depth))
        name = self.string()
        name_end = self.pos
        self.colon()
        colon = self.text[name_end : self.pos]
        return Child(gap, starts_line, start, name, colon, self.value(depth))

    def colon(self):
        self.skip()
        if not self.has(":"):
            self.refuse("A colon is missing.")
        self.skip()

    def string(self):
        if self.next() != '"':
            self.refuse("A name in double quotes is missing.")
        raw = self.take(STRING)
        if not self.has('"'):
            self.refuse("The string does not end, or is not escaped correctly.")
        return json.loads(raw + '"') if "\\" in raw else raw[1:]


@memoize
def parse(text):
    """The tree of a text: JSON, with comments and trailing commas. Raises a Refusal with the place of the first error."""
    return JsonReader(text).file()


def member_of(tree, node, name):
    """The member of a name, or None. Refuses two members of it: which of them counts differs between programs."""
    found = [child for child in node.children if child.name == name]
    if len(found) > 1:
        refuse(tree.text, found[1].start, "The key is there twice.")
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
