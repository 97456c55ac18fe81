# Shows differences, with the values of secrets hidden.

# Prints what would change in the planned file $n.
show_difference() {
  get shown
  plan=$work/plan/$n
  difference_of=$plan/current
  [ -f "$difference_of" ] || difference_of=/dev/null
  show_files "$difference_of" "$plan/after" "$shown"
}

# $1: the file now; $2: what it would become; $3: its name
show_files() {
  printf '\n%s\n' "${bold}--- $3$plain"
  if has diff; then
    diff -u "$1" "$2" >"$work/difference"
    mask part=old "$1" part=new "$2" part=difference "$work/difference" | colour_lines
  else
    mask part=new "$2" | sed 's/^/+/'
  fi
}

colour_lines() {
  if [ -z "$plain" ]; then
    cat
  else
    sed -e "s/^-.*/$red&$plain/" -e "s/^+.*/$green&$plain/" -e "s/^@.*/$dim&$plain/"
  fi
}

# Prints the file `new` of the arguments without secrets, or the difference of `old` and `new`, whose lines are taken from these:
# what a line is depends on lines above it that a difference does not have.
mask() {
  awk -v prefix="$key_prefix" -v base_url="$base_url" "$mask_program" "$@"
}

# Too much is hidden rather than too little. Hidden are
#   - what follows a name such as apiKey or password: on its line, and all of a list, object, table or text that begins there.
#     A string of JSON that other members or brackets follow is hidden alone: settings may be one line
#   - what looks like a key: of this gateway, with a known start such as sk- or ghp_, after Bearer or Basic, in a URL before
#     its @, a UUID, and each run of characters with 16 letters and digits in a row, or 40 letters
#   - private keys between their BEGIN and END, and the lines of a base64 text
# Not hidden are the address of this gateway and its models.
# No awk has all of \y, {16} and case-insensitive matching.
# shellcheck disable=SC2016 # awk's own variables
mask_program='
  BEGIN {
    hidden = "***"
    is_secret = "(key|token|secret|password|passwd|passphrase|pwd|credential|authorization|cookie)[a-z0-9_.-]*[\"\047]?[ \t]*[],:= \t]"
    is_known = "(^|[/.~%+])([spr]k[-_]|xox[abeoprs]-|xapp-|glpat-|github_pat_|gh[opsur]_|hf_|ya29[.]|SG[.]|A[KS]IA|AIza|eyJ)"
    run = "[A-Za-z0-9_+/.~%-]+=*"
    with_password = "://[^/@ \t\"\047]*:[^@ \t\"\047]*@"
    with_scheme = "([Bb]earer|BEARER|[Bb]asic|BASIC)[ \t]+[^ \t\"\047]+"
    one_word = "^[ \t\"\047]*[A-Za-z0-9+/=_-]+[ \t\"\047,\\\\]*$"
    quotes = "(\"\"\"|\047\047\047)"
    # A text of JSON, what it ends, and the start of what follows.
    before_member = "^\"([^\"\\\\]|\\\\.)*\"[] \t}]*(,[ \t]*[\"{/]|,?$)"
  }
  function indent_of(line) { match(line, /^[ \t]*/); return RLENGTH }
  function hide_line(line) { match(line, /^[ \t]*/); return substr(line, 1, RLENGTH) hidden }

  # Whether a run of characters is a key by its looks.
  function is_random(text,   rest, part) {
    if (index(text, prefix "/") == 1) return 0
    if (length(text) == 36 && text ~ /^[0-9a-fA-F]+-[0-9a-fA-F]+-[0-9a-fA-F]+-[0-9a-fA-F]+-[0-9a-fA-F]+$/) return 1
    rest = text
    while (match(rest, /[A-Za-z0-9]+/)) {
      part = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      if (length(part) >= 40 || (length(part) >= 16 && part ~ /[0-9]/ && part ~ /[A-Za-z]/)) return 1
    }
    return 0
  }
  function hide_runs(line,   shown, text, start) {
    shown = ""
    while (match(line, run)) {
      start = RSTART
      text = substr(line, RSTART, RLENGTH)
      shown = shown substr(line, 1, start - 1) (length(text) >= 12 && (text ~ is_known || is_random(text)) ? hidden : text)
      line = substr(line, start + length(text))
    }
    return shown line
  }
  # What follows Bearer or Basic, unless it is a word of a sentence.
  function hide_schemes(line,   shown, text, start) {
    shown = ""
    while (match(line, with_scheme)) {
      start = RSTART
      text = substr(line, start, RLENGTH)
      shown = shown substr(line, 1, start - 1)
      line = substr(line, start + RLENGTH)
      if (text ~ /[ \t].*([0-9=]|[a-z][A-Z])/) sub(/[ \t]+.*/, " " hidden, text)
      shown = shown text
    }
    return shown line
  }
  function hide_values(line,   shown, place) {
    gsub(prefix "[-_][A-Za-z0-9_-]+", prefix "-" hidden, line)
    gsub(/sk-[A-Za-z0-9_-]+/, "sk-" hidden, line)
    while (match(line, with_password)) line = substr(line, 1, RSTART + 2) "\001" substr(line, RSTART + RLENGTH)
    gsub(/\001/, hidden "@", line)
    line = hide_schemes(line)
    shown = ""
    while (base_url != "" && (place = index(line, base_url)) > 0) {
      shown = shown hide_runs(substr(line, 1, place - 1)) base_url
      line = substr(line, place + length(base_url))
    }
    return shown hide_runs(line)
  }

  # What follows the names of secrets. `open` says how the value goes on in the lines below.
  function hide_named(line,   shown, start, rest, name) {
    shown = ""
    open = ""
    while (match(tolower(line), is_secret)) {
      start = RSTART + RLENGTH
      name = tolower(substr(line, RSTART, RLENGTH))
      rest = substr(line, start)
      sub(/^[] \t:=,]*/, "", rest)
      sub(/[ \t]+$/, "", rest)
      # A limit, such as max_tokens.
      if (name ~ /tokens["\047]?[ \t]*[:=]$/ && rest ~ /^[0-9_]+[],} \t]*/ && rest !~ /^[0-9_]+[A-Za-z.-]/) {
        shown = shown substr(line, 1, start - 1)
        line = substr(line, start)
        continue
      }
      open = begins_below(name, rest, line)
      if (open != "" && open != "quotes") return shown line
      shown = shown substr(line, 1, start - 1) " " hidden
      if (rest ~ before_member) {
        match(rest, /^"([^"\\]|\\.)*"/)
        line = substr(rest, RLENGTH + 1)
      } else {
        if (rest ~ /[[{(]$/) open = "bracket"
        line = rest ~ /,$/ ? "," : ""
      }
    }
    return shown line
  }
  # How a value begins of which `rest` is on the line of its name, or "".
  function begins_below(name, rest, line) {
    if (rest == "\\" || (rest == "" && name ~ /,$/)) return "next"
    if (rest == "" && name ~ /]$/) return line ~ /^[ \t]*[[]/ ? "table" : ""
    if (rest == "" || rest ~ /^[|>][0-9+-]*$/) return "deeper"
    if (rest ~ /^[[{(]$/) return "bracket"
    return rest ~ "^" quotes && rest !~ "^...*" quotes "$" ? "quotes" : ""
  }

  # One line of a file, in the order of the file: `state` is what the lines above have begun, at the depth `depth`.
  function hide(line,   shown, ending) {
    ending = ""
    if (line ~ /\r$/) { ending = "?"; sub(/\r$/, "", line) }
    shown = hide_in_state(line)
    gsub(/[\001-\010\013-\037\177]/, "?", shown)
    return shown ending
  }
  function hide_in_state(line,   shown) {
    if (line ~ /-----BEGIN /) {
      if (line !~ /-----END /) state = "key"
      sub(/-----BEGIN .*/, "-----BEGIN " hidden, line)
      return line
    }
    if (state == "key") {
      if (line ~ /-----END /) state = ""
      return hide_line(line)
    }
    if (state == "next") { state = ""; if (line ~ /[^ \t]/) return hide_line(line) }
    if (state == "quotes") {
      if (line ~ quotes) state = ""
      return hide_line(line)
    }
    if (state == "table" && line !~ /^[ \t]*[[]/) return line ~ /[^ \t]/ ? hide_line(line) : line
    if (state == "bracket") {
      if (line !~ /^[ \t]*[]})]/ || indent_of(line) > depth) return line ~ /[^ \t]/ ? hide_line(line) : line
    } else if (state == "deeper") {
      if (line !~ /[^ \t]/ || line ~ /^[ \t]*#/) return hide_values(line)
      if (indent_of(line) > depth || (indent_of(line) == depth && line ~ /^[ \t]*- /)) return hide_line(line)
    } else if (state == "base64" && line ~ one_word) return hide_line(line)
    shown = hide_named(line)
    state = open
    depth = indent_of(line)
    line = shown
    shown = hide_values(line)
    if (line ~ one_word && shown != line) state = "base64"
    return shown
  }

  FNR == 1 || part != previous { state = ""; previous = part }
  part == "old" { old[FNR] = hide($0); next }
  part == "new" { fresh[FNR] = hide($0); count = FNR; next }
  { is_difference = 1 }
  FNR < 3 && /^(---|\+\+\+) / { next }
  /^@@/ {
    print
    split($2, numbers, ",")
    old_line = -numbers[1]
    split($3, numbers, ",")
    new_line = numbers[1] + 0
    next
  }
  /^-/ { print "-" old[old_line++]; next }
  /^\+/ { print "+" fresh[new_line++]; next }
  /^ / { print " " fresh[new_line++]; old_line++; next }
  /^\\/ { print; next }
  { print "Its bytes differ." }
  END { if (!is_difference) for (i = 1; i <= count; i++) print fresh[i] }
'

# What a person must paste for the planned file $n: not what only a new file needs, where the file has it.
show_settings() {
  get shown
  get format
  get identity
  case $identity in
    *';'*) ;;
    *) identity="$identity;" ;;
  esac
  printf '\n%s\n' "${bold}Put these settings into $shown$plain ($format), in place of those that it has, with your API key for YOUR_KEY:"
  awk -v prefix="$key_prefix" -v initial="${identity#*";"}" '
    BEGIN { count = split(initial, names, ","); for (i = 1; i <= count; i++) is_initial[names[i]] = 1 }
    /^["\047]?[A-Za-z]+["\047]?[ \t]*:/ { name = $0; sub(/:.*/, "", name); gsub(/[^A-Za-z]/, "", name) }
    part == "current" { is_there[name] = 1; next }
    name in is_initial && name in is_there { next }
    { gsub(prefix "[-_][A-Za-z0-9_-]+", "YOUR_KEY"); print "    " $0 }
  ' part=current "$work/plan/$n/current" part=wanted name= "$work/plan/$n/wanted"
}
