"""Entries of lists in JSON, which their identity tells apart. json-entries.mjs is the same in JavaScript."""
from json_tree import has_all, is_equal


def match_entries(node, want, options):
    """Finds the entry of each wanted entry: one with all its members before one with the same identity, none twice.
    A match is the child, and whether it has all members."""
    groups = groups_of(node, options)
    taken = set()

    def take(entry, is_same):
        for child in groups.get(group_of(entry, options), []):
            fits = has_all(child.node, entry.node) if is_same else is_alike(child, entry, options)
            if fits and child not in taken:
                taken.add(child)
                return child, is_same
        return None

    same = [take(entry, True) for entry in want.children]
    return [found or take(entry, False) for found, entry in zip(same, want.children)]


def groups_of(node, options):
    """The entries by what `group_of` says of them: a comparison of all with each other takes long in a long list."""
    groups = {}
    for child in node.children:
        groups.setdefault(group_of(child, options), []).append(child)
    return groups


def group_of(entry, options):
    """The same for entries with the same identity."""
    values = []
    for field in options.get("identity") or []:
        member = next((child for child in entry.node.children if child.name == field), None)
        values.append(member and (member.node.value if member.node.kind == "string" else member.node.kind))
    return tuple(values)


def is_alike(child, entry, options):
    for field in options.get("identity") or []:
        own = next((member for member in child.node.children if member.name == field), None)
        wanted = next((member for member in entry.node.children if member.name == field), None)
        if own is None or wanted is None or not is_equal(own.node, wanted.node):
            return False
    return True


def is_container(want, options):
    """Whether the children of a wanted value are set one by one: objects, and lists of objects with an identity."""
    identity = options.get("identity") or []
    if want.kind == "object":
        return True
    return bool(identity and want.children) and all(
        any(member.name == field for member in entry.node.children) for entry in want.children for field in identity
    )
