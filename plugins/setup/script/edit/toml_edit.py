"""Settings in TOML files, as Codex has them. Only the bytes of our own settings change. The same as toml.mjs.

Keys of the root go before the first table: below a header they would belong to that table. New tables go to the end.
"""
import re

from common import (
    apply_edits,
    restore_empty,
    fill_empty,
    insert_lines,
    is_blank_above,
    is_empty,
    line_end_of,
    refuse,
    start_of_line,
    with_line_ends,
)
from toml_scan import Node, find, scan


def merge(current, wanted, options=None):
    """The file with the wanted settings in it; `current` is None when there is no file."""
    if is_empty(current):
        return fill_empty(current, wanted)
    file = scan(current)
    edits = []
    added = []
    for path, header, pairs in tables_of(wanted):
        node, is_blocked, last = find(file.root, path)
        if is_blocked:
            refuse(current, first_statement(last).key_start, "Nothing can be added to the table %s here." % ".".join(path))
        absent = [pair for pair in pairs if find(node or Node("header"), pair.keys)[0] is None]
        for pair in pairs:
            if pair not in absent:
                edits += change(current, path, node, pair)
        lines = [pair.line for pair in absent]
        if node is None or node.how == "implied":
            added.append(header + "".join(lines))
        elif lines:
            edits.append(insertion(current, file, node, lines))
    text = apply_edits(current, edits)
    for table in added:
        text = append(text, table)
    return text


def remove(current, wanted, before, options=None):
    """(the file without the wanted settings, names of those that others have changed, which stay)

    `wanted` is what was merged, `before` the file before that, None when there was none.
    """
    if merge(before, wanted) == current:
        return "" if before is None else before, []
    file = scan(current)
    former_file = scan("" if before is None else before)
    edits = []
    left = []
    removed = []
    for path, value in settings_of(wanted):
        node, _, last = find(file.root, path)
        if node is None and last.how not in ("value", "array"):
            continue
        former = find(former_file.root, path)[0]
        if node is None or node.value != value:
            left.append(".".join(path))
        elif former is None or former.how != "value":
            removed.append(node.statement)
            edits.append((node.statement.start, node.statement.end, ""))
        elif former.value != value:
            text = before[former.statement.value_start : former.statement.value_end]
            edits.append(replace_value(node.statement, text))
    edits += remove_headers(current, file, former_file, wanted, removed, before) + remove_gap(current, file, former_file, removed)
    return restore_empty(apply_edits(current, edits), before), left


def missing(current, wanted, options=None):
    """The names of the wanted settings that the file does not have, or not with these values."""
    root = scan("" if current is None else current).root
    names = []
    for path, value in settings_of(wanted):
        node = find(root, path)[0]
        if node is None or node.value != value:
            names.append(".".join(path))
    return names


class Pair:
    """A wanted setting of a table: its line, and the text of its value."""

    def __init__(self, wanted, statement):
        self.keys = statement.keys
        self.value = statement.value
        self.line = wanted[statement.key_start : statement.value_end] + "\n"
        self.text = wanted[statement.value_start : statement.value_end]


def tables_of(wanted):
    """(path, text of the header, pairs) of each table of the wanted text."""
    file = scan(wanted)
    tables = [([], "", file.root)]
    for path, table in file.tables:
        tables.append((path, wanted[table.statement.key_start : table.statement.value_end] + "\n", table))
    return [(path, header, [Pair(wanted, pair) for pair in table.pairs]) for path, header, table in tables]


def settings_of(wanted):
    return [(path + pair.keys, pair.value) for path, _, pairs in tables_of(wanted) for pair in pairs]


def change(current, path, table, pair):
    """The edits that give a present key its wanted value."""
    node = find(table, pair.keys)[0]
    if node.how != "value":
        name = ".".join(path + pair.keys)
        refuse(current, first_statement(node).key_start, "%s is a table here, not a value." % name)
    if node.value == pair.value:
        return []
    return [replace_value(node.statement, with_line_ends(pair.text, line_end_of(current)))]


def replace_value(statement, text):
    return statement.value_start, statement.value_end, text


def first_statement(node):
    """An implied table is in the file only by the tables inside."""
    while node.statement is None:
        node = next(iter(node.children.values()))
    return node.statement


def insertion(current, file, table, lines):
    """Adds lines at the end of a present table, before the blank lines and comments that introduce the next one."""
    last = table.pairs[-1] if table.pairs else table.statement
    if last is not None:
        indent = re.search("[ \t]*\\Z", current[last.start : last.key_start]).group()
        return insert_lines(current, last.end, "".join(indent + line for line in lines))
    if file.first_header < 0:
        return insert_lines(current, len(current), "".join(lines))
    return insert_lines(current, introduction_of(current, file.first_header), "".join(lines) + "\n")


def introduction_of(text, header):
    """Where the comments begin that stand directly above a header. A directive such as `#:schema` stays at the top."""
    start = header
    while start > 1:
        above = max(start_of_line(text, start - 1), 1 if text.startswith("\ufeff") else 0)
        if not re.match("[ \t]*#(?!:)", text[above:start]):
            break
        start = above
    return start


def append(text, table):
    """The text with a new table at its end, after a blank line."""
    lines = table if is_blank_above(text, len(text)) else "\n" + table
    return text + insert_lines(text, len(text), lines)[2]


def remove_headers(current, file, former_file, wanted, removed, before):
    """Removes our empty headers, each with the blank line above it: the first came without one where the file ended with
    one."""
    had_blank = not is_empty(before) and is_blank_above(before, len(before))
    edits = []
    ours = []
    for path, _, _ in tables_of(wanted):
        former = find(former_file.root, path)[0]
        if path and (former is None or former.how == "implied"):
            ours.append(path)
    for index, path in enumerate(ours):
        node = find(file.root, path)[0]
        if node is None or node.how != "header" or any(pair not in removed for pair in node.pairs):
            continue
        start = node.statement.start
        has_blank = not (had_blank and index == 0) and start > 0 and is_blank_above(current, start)
        edits.append((start_of_line(current, start - 1) if has_blank else start, node.statement.end, ""))
    return edits


def remove_gap(current, file, former_file, removed):
    """The blank line that came with the first keys of the root."""
    came = not former_file.root.pairs and former_file.first_header >= 0
    if not came or not file.root.pairs or any(pair not in removed for pair in file.root.pairs):
        return []
    start = file.root.pairs[-1].end
    gap = re.match("[ \t]*\r?\n", current[start : start + 200])
    return [] if gap is None else [(start, start + gap.end(), "")]
