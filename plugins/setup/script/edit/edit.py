"""The editing helper of the setup script: puts settings into the configuration file of a tool, and takes them out again.

  python3 edit.py apply|remove|check json|toml|yaml WORK [--identity a,b;c,d] [--at start]

All files are in the folder WORK. Reads `current` (the file now), `wanted` (the settings), `previous` (the settings of
the last run) and `before` (the file without them, as of the last run). `apply` and `remove` write `after`, what the
file shall be, and `apply` writes `before`. An absent file stands for a file that does not exist.

Prints names of settings only, never values. Exit status: 0; 2 where a file cannot be edited safely; 1 for other errors.
A module FORMAT_edit.py has `merge(current, wanted, options)` -> text, `remove(current, wanted, before, options)` ->
(text, names left alone), `missing(current, wanted, options)` -> names. The options:

  identity  a list of members that identify an entry of a list
  initial   after the semicolon of --identity: members of a YAML file that stay where the file has them
  at        "start": new entries go to the start of their list
  keep      settings that are put in next: `remove` may leave their values, so that they keep their places

Does the same as edit.mjs, byte for byte, for machines without Node.js.
"""
import gc
import importlib
import os
import re
import sys

gc.disable()  # The process ends soon; with a large file, collections take longer than everything else.
sys.dont_write_bytecode = True  # The folder is the script's, which deletes only what it wrote.

from common import Refusal

MAX_BYTES = 1024 * 1024
USAGE = "Usage: edit apply|remove|check json|toml|yaml FOLDER [--identity a,b;c,d] [--at start]"


def main(words):
    request = parse_arguments(words)
    if request is None:
        return finish(1, [], USAGE)
    command, name, path, options = request
    form = importlib.import_module(name + "_edit")
    return finish(0, COMMANDS[command](form, Folder(path), options))


def apply(form, folder, options):
    current = folder.read("current")
    wanted = folder.must_read("wanted")
    previous = folder.read("previous")
    # A changed entry of ours would else count as the user's own from now on, with the key in it.
    clean, left = without_previous(form, folder, dict(options, replaces=True), current, previous)
    added = without_initial(wanted, clean or "", options)
    is_same = current is not None and previous == wanted and form.merge(current, added, options) == current
    # Entries at the start of a list stand in the order of the settings, and so none may keep its place.
    keeping = options if options.get("at") == "start" else dict(options, keep=wanted)
    base, _ = without_previous(form, folder, keeping, current, previous)
    after = current if is_same else form.merge(base or "", added, options)
    if form.missing(after, added, options):
        raise Refusal("The settings cannot be merged safely.")
    folder.write("after", after)
    folder.write("before", clean)
    every = form.missing("", wanted, options)
    return [name for name in left if not any(other == name or other.startswith(name + ".") for other in every)]


def remove(form, folder, options):
    text, left = without_previous(form, folder, options, folder.read("current"), folder.must_read("previous"))
    folder.write("after", text)
    return [name for name in left if name not in options.get("initial", [])]


def check(form, folder, options):
    current = folder.read("current") or ""
    return form.missing(current, without_initial(folder.must_read("wanted"), current, options), options)


COMMANDS = {"apply": apply, "remove": remove, "check": check}


def without_initial(wanted, text, options):
    """The settings without the initial members that the file has already. They are lines that begin with `name:`."""
    present = [name for name in options.get("initial", []) if re.search("(^|\n)\ufeff?([\"']?)" + name + "\\2[ \t]*:", text)]
    return "\n".join(line for line in wanted.split("\n") if not any(line.startswith(name + ":") for name in present))


def without_previous(form, folder, options, current, previous):
    """The file without the settings of the last run; None where the file then would not exist."""
    if current is None or previous is None:
        return current, []
    before = folder.read("before")
    text, left = form.remove(current, previous, before, options)
    form.missing(text, previous, options)  # Refuses what cannot be parsed.
    return (None if text == "" and before is None else text), left


class Folder:
    """The files of the folder WORK, as strict UTF-8."""

    def __init__(self, path):
        self.path = path

    def read(self, name):
        try:
            if os.stat(os.path.join(self.path, name)).st_size > MAX_BYTES:
                raise Refusal("The file is larger than 1 MB.")
            with open(os.path.join(self.path, name), "rb") as file:
                text = file.read().decode("utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise Refusal("The file is not valid UTF-8.")
        if "\0" in text:
            raise Refusal("The file contains a NUL character.")
        return text

    def must_read(self, name):
        text = self.read(name)
        if text is None:
            raise OSError(name)
        return text

    def write(self, name, text):
        """Without a text the file is deleted."""
        path = os.path.join(self.path, name)
        if text is not None:
            with open(path, "wb") as file:
                file.write(text.encode("utf-8"))
        elif os.path.exists(path):
            os.unlink(path)


def parse_arguments(words):
    if len(words) < 3 or len(words) % 2 == 0 or words[0] not in COMMANDS or words[2] == "":
        return None
    options = {}
    for option, value in zip(words[3::2], words[4::2]):
        if option == "--identity":
            lists = [[] if part == "-" else part.split(",") for part in value.split(";")]
            options["identity"], options["initial"] = (lists + [[]])[:2]
        elif option == "--at" and value in ("start", "end", "-"):
            options["at"] = value
        else:
            return None
    return (words[0], words[1], words[2], options) if words[1] in ("json", "toml", "yaml") else None


def finish(status, names, message=None):
    """Names and messages are one line each: a name may contain what a terminal would obey."""
    sys.stdout.buffer.write("".join(map(as_line, names)).encode("utf-8"))
    if message is not None:
        sys.stderr.buffer.write(as_line(message).encode("utf-8"))
    return status


def as_line(text):
    return re.sub("[\0-\x1f\x7f-\x9f\ud800-\udfff]", "?", text) + "\n"


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except Refusal as refusal:
        status = finish(2, [], str(refusal))
    except Exception:
        status = finish(1, [], "The files of the editing helper cannot be read or written.")
    sys.exit(status)
