"""Settings in JSON files, with comments and trailing commas where the file has them. json.mjs is the same in JavaScript."""
import re

from common import Refusal, adapt_line_ends, is_empty, line_end_of, with_line_ends
from json_entries import is_alike, is_container, match_entries
from json_text import Edits, comments_of
from json_tree import is_equal, member_of, parse


def merge(current, wanted, options):
    """Puts settings into a file. Members are set one by one, entries of lists are recognised by their identity, and every
    other value is replaced whole. An empty file becomes the settings. Raises a Refusal where the file cannot be parsed, or
    holds a list instead of an object. `current` is None where there is no file."""
    current = current or ""
    source = parse_settings(wanted, options)
    line_end = line_end_of(current)
    lines = with_line_ends(re.sub(r"[ \t\r\n]*\Z", "\n", wanted, count=1), line_end)
    if is_empty(current):
        return ("\ufeff" if current.startswith("\ufeff") else "") + lines
    tree = parse(current)
    if tree.root is None:
        return current + ("" if current.endswith("\n") else line_end) + lines
    require_kind(tree.root, source.root)
    merging = Merging(tree, source, options)
    merging.container(tree.root, source.root, False)
    return merging.edits.result()


class Merging:
    """The state of one merge."""

    def __init__(self, tree, source, options):
        self.tree = tree
        self.source = source
        self.options = options
        self.edits = Edits(tree)

    def container(self, node, want, is_parent_flat):
        is_flat = self.edits.is_flat(node, is_parent_flat)
        if want.kind == "array":
            matches = match_entries(node, want, self.options)
            added = [entry for entry, match in zip(want.children, matches) if not self.entry(match, entry, is_flat)]
        else:
            added = [setting for setting in want.children if not self.member(node, setting, is_flat)]
        if not added:
            return
        if want.kind == "array" and self.options.get("at") == "start":
            self.edits.prepend(node, self.source, added, is_parent_flat)
        else:
            self.edits.append(node, self.source, added, is_parent_flat)

    def entry(self, match, entry, is_flat):
        """Whether an entry is in the file, where it replaces the one with its identity."""
        if match is not None and not match[1]:
            self.set(match[0], entry, is_flat)
        return match is not None

    def member(self, node, setting, is_flat):
        """Whether a member of the name is in the file, with the wanted value from now on."""
        child = member_of(self.tree, node, setting.name)
        if child is None:
            return False
        if is_container(setting.node, self.options) and child.node.kind == setting.node.kind:
            self.container(child.node, setting.node, is_flat)
        elif not is_equal(child.node, setting.node):
            self.set(child, setting, is_flat)
        return True

    def set(self, child, setting, is_flat):
        text = self.edits.render(self.source, setting.node, self.edits.indent_at(child.start), is_flat)
        self.edits.replace(child.node.start, child.node.end, text)


def remove(current, wanted, before, options):
    """Takes settings out of a file again: each gets the value that it has in `before`, or goes, as do the objects and lists
    that are empty then and not in `before`. A setting with another value than the wanted one is left alone. Returns the
    file, and the names of settings left alone. The option `keep` has settings that are put in next, whose values stay until
    then, and so their places."""
    before = before or ""
    source = parse_settings(wanted, options)
    tree = parse(current)
    if tree.root is None:
        return current, []
    require_kind(tree.root, source.root)
    kept = parse_settings(options["keep"], options).root if "keep" in options else None
    removal = Removal(tree, parse(before), options)
    root = removal.former_tree.root
    if not removal.container(tree.root, source.root, root, kept, "") or root:
        return removal.edits.result(), removal.left
    outside = current[: tree.root.start] + current[tree.root.end :]
    is_same = comments_of(outside) == comments_of(before)
    return (adapt_line_ends(before, before, current) if is_same else outside), removal.left


class Removal:
    """The state of one removal. `former` is the node at the same place before, `kept` the one in the settings that are put in
    next. Where a method returns a boolean, it says whether the node can be taken out of its container."""

    def __init__(self, tree, former_tree, options):
        self.tree = tree
        self.former_tree = former_tree
        self.options = options
        self.edits = Edits(tree)
        self.left = []

    def container(self, node, want, former, kept, path):
        take = self.members if want.kind == "object" else self.entries
        kept_container = kept if kept and kept.kind == want.kind and not self.is_value(kept) else None
        gone = take(node, want, former, kept_container, path)
        was_empty = former is not None and not former.children
        return self.edits.cut(node, gone, self.former_text(former.start + 1, former.end - 1) if was_empty else "")

    def members(self, node, want, former, kept, path):
        gone = set()
        for setting in want.children:
            child = member_of(self.tree, node, setting.name)
            former_child = member_of(self.former_tree, former, setting.name) if former else None
            kept_child = next((member for member in kept.children if member.name == setting.name), None) if kept else None
            if child is None or (
                kept_child and not former_child and self.is_value(setting.node) and self.is_value(kept_child.node)
            ):
                continue
            nodes = [member.node if member else None for member in (former_child, kept_child)]
            if self.value(child.node, setting.node, nodes[0], nodes[1], name_of(path, setting)):
                gone.add(child)
        return gone

    def entries(self, node, want, former, kept, path):
        gone = set()
        matches = match_entries(node, want, self.options)
        formers = match_entries(former, want, self.options) if former else [None] * len(matches)
        for index, (match, former_match) in enumerate(zip(matches, formers)):
            if match is None or (former_match is not None and former_match[1]):
                continue
            child, is_same = match
            kept_child = next((entry for entry in kept.children if is_alike(child, entry, self.options)), None) if kept else None
            if kept_child and not former_match:
                self.container(child.node, want.children[index].node, None, kept_child.node, path)
                continue
            former_node = former_match[0].node if former_match else None
            if not is_same:
                self.leave(child.node, former_node, "%s[%d]" % (path, index))
            is_ours = is_same or (self.options.get("replaces") and former_node is None)
            if is_ours and self.restore(child.node, former_node):
                gone.add(child)
        return gone

    def value(self, node, want, former, kept, path):
        if not self.is_value(want) and node.kind == want.kind:
            former_container = former if former and former.kind == want.kind else None
            mark = len(self.edits.list)
            if not self.container(node, want, former_container, kept, path) or former_container:
                return False
            del self.edits.list[mark:]
            return self.restore(node, former)
        return self.restore(node, former) if is_equal(node, want) else self.leave(node, former, path)

    def is_value(self, want):
        return not is_container(want, self.options)

    def restore(self, node, former):
        if former is None:
            return True
        if not is_equal(node, former):
            self.edits.replace(node.start, node.end, self.former_text(former.start, former.end))
        return False

    def former_text(self, start, end):
        return adapt_line_ends(self.former_tree.text[start:end], self.former_tree.text, self.tree.text)

    def leave(self, node, former, name):
        if former is None or not is_equal(node, former):
            self.left.append(name)
        return False


def missing(current, wanted, options):
    """The names of settings that a file does not have, or has with another value."""
    tree = parse(current or "")
    names = []
    list_missing(tree, tree.root, parse_settings(wanted, options).root, "", options, names)
    return names


def list_missing(tree, node, want, path, options, names):
    is_here = node is not None and node.kind == want.kind
    if not want.children or not is_container(want, options):
        if not is_here or (want.kind != "object" and not is_equal(node, want)):
            names.append(path)
    elif want.kind == "object":
        for setting in want.children:
            child = member_of(tree, node, setting.name) if is_here else None
            list_missing(tree, child.node if child else None, setting.node, name_of(path, setting), options, names)
    else:
        matches = match_entries(node, want, options) if is_here else [None] * len(want.children)
        names += ["%s[%d]" % (path, index) for index, match in enumerate(matches) if not match or not match[1]]


def parse_settings(wanted, options):
    tree = parse(wanted)
    if tree.root is None or not is_container(tree.root, options):
        raise Refusal("The settings must be an object, or a list of objects with an identity.")
    return tree


def require_kind(root, want):
    name = "an object" if want.kind == "object" else "a list"
    if root.kind != want.kind:
        raise Refusal("The file does not hold %s, as its tool expects." % name)


def name_of(path, setting):
    return setting.name if path == "" else path + "." + setting.name
