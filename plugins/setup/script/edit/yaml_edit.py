"""Settings in YAML files: scalars of the root map, a list of maps under a key of the root, or a list as the root.

Lines are changed or added; all others keep their bytes. The same as yaml.mjs.
"""
from common import apply_edits, adapt_line_ends, restore_empty, fill_empty, insert_lines, is_empty, refuse
from yaml_items import finder_in, introduction_of, line_after, lines_of, reindent, replace_item
from yaml_scan import scan


def merge(current, wanted, options):
    """The file with the wanted settings in it; `current` is None when there is no file."""
    want = read_wanted(wanted, options)
    if is_empty(current):
        return fill_empty(current, wanted)
    file = scan(current)
    if file.root.kind not in ("null", want.root.kind):
        refuse(current, file.root.start, "The file is not a %s." % ("map" if want.root.kind == "map" else "list"))
    if want.root.kind == "seq":
        if file.root.kind == "null":
            return add_lines(current, current, file, lines_of(wanted, want.root.start, want.root.end))
        return apply_edits(current, merge_items(current, file.root, wanted, want.root, options))
    edits = []
    added = ""
    for entry in want.root.entries:
        present = entry_of(file, entry.key)
        refuse_unclear(current, file, present)
        if present is None:
            added += lines_of(wanted, entry.line_start, entry.node.end)
        elif entry.node.kind == "seq":
            edits += merge_list(current, present, wanted, entry.node, options)
        else:
            edits += set_scalar(current, present, wanted, entry)
    return add_lines(apply_edits(current, edits), current, file, added)


def remove(current, wanted, before, options):
    """(the file without the wanted settings, names of those that others have changed, which stay)

    `wanted` is what was merged, `before` the file before that, None when there was none.
    """
    if merge(before, wanted, options) == current:
        return "" if before is None else before, []
    file = scan(current)
    want = scan(wanted)
    former_file = scan("" if before is None else before)
    removal = Removal(current, before, options)
    if want.root.kind == "seq":
        removal.remove_items(file.root, want.root, former_file.root, "")
    else:
        for entry in want.root.entries:
            present = entry_of(file, entry.key)
            former = entry_of(former_file, entry.key)
            if present is None:
                continue
            if entry.node.kind == "seq":
                removal.remove_list(present, entry, former)
            else:
                removal.remove_scalar(present, entry, former)
    return restore_empty(apply_edits(current, removal.edits), before), removal.left


def missing(current, wanted, options):
    """The names of the wanted settings that the file does not have, or not with these values."""
    file = scan("" if current is None else current)
    want = scan(wanted)
    if want.root.kind == "seq":
        return missing_items(file.root, want.root, options, "")
    names = []
    for entry in want.root.entries:
        present = entry_of(file, entry.key)
        if entry.node.kind == "seq":
            names += missing_items(None if present is None else present.node, entry.node, options, entry.key)
        elif present is None or present.is_opaque or present.node.value != entry.node.value:
            names.append(entry.key)
    return names


def read_wanted(wanted, options):
    """Maps inside maps, and lists whose entries nothing identifies, are not among the settings that can be merged."""
    want = scan(wanted)
    is_map = want.root.kind == "map"
    for node in [entry.node for entry in want.root.entries] if is_map else [want.root]:
        is_fit = (node.kind == "scalar" and is_map) or (node.kind == "seq" and options.get("identity"))
        if not is_fit:
            refuse(wanted, node.start, "This setting cannot be merged into YAML.")
    return want


def missing_items(node, want, options, key):
    items = [] if node is None else node.items
    item_like = finder_in(items, options)
    return ["%s[%d]" % (key, i) for i, item in enumerate(want.items) if not item_like(item)[1]]


def entry_of(file, key):
    for entry in file.root.entries:
        if entry.key == key:
            return entry
    return None


def refuse_unclear(current, file, present):
    """What merge keys, anchors, aliases and tags make of a value is not followed."""
    merged = entry_of(file, "<<")
    if merged is not None:
        refuse(current, merged.start, "A merge key is used here.")
    if present is not None and (present.is_opaque or present.node.is_opaque):
        refuse(current, present.start, "%s has an anchor, an alias or a tag." % present.key)


def add_lines(text, current, file, lines):
    """The text with settings added at the end, or at the front where a new line end would change the last value."""
    if lines == "":
        return text
    is_open = last_node(file.root).is_open and not text.endswith("\n")
    offset = file.root.start if is_open else file.end + len(text) - len(current)
    return apply_edits(text, [insert_lines(text, offset, lines)])


def last_node(node):
    while node.kind in ("map", "seq"):
        node = node.entries[-1].node if node.kind == "map" else node.items[-1]
    return node


def set_scalar(current, present, wanted, entry):
    """The edits that give a scalar that is there its wanted value."""
    node = present.node
    if node.value == entry.node.value:
        return []
    text = wanted[entry.node.start : entry.node.end]
    if node.kind == "null":
        return [(present.colon_end, present.colon_end, " " + text)]
    if node.kind not in ("scalar", "block"):
        refuse(current, present.start, "%s is a list or map here." % present.key)
    return [(node.start, node.end, text)]


def merge_list(current, present, wanted, want, options):
    """The edits that put entries into a list under a key, which may be empty."""
    node = present.node
    if node.kind == "seq":
        return merge_items(current, node, wanted, want, options)
    if node.value not in ("null", "[]"):
        refuse(current, present.start, "%s is not a list with dashes here." % present.key)
    gone = [] if node.kind == "null" else [(present.colon_end, node.end, "")]
    lines = "".join(lines_of(wanted, item.line_start, item.end) for item in want.items)
    return gone + [insert_lines(current, line_after(current, node.end), lines)]


def merge_items(current, node, wanted, want, options):
    edits = []
    added = []
    item_like = finder_in(node.items, options)
    for item in want.items:
        lines = reindent(lines_of(wanted, item.line_start, item.end), want.indent, node.indent)
        found, is_same = item_like(item)
        if found is None:
            added.append(lines)
        elif not is_same:
            edits.append(replace_item(current, found, lines))
    if not added:
        return edits
    if options.get("at") == "start":
        return [insert_lines(current, introduction_of(current, node), "".join(added))] + edits
    last = last_node(node)
    if last.is_open and not current.endswith("\n"):
        refuse(current, last.start, "The last value has no line end.")
    return edits + [insert_lines(current, line_after(current, node.end), "".join(added))]


class Removal:
    """The edits that take settings out of a file, and the names of those left alone."""

    def __init__(self, current, before, options):
        self.current = current
        self.before = before
        self.options = options
        self.edits = []
        self.left = []

    def remove_scalar(self, present, entry, former):
        node = present.node
        if present.is_opaque or node.value != entry.node.value:
            if former is None or former.node.value != node.value:
                self.left.append(entry.key)
        elif former is None:
            self.edits.append((present.line_start, line_after(self.current, node.end), ""))
        elif former.node.value != entry.node.value:
            start = present.colon_end if former.node.kind == "null" else node.start
            text = adapt_line_ends(self.before[former.node.start : former.node.end], self.before, self.current)
            self.edits.append((start, node.end, text))

    def remove_list(self, present, entry, former):
        node = present.node
        if node.kind != "seq":
            return
        count = self.remove_items(node, entry.node, None if former is None else former.node, entry.key)
        if count < len(node.items):
            return
        colon = present.colon_end
        if former is None:
            self.edits.append((present.line_start, line_after(self.current, colon), ""))
        else:
            text = adapt_line_ends(self.before[former.colon_end : former.node.end], self.before, self.current)
            self.edits.append((colon, colon, " []" if former.node.kind == "seq" else text))

    def remove_items(self, node, want, former_list, key):
        """Takes the wanted items out of a list, or puts the former ones back. Returns how many were taken out."""
        count = 0
        item_like = finder_in(node.items, self.options)
        former_like = finder_in([] if former_list is None else former_list.items, self.options)
        for index, item in enumerate(want.items):
            found, is_same = item_like(item)
            if found is None:
                continue
            former, was_same = former_like(item)
            if not is_same and (former is None or former.value != found.value):
                self.left.append("%s[%d]" % (key, index))
            if former is None and (is_same or self.options.get("replaces")):
                # With the members that were added to it since: they belong to a model that the file no longer has.
                count += 1
                self.edits.append((found.line_start, line_after(self.current, found.end), ""))
            elif is_same and not was_same:
                lines = lines_of(self.before, former.line_start, former.end)
                self.edits.append(replace_item(self.current, found, reindent(lines, former_list.indent, node.indent)))
        return count
