# Reads JSON with awk, which every system has. One line per value: PATH, TAB, TYPE, TAB, VALUE; members are joined by dots.
# {"error":{"message":"no"}} becomes `error TAB object TAB`, `error.message TAB string TAB no`. Control characters become
# spaces, because values are printed on terminals.

# Reads the JSON object in the file $1 into $work/values. False when it is anything else.
read_json() {
  flatten_json document <"$1" >"$work/values"
}

# Reads the events of the stream in the file $1 into $work/values: those that are JSON, and `done` for `data: [DONE]`.
read_events() {
  flatten_json events <"$1" >"$work/values"
}

# Prints the first value at the path $1 of what was read last.
json_value() {
  awk -F '\t' -v path="$1" '$1 == path { print $3; exit }' "$work/values"
}

# The type at the path $1: object, array, string, number, literal; nothing when there is no such member.
json_type() {
  awk -F '\t' -v path="$1" '$1 == path { print $2; exit }' "$work/values"
}

# More than 256 KiB of one document or event are not read: no answer that matters here is that long.
flatten_json() {
  tr '\000-\011\013-\037\177' ' ' | awk -v mode="$1" "$json_program"
}

# Each value is cut off the front of `text`; `bad` is set when the text cannot be read.
# The C1 controls of UTF-8 (C2 80 to C2 9F) are replaced too: terminals obey them.
# shellcheck disable=SC2016 # awk's own variables
json_program='
  function skip() { sub(/^[ \n]+/, "", text) }
  function cut(length_) { text = substr(text, length_ + 1) }
  function add(path, type, value) {
    gsub(/[\t\n]/, " ", value)
    gsub("\302[\200-\237]", "?", value)
    lines = lines path "\t" type "\t" value "\n"
  }
  function unescape(character,   code) {
    if (character ~ /[nrtbf]/) return " "
    if (character != "u") return character
    code = 16 * digit(3) + digit(4)
    if (digit(1) + digit(2) > 0 || code > 126) code = 63
    cut(4)
    return code < 32 ? " " : sprintf("%c", code)
  }
  function digit(place) { return index("0123456789abcdef", tolower(substr(text, place, 1))) - 1 }
  function read_string(   value, character) {
    if (substr(text, 1, 1) != "\"") { bad = 1; return "" }
    cut(1)
    while (match(text, /["\\]/)) {
      value = value substr(text, 1, RSTART - 1)
      character = substr(text, RSTART, 1)
      cut(RSTART)
      if (character == "\"") return value
      character = substr(text, 1, 1)
      cut(1)
      value = value unescape(character)
    }
    bad = 1
    return ""
  }
  function read_members(path, end, depth,   count, name, next_) {
    skip()
    if (substr(text, 1, 1) == end) { cut(1); return }
    for (count = 0; !bad; count++) {
      name = count
      if (end == "}") {
        skip()
        name = read_string()
        skip()
        if (substr(text, 1, 1) != ":") { bad = 1; return }
        cut(1)
      }
      read_value(path == "" ? name : path "." name, depth)
      skip()
      next_ = substr(text, 1, 1)
      cut(1)
      if (next_ == end) return
      if (next_ != ",") bad = 1
    }
  }
  function read_value(path, depth,   first) {
    skip()
    first = substr(text, 1, 1)
    if (depth > 40) bad = 1
    else if (first == "{" || first == "[") {
      cut(1)
      add(path, first == "{" ? "object" : "array", "")
      read_members(path, first == "{" ? "}" : "]", depth + 1)
    } else if (first == "\"") add(path, "string", read_string())
    else if (match(text, /^-?[0-9][0-9.eE+-]*/)) { add(path, "number", substr(text, 1, RLENGTH)); cut(RLENGTH) }
    else if (match(text, /^(true|false|null)/)) { add(path, "literal", substr(text, 1, RLENGTH)); cut(RLENGTH) }
    else bad = 1
  }
  function read_object(   first) {
    bad = 0
    lines = ""
    sub(/^\357\273\277/, "", text)
    skip()
    first = substr(text, 1, 1)
    if (first != "{") return 0
    read_value("", 0)
    skip()
    return !bad && text == ""
  }
  function end_event() {
    if (data == "[DONE]") print "done\t\t"
    else if (data != "") {
      text = data
      if (read_object()) printf "%s", lines
    }
    data = ""
  }
  mode == "document" { if (length(whole) < 262144) whole = whole $0 "\n"; next }
  /^data:/ { sub(/^data: ?/, ""); sub(/ +$/, ""); if (length(data) < 262144) data = data $0; next }
  /^ *$/ { end_event() }
  END {
    if (mode == "events") { end_event(); exit 0 }
    text = whole
    if (!read_object()) exit 1
    printf "%s", lines
  }
'
