"""The statements of a TOML file and the tables they make, with their places in the text. The same as toml-scan.mjs."""
from common import is_empty, memoize
from toml_values import TomlReader


class Statement:
    """A line `key = value` or `[header]`.

    `start` and `end` are its whole lines; `key_start` is where the key or header begins, `value_start` and `value_end`
    the value or the end of the header.
    """

    __slots__ = ("start", "end", "key_start", "keys", "value_start", "value_end", "value")

    def __init__(self, start, key_start, keys):
        self.start = start
        self.key_start = key_start
        self.keys = keys
        self.value = None


class Node:
    """`how` says what defined it: header, implied (inner tables only), dotted, array (`[[header]]`) or value."""

    __slots__ = ("how", "children", "statement", "pairs", "value", "last")

    def __init__(self, how, statement=None):
        self.how = how
        self.children = {}
        self.statement = statement
        self.pairs = []
        self.value = statement.value if how == "value" else None
        self.last = None  # of an array, the table that is its last element


class File:
    """`tables` are (path, node) of the tables with headers, without those in arrays.

    `first_header` is where the first line with a header of any kind starts, -1 without one.
    """

    def __init__(self):
        self.root = Node("header")
        self.tables = []
        self.first_header = -1


@memoize
def scan(text):
    # A lone CR is no line end in TOML, but a file of whitespace holds nothing to be misread.
    reader = TomlReader("" if is_empty(text) else text)
    file = File()
    table = file.root
    while reader.pos < len(reader.text):
        start = reader.pos
        reader.skip_space()
        if reader.next() in ("", "#", "\n", "\r"):
            reader.end_line()
        elif reader.next() == "[":
            statement, is_array = read_header(reader, start)
            table = (open_array if is_array else open_table)(reader, file.root, statement)
            if not is_array:
                file.tables.append((statement.keys, table))
            if file.first_header < 0:
                file.first_header = start
        else:
            pair = read_pair(reader, start)
            define(reader, table, pair)
            table.pairs.append(pair)
    return file


def find(root, path):
    """(the node at a path or None, whether a value, an array or dotted keys stand on the path, the innermost node)"""
    last = root
    is_blocked = False
    for key in path:
        if key not in last.children:
            return None, is_blocked, last
        last = last.children[key]
        is_blocked = is_blocked or last.how in ("value", "array", "dotted")
    return last, is_blocked, last


def read_pair(reader, start):
    key_start = reader.pos
    pair = Statement(start, key_start, reader.keys())
    if not reader.has("="):
        reader.refuse("An equals sign is missing.")
    reader.skip_space()
    pair.value_start = reader.pos
    pair.value = reader.value()
    pair.value_end = reader.pos
    reader.end_line()
    pair.end = reader.pos
    return pair


def read_header(reader, start):
    key_start = reader.pos
    is_array = reader.has("[[")
    if not is_array:
        reader.pos += 1
    header = Statement(start, key_start, reader.keys())
    if not reader.has("]]" if is_array else "]"):
        reader.refuse("The table header does not end.")
    header.value_start = key_start
    header.value_end = reader.pos
    reader.end_line()
    header.end = reader.pos
    return header, is_array


def parent_of(reader, root, header):
    """The table that holds the last key of a header."""
    node = root
    for key in header.keys[:-1]:
        if key not in node.children:
            node.children[key] = Node("implied")
        node = node.children[key]
        if node.how == "value":
            reader.refuse("A part of the table name is a value elsewhere.", header.key_start)
        if node.how == "array":
            node = node.last
    return node


def open_table(reader, root, header):
    children = parent_of(reader, root, header).children
    present = children.get(header.keys[-1])
    if present is not None and present.how != "implied":
        refuse_twice(reader, header)
    table = Node("header") if present is None else present
    table.how = "header"
    table.statement = header
    children[header.keys[-1]] = table
    return table


def open_array(reader, root, header):
    """An array has no children: what follows belongs to its last element."""
    children = parent_of(reader, root, header).children
    array = children.setdefault(header.keys[-1], Node("array", header))
    if array.how != "array":
        refuse_twice(reader, header)
    array.last = Node("header", header)
    return array.last


def define(reader, table, pair):
    node = table
    for key in pair.keys[:-1]:
        node = node.children.setdefault(key, Node("dotted", pair))
        if node.how != "dotted":
            refuse_twice(reader, pair)
    if pair.keys[-1] in node.children:
        refuse_twice(reader, pair)
    node.children[pair.keys[-1]] = Node("value", pair)


def refuse_twice(reader, statement):
    reader.refuse("The key or table is defined twice.", statement.key_start)
