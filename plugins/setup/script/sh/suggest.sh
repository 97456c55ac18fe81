# Suggests a name for one that was mistyped, and lists those that there are.

# What is said of the unknown tool $1, in $unknown.
describe_unknown_tool() {
  find_similar "$1" "$(list_tools | cut -f 1,2)"
  make_printable "$1"
  unknown="Unknown tool \"$printable\". ${similar:+Did you mean $similar? }Choose from: $(list_tools | join_names)."
}

# The same for the unknown model $1. Names lack the prefix as well.
describe_unknown_model() {
  find_similar "$1" "$(list_models | cut -f 1 | sed "s,^$key_prefix/\(.*\),&$TAB\1,")"
  make_printable "$1"
  unknown="Model \"$printable\" not found. ${similar:+Did you mean $similar? }Choose from: $(list_models | join_names)."
}

# The first column of a table, separated by commas.
join_names() {
  cut -f 1 | tr '\n' ' ' | sed 's/ $//; s/ /, /g'
}

# Sets $similar to the most similar name of the lines $2, or to '' when none is similar. A line is a name and, perhaps, a tab
# and another name of the same. A name with few other letters (Levenshtein distance) precedes one that contains $1.
find_similar() {
  # Not -v, in which a backslash would be read as an escape.
  similar=$(printf '%s\n' "$2" | wanted_name=$1 awk -F '\t' '
    function smallest(a, b) { return a < b ? a : b }
    # The distance of the texts, or more than bound.
    function distance(a, b,   i, j, row, above, left) {
      if (length(a) - length(b) > bound || length(b) - length(a) > bound) return bound + 1
      for (j = 0; j <= length(b); j++) row[j] = j
      for (i = 1; i <= length(a); i++) {
        above = row[0]
        row[0] = i
        for (j = 1; j <= length(b); j++) {
          left = smallest(row[j], row[j - 1]) + 1
          left = smallest(left, above + (substr(a, i, 1) != substr(b, j, 1)))
          above = row[j]
          row[j] = left
        }
      }
      return row[length(b)]
    }
    BEGIN {
      wanted = tolower(substr(ENVIRON["wanted_name"], 1, 100))
      bound = int(length(wanted) / 3)
      bound = smallest(bound < 2 ? 2 : bound, length(wanted) - 1)
      nearest = bound + 2
    }
    {
      for (column = 1; column <= NF; column++) {
        name = tolower($column)
        far = distance(wanted, name)
        if (far > bound && length(wanted) > 2 && index(name, wanted)) far = bound + 1
        else if (far > bound) far = bound + 2
        if (far < nearest) { nearest = far; found = $1 }
      }
    }
    END { print found }
  ')
}
