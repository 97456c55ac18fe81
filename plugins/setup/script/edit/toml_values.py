"""Values and keys of TOML 1.1, as toml-values.mjs reads them: into a text that is equal for equal values."""
import json
import re

from common import Reader

MAX_DEPTH = 64  # Deeper nesting is refused, before it exhausts the stack.

SPACE = re.compile("[ \t]*")
BARE_KEY = re.compile("[A-Za-z0-9_-]+")
BARE_VALUE = re.compile("[A-Za-z0-9_+.:-]+")
TIME_AFTER_SPACE = re.compile(" [0-9]{2}:[A-Za-z0-9_+.:-]*")
LINE_END = re.compile("\r?\n")
GAP = re.compile("(?:[ \t]+|\r?\n|#[\t -~\x80-\U0010ffff]*)*")
REST_OF_LINE = re.compile("[ \t]*(?:#[\t -~\x80-\U0010ffff]*)?(?:\r?\n)?")
# What stands in a string of one kind without a meaning beyond itself.
PLAIN = {
    '"': re.compile("[\t !#-[\\]-~\x80-\U0010ffff]+"),
    "'": re.compile("[\t -&(-~\x80-\U0010ffff]+"),
    '"""': re.compile("[\t\n !#-[\\]-~\x80-\U0010ffff]+"),
    "'''": re.compile("[\t\n -&(-~\x80-\U0010ffff]+"),
}
ESCAPE = re.compile(r'\\(?:[btnfre"\\]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})')
JOINED_LINES = re.compile("\\\\[ \t]*\r?\n(?:[ \t]|\r?\n)*")
ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}

INTEGER = re.compile(
    r"(?:[+-]?(?:0|[1-9](?:_?[0-9])*)|0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*)\Z"
)
FLOAT = re.compile(
    r"[+-]?(?:inf|nan|(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?)\Z"
)
TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?"
DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
MOMENT = re.compile(r"(?:%s|%s(?:[Tt ]%s(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?)\Z" % (TIME, DATE, TIME))


class TomlReader(Reader):
    """Reads TOML."""

    def skip_space(self):
        self.pos = SPACE.match(self.text, self.pos).end()

    def skip_gap(self):
        """Whitespace, comments and line ends between values."""
        self.pos = GAP.match(self.text, self.pos).end()

    def end_line(self):
        """The end of a line, after a comment or none."""
        is_ended = self.take(REST_OF_LINE).endswith("\n") or self.pos == len(self.text)
        if not is_ended:
            self.refuse("The line continues unexpectedly.")

    def keys(self):
        """A key with its dots."""
        keys = []
        while not keys or self.has("."):
            self.skip_space()
            keys.append(self.key())
            self.skip_space()
        return keys

    def key(self):
        if self.next() in ('"', "'"):
            return self.string(self.next())
        return self.take(BARE_KEY) or self.refuse("A key is missing.")

    def value(self, depth=0):
        if depth > MAX_DEPTH:
            self.refuse("Values are nested too deeply.")
        quote = self.next()
        if quote in ('"', "'"):
            is_long = self.text.startswith(quote * 3, self.pos)
            return "s" + json.dumps(self.string(quote * 3 if is_long else quote))
        if self.has("["):
            return self.array(depth)
        if self.has("{"):
            return self.inline_table(depth)
        return self.bare()

    def bare(self):
        start = self.pos
        word = self.take(BARE_VALUE)
        if len(word) == 10 and MOMENT.match(word):
            word += self.take(TIME_AFTER_SPACE)
        if word in ("true", "false"):
            return word
        # Longer ones have more than 64 bits.
        if INTEGER.match(word) and len(word) <= 70:
            return "i%d" % int(word.replace("_", ""), 0)
        if FLOAT.match(word) and not INTEGER.match(word):
            return "f" + word.replace("_", "").lower()
        if MOMENT.match(word):
            return "d" + word
        return self.refuse("A value is missing or not valid.", start)

    def array(self, depth):
        values = []
        while True:
            self.skip_gap()
            if self.has("]"):
                return "[%s]" % ",".join(values)
            values.append(self.value(depth + 1))
            self.skip_gap()
            if self.next() != "]" and not self.has(","):
                self.refuse("The array does not end.")

    def inline_table(self, depth):
        table = {}
        while True:
            self.skip_gap()
            if self.has("}"):
                return canonical(table)
            start = self.pos
            keys = self.keys()
            if not self.has("="):
                self.refuse("An equals sign is missing.")
            self.skip_space()
            if not put(table, keys, self.value(depth + len(keys))):
                self.refuse("The key is there twice.", start)
            self.skip_gap()
            if self.next() != "}" and not self.has(","):
                self.refuse("The inline table does not end.")

    def string(self, quote):
        """A string that begins and ends with `quote`, one or three characters."""
        start = self.pos
        parts = []
        self.pos += len(quote)
        if len(quote) == 3:
            self.take(LINE_END)
        while True:
            parts.append(self.take(PLAIN[quote]))
            if self.has(quote):
                return "".join(parts) + self.last_quotes(quote)
            if self.next() == "\\":
                parts.append(self.escape(quote))
            elif len(quote) == 3 and self.has(quote[0]):
                parts.append(quote[0])
            elif len(quote) == 3 and self.take(LINE_END):
                parts.append("\n")
            else:
                self.refuse("The string does not end.", start)

    def last_quotes(self, quote):
        """Up to two quotes before the closing three belong to the string."""
        more = ""
        while len(quote) == 3 and len(more) < 2 and self.has(quote[0]):
            more += quote[0]
        return more

    def escape(self, quote):
        return "" if quote == '"""' and self.take(JOINED_LINES) else self.unescape(ESCAPE, ESCAPED)


def put(table, keys, value):
    """Puts a value into nested tables. False when its place is taken."""
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            return False
    if keys[-1] in table:
        return False
    table[keys[-1]] = value
    return True


def canonical(table):
    if not isinstance(table, dict):
        return table
    return "{%s}" % ",".join(sorted("%s:%s" % (json.dumps(key), canonical(value)) for key, value in table.items()))
