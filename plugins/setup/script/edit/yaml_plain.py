"""Plain scalars of YAML: texts without quotes. The same as yaml-plain.mjs."""
import json
import re

# Plain texts that some version of YAML does not take for a string.
SPECIAL = re.compile(
    r"(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[yYnN]|=|<<"
    r"|[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?0[xob][0-9a-fA-F_]+"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?)\Z"
)


def cannot_be_plain(text):
    """Whether a text cannot be a plain scalar, by its beginning."""
    return re.match("[-?:](?:[ \t]|\\Z)|[,\\[\\]{}#&*!|>'\"%@`]", text) is not None


def plain_value(text):
    """The value of a plain scalar in one line."""
    if text in ("", "~", "null", "Null", "NULL"):
        return "null"
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower()
    if re.match("-?(?:0|[1-9][0-9]*)\\Z", text):
        return "i" + text
    return "p" + text if SPECIAL.match(text) else "s" + json.dumps(text)
