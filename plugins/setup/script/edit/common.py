"""What the formats share: refusals with a place, line ends, the byte order mark. common.mjs is the same in JavaScript."""
import re


class Refusal(Exception):
    """A file that cannot be read exactly or changed safely. The message is for the user and never contains a value."""


def refuse(text, offset, what):
    """Raises a Refusal: `what` was found at the index `offset` of the whole file `text`."""
    before = text[:offset]
    line = before.count("\n") + 1
    # A byte order mark is not a column.
    column = len(before[before.rfind("\n") + 1 :].replace("\ufeff", "", 1)) + 1
    raise Refusal("line %d, column %d: %s" % (line, column, what))


def line_end_of(text):
    """The line end of a text: that of its first line."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def with_line_ends(text, line_end):
    """The text with other line ends."""
    return text.replace("\r\n", "\n").replace("\n", line_end)


def adapt_line_ends(part, earlier, current):
    """A part of an earlier version of a file, with the line ends of the present version if all were changed since."""
    line_end = line_end_of(current)
    is_other = has_only(line_end, current) and has_only("\r\n" if line_end == "\n" else "\n", earlier)
    return with_line_ends(part, line_end) if is_other else part


def has_only(line_end, text):
    """Whether every line of a text ends like this, and one does."""
    return "\n" in text and with_line_ends(text, line_end) == text


def restore_empty(text, before):
    """The text of a file without settings. Where nothing is left and the file had no content before either, the text of
    before."""
    return before or "" if is_empty(text) and is_empty(before) else text


def is_empty(text):
    """Whether a file has no content: absent (None), empty or whitespace."""
    return text is None or re.match("\ufeff?[ \t\r\n]*\\Z", text) is not None


def apply_edits(text, edits):
    """The text with its edits (start, end, text) made. Those at the same place follow each other in their order,
    insertions first."""
    parts = []
    pos = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        parts += [text[pos:start], new]
        pos = max(pos, end)
    return "".join(parts) + text[pos:]


def insert_lines(text, offset, lines):
    """The edit that adds whole lines at the start of a line, or after a last line that has no end."""
    line_end = line_end_of(text)
    is_open = offset > 0 and text[offset - 1] not in "\n\ufeff"
    return offset, offset, (line_end if is_open else "") + with_line_ends(lines, line_end)


def fill_empty(current, wanted):
    """The settings as the text of a file that had no content."""
    mark = "\ufeff" if current is not None and current.startswith("\ufeff") else ""
    return mark + wanted + ("" if wanted.endswith("\n") else "\n")


def start_of_line(text, offset):
    """Where the line begins that holds the character at an offset."""
    return text.rfind("\n", 0, max(0, offset)) + 1


def is_blank_above(text, offset):
    """Whether the line that ends at an offset is blank, or there is no such line."""
    if offset == 0 or text[:offset] == "\ufeff":
        return True
    line = text[start_of_line(text, offset - 1) : offset - 1]
    return text[offset - 1] == "\n" and re.match("\ufeff?[ \t]*\r?\\Z", line) is not None


def memoize(read):
    """A reader of whole texts that keeps its results. A command reads the same few texts several times, and never changes
    a result."""
    known = {}

    def read_memoized(text):
        if text not in known:
            if len(known) >= 8:
                known.clear()
            known[text] = read(text)
        return known[text]

    return read_memoized


class Reader:
    """Reads a text from front to back; `pos` is the next character."""

    def __init__(self, text):
        self.text = text
        self.pos = 1 if text.startswith("\ufeff") else 0

    def next(self):
        """The next character, '' at the end."""
        return self.text[self.pos : self.pos + 1]

    def take(self, pattern):
        """Passes over what the pattern matches, and returns it."""
        match = pattern.match(self.text, self.pos)
        if match is None:
            return ""
        self.pos = match.end()
        return match.group()

    def has(self, expected):
        """Whether this text comes next, which is then passed over."""
        if not self.text.startswith(expected, self.pos):
            return False
        self.pos += len(expected)
        return True

    def unescape(self, pattern, named):
        """The character that an escape sequence of TOML or YAML stands for.

        The pattern matches all sequences of the format: one character behind the backslash, which `named` has, or a letter
        and a code point in hexadecimal digits.
        """
        start = self.pos
        sequence = self.take(pattern)
        if len(sequence) == 2:
            return named[sequence[1]]
        point = int(sequence[2:], 16) if sequence else -1
        if 0 <= point < 0xD800 or 0xDFFF < point <= 0x10FFFF:
            return chr(point)
        return self.refuse("The escape sequence is not valid.", start)

    def refuse(self, what, at=None):
        refuse(self.text, self.pos if at is None else at, what)
