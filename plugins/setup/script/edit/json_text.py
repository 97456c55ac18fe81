"""Changes the text of a JSON file and leaves every other byte where it is. json-text.mjs is the same in JavaScript."""
import re

from common import apply_edits, line_end_of


class Edits:
    """Changes of one text, and the style in which the text is written."""

    def __init__(self, tree):
        self.text = tree.text
        self.line_ends = tree.line_ends
        self.eol = line_end_of(tree.text)
        first = first_member(tree.root) if tree.root else None
        self.colon = first.colon if first and re.match(r"[ \t]*:[ \t]*\Z", first.colon) else ": "
        self.space = "" if self.colon.endswith(":") else " "
        unit = self.find_unit(tree.root) if tree.root else None
        self.unit = "  " if unit is None else unit
        self.list = []  # Tuples of start, end and the new text.

    def replace(self, start, end, text):
        self.list.append((start, end, text))

    def result(self):
        """The changed text."""
        return apply_edits(self.text, self.list)

    def find_unit(self, node):
        """The indentation of one level: that of the first container with a line for each child."""
        if node.children and node.children[0].starts_line:
            outer, inner = self.indent_at(node.start), self.indent_at(node.children[0].start)
            return inner[len(outer) :] if inner.startswith(outer) else inner
        for child in node.children:
            unit = self.find_unit(child.node)
            if unit is not None:
                return unit
        return None

    def indent_at(self, offset):
        """The indentation of the line of an offset."""
        start = self.text.rfind("\n", 0, offset) + 1
        return re.match("\ufeff?([ \t]*)", self.text[start:offset]).group(1)

    def is_flat(self, node, is_parent_flat):
        """Whether the children of a container share its line. Without children, its parent decides."""
        return not node.children[-1].starts_line if node.children else is_parent_flat

    def render(self, source, node, indent, is_parent_flat):
        """A value of another text in the style of this one. `indent`: that of the line that it stands in."""
        raw = source.text[node.start : node.end]
        if not node.children:
            return {"object": "{}", "array": "[]"}.get(node.kind, raw)
        is_flat = is_parent_flat or (node.kind == "array" and "\n" not in raw)
        inner = indent + self.unit
        parts = [self.render_child(source, child, inner, is_flat) for child in node.children]
        if is_flat:
            text = ("," + self.space).join(parts)
        else:
            text = self.eol + inner + ("," + self.eol + inner).join(parts) + self.eol + indent
        return "{" + text + "}" if node.kind == "object" else "[" + text + "]"

    def render_child(self, source, child, indent, is_flat):
        value = self.render(source, child.node, indent, is_flat)
        if child.name is None:
            return value
        return source.text[child.start : child.node.start - len(child.colon)] + self.colon + value

    def append(self, node, source, added, is_parent_flat):
        """Adds children at the end of a container."""
        last = node.children[-1] if node.children else None
        # Behind a `//` comment only a new line is safe.
        is_flat = self.is_flat(node, is_parent_flat) and node.tail not in self.line_ends
        indent = self.indent_at(last.start) if last and last.starts_line else self.indent_at(node.start) + self.unit
        parts = [self.render_child(source, child, indent, is_flat) for child in added]
        lead = self.space if is_flat else self.eol + indent
        if last is None:
            return self.fill(node, parts, lead, is_flat)
        if last.comma < 0:
            self.replace(last.end, last.end, ",")
        text = ",".join(lead + part for part in parts)
        return self.replace(node.tail, node.tail, text if last.comma < 0 else text + ",")

    def fill(self, node, parts, lead, is_flat):
        """Puts children into a container without any. Comments in it stay in front of them."""
        text = ("," + lead).join(parts)
        rest = self.text[node.tail : node.end - 1]
        if is_flat:
            return self.replace(node.tail, node.tail, (lead if node.tail > node.start + 1 else rest) + text)
        close = rest if "\n" in rest else self.eol + self.indent_at(node.start)
        return self.replace(node.tail, node.end - 1, lead + text + close)

    def prepend(self, node, source, added, is_parent_flat):
        """Adds entries at the start of an array. A comment on the line of its bracket stays there."""
        if not node.children:
            return self.append(node, source, added, is_parent_flat)
        first = node.children[0]
        indent = self.indent_at(first.start)
        parts = [self.render_child(source, child, indent, not first.starts_line) for child in added]
        if not first.starts_line:
            return self.replace(first.start, first.start, "".join(part + "," + self.space for part in parts))
        front = self.text[node.start + 1 : first.start]
        comment = re.match(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/(?=[ \t]*\r?\n))|", front).group()
        place = node.start + 1 + len(comment)
        return self.replace(place, place, "".join(self.eol + indent + part + "," for part in parts))

    def cut(self, node, gone, inside):
        """Takes children out of a container, with their commas and the whitespace in front of them. `inside`: what stood
        in the container when it had no children. Returns whether neither a child nor a comment is left that was not inside
        then."""
        ranges = joined(self.ranges_of(node, gone))
        is_empty = len(gone) == len(node.children)
        if is_empty and comments_of(self.remainder(node, ranges)) == comments_of(inside):
            if gone:
                self.replace(node.start + 1, node.end - 1, inside)
            return True
        for start, end in ranges:
            is_joining = start in self.line_ends and self.text[end : end + 1] not in ("\r", "\n")
            self.replace(start, end, self.eol if is_joining else "")
        return False

    def ranges_of(self, node, gone):
        ranges = []
        children = node.children
        kept = [child for child in children if child not in gone]
        for index, child in enumerate(children):
            if child in gone:
                # The first of a line gives up the space behind it, so that the next one takes its place.
                is_first = bool(kept) and not child.starts_line and child.end < kept[0].start
                ranges.append((child.start if is_first and index == 0 else child.gap, child.end))
                if child.comma >= 0:
                    is_next_kept = bool(kept) and children[index + 1 : index + 2] == kept[:1]
                    ranges.append(self.comma_range(child, is_first and is_next_kept))
            elif child is kept[-1] and child is not children[-1] and children[-1].comma < 0:
                ranges.append((child.comma, child.comma + 1))
        return ranges

    def comma_range(self, child, has_space):
        start = child.end if re.match(r"[ \t\r\n]*\Z", self.text[child.end : child.comma]) else child.comma
        space = re.compile(r"[ \t]*(?![ \t\r\n])").match(self.text, child.comma + 1) if has_space else None
        return start, space.end() if space else child.comma + 1

    def remainder(self, node, ranges):
        """What is left between the brackets of a container."""
        parts = []
        done = node.start + 1
        for start, end in ranges:
            parts.append(self.text[done:start])
            done = end
        return "\n".join(parts + [self.text[done : node.end - 1]])


def comments_of(text):
    """The comments of a text without anything else, for comparison."""
    return "\n".join(re.findall(r"//[^\r\n]*|/\*.*?\*/", text, re.DOTALL))


def first_member(node):
    for child in node.children:
        found = first_member(child.node) if child.name is None else child
        if found:
            return found
    return None


def joined(ranges):
    """Ranges in order, those that touch as one."""
    result = []
    for start, end in sorted(ranges):
        if result and result[-1][1] == start:
            result[-1] = (result[-1][0], end)
        else:
            result.append((start, end))
    return result
