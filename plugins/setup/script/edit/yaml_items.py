"""Items of a list in a YAML file: which is which, and their lines. The same as yaml-items.mjs."""
import re

from common import line_end_of, start_of_line, with_line_ends


def finder_in(items, options):
    """A function that finds (the item that has all the members of a wanted one, True); otherwise (the one with the same
    identity, or None, False)."""
    groups = group_by([item for item in items if is_clear(item, options)], lambda item: group_of(item, options))
    values = group_by(items, lambda item: item.value)

    def item_like(want):
        alike = groups.get(group_of(want, options), []) if is_clear(want, options) else []
        equal = [] if want.value == "?" else values.get(want.value, [])
        larger = [item for item in (alike if is_clear(want, options) else items) if has_members(item, want)]
        same = sorted(equal[:1] + larger[:1], key=lambda item: item.start)
        return (same + alike + [None])[0], bool(same)

    return item_like


def is_clear(item, options):
    """Whether an item has all fields of an identity."""
    return bool(options.get("identity")) and None not in group_of(item, options)


def group_of(item, options):
    return tuple(field_of(item, field) for field in options.get("identity") or [])


def group_by(items, key_of):
    """Items by a key: a comparison of all with each other takes long in a long list."""
    groups = {}
    for item in items:
        groups.setdefault(key_of(item), []).append(item)
    return groups


def has_members(item, want):
    if item.kind != "map" or want.kind != "map":
        return False
    return all(field_of(item, entry.key) == entry.node.value for entry in want.entries)


def field_of(item, field):
    """The value of a field, None for what is not read in full."""
    for entry in item.entries:
        if entry.key == field:
            return None if entry.is_opaque or entry.node.value == "?" else entry.node.value
    return None


def introduction_of(text, node):
    """Where the comments begin that stand directly above the first item of a list."""
    start = node.items[0].line_start
    while start > 0 and re.match("\ufeff?[ \t]*#", text[start_of_line(text, start - 1) : start]):
        start = max(start_of_line(text, start - 1), 1 if text.startswith("\ufeff") else 0)
    return start


def replace_item(current, item, lines):
    """The lines of an item replaced; its last line may have no end."""
    return item.line_start, line_after(current, item.end), with_line_ends(lines, line_end_of(current))


def lines_of(text, line_start, end):
    """The whole lines of an entry or item."""
    lines = text[line_start : line_after(text, end)]
    return lines if lines.endswith("\n") else lines + "\n"


def line_after(text, offset):
    """Where the line behind an offset begins."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def reindent(lines, before, after):
    """Lines with a list's dash in another column."""
    if before == after:
        return lines
    if before < after:
        return re.sub("(?m)^(?=[^\r\n])", " " * (after - before), lines)
    return re.sub("(?m)^ {1,%d}" % (before - after), "", lines)
