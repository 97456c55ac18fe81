"""Nodes of YAML that begin in a line: scalars, aliases, lists and maps in brackets. The same as yaml-flow.mjs."""
import json
import re

from yaml_plain import plain_value
from yaml_scalars import NEWLINE, REST_OF_LINE, SPACE, Node, YamlReader

MAX_DEPTH = 64
ALIAS = re.compile(r"\*[A-Za-z0-9_.-]+")
IN_FLOW = re.compile(r"[^,\[\]{}\r\n:#]+")


class FlowReader(YamlReader):
    # How many brackets are open: only the outermost one may close in the column of its parent.
    open_brackets = 0

    def inline(self, parent, depth):
        """A node that begins here and is no block collection."""
        start = self.pos
        first = self.next()
        if first in ("|", ">"):
            return self.block(parent)
        if first in ('"', "'"):
            return Node("scalar", start, 0, "s" + json.dumps(self.quoted(parent)))
        if first in ("[", "{"):
            return Node("flow", start, 0, self.flow(parent, depth))
        if self.take_alias():
            node = Node("alias", start, 0, "?")
            node.is_opaque = True
            return node
        return self.plain(parent)

    def take_alias(self):
        start = self.pos
        name = self.take(ALIAS)[1:]
        if name and name not in self.anchors:
            self.refuse("The alias has no anchor.", start)
        return name != ""

    def flow(self, parent, depth):
        """A list or map in brackets."""
        start = self.pos
        if depth > MAX_DEPTH:
            self.refuse("Values are nested too deeply.")
        is_map = self.next() == "{"
        close = "}" if is_map else "]"
        self.pos += 1
        self.open_brackets += 1
        parts = []
        keys = set() if is_map else None
        while True:
            self.flow_gap(parent, start)
            if self.has(close):
                break
            parts.append(self.flow_entry(keys, parent, depth))
            self.flow_gap(parent, start)
            if self.next() != close and not self.has(","):
                self.refuse("A comma or bracket is missing.")
        self.open_brackets -= 1
        if "?" in parts:
            return "?"
        return "{%s}" % ",".join(sorted(parts)) if is_map else "[%s]" % ",".join(parts)

    def flow_entry(self, keys, parent, depth):
        """`keys` are those of a map so far, None in a list."""
        start = self.pos
        key = self.flow_node(parent, depth)
        if keys is not None and key in keys:
            self.refuse("The key is there twice.", start)
        if keys is not None and key != "?":
            keys.add(key)
        self.flow_gap(parent, start)
        if not self.has(":"):
            return key + ":null" if keys is not None and key != "?" else key
        self.flow_gap(parent, start)
        value = "null" if self.next() in (",", "]", "}") else self.flow_node(parent, depth)
        return key + ":" + value if keys is not None and key != "?" and value != "?" else "?"

    def flow_node(self, parent, depth):
        if self.take_properties():
            if self.next() not in (",", "]", "}"):
                self.flow_node(parent, depth)
            return "?"
        first = self.next()
        if first in ('"', "'"):
            return "s" + json.dumps(self.quoted(parent))
        if first in ("[", "{"):
            return self.flow(parent, depth + 1)
        return "?" if self.take_alias() else self.flow_plain()

    def flow_plain(self):
        start = self.pos
        while True:
            self.take(IN_FLOW)
            here = self.text[max(0, self.pos - 1) : self.pos + 2]
            is_text = re.match("[^ \t]#|.:[^ \t\r\n,\\[\\]{}]", here, re.S) is not None
            if self.pos == start or not is_text:
                break
            self.pos += 1
        text = self.text[start : self.pos].rstrip(" \t")
        if re.match("\\Z|[-?](?:[ \t]|\\Z)|[&*!|>'\"%@`]", text):
            self.refuse("A value is missing or not valid.", start)
        return plain_value(text)

    def flow_gap(self, parent, start):
        """Whitespace and comments in brackets."""
        while True:
            self.take(SPACE)
            if self.next() == "#" and self.text[self.pos - 1] in " \t\n":
                self.take(REST_OF_LINE)
            if not self.take(NEWLINE):
                break
            indent = self.indentation()
            is_free = self.at_line_end() or self.next() == "#"
            is_closed = indent == parent and self.open_brackets == 1 and self.next() in ("]", "}")
            if indent <= parent and not is_free and not is_closed:
                self.refuse("The line is not indented enough.")
        if self.pos == len(self.text):
            self.refuse("A bracket is not closed.", start)
