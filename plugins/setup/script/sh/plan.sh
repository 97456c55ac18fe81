# What `configure` wants: the functions that it calls, and one planned file for each of its files.
# A planned file has a number $n, variables that `put` and `get` reach, and the folder $work/plan/N with what the editing
# helper reads and writes: current, wanted, previous, before, after. Nothing outside of $work changes here.

n=0 plan_count=0 places='' tool_notes=''
# What `get` sets.
tool='' format='' identity='' at='' is_secret='' real='' shown='' verdict='' reason='' mode='' old_mode='' record='' source=''
is_kept=''

put() {
  eval "plan_$1_$n=\$2"
}

# Sets the variable named $1 to what was put.
get() {
  eval "$1=\$plan_$1_$n"
}

# Collects what the tool of find_tool wants: files, and variables in $work/variables.ID.
collect() {
  places='' tool_notes=''
  [ ! -e "$work/variables.$tool_id" ] || rm -f "$work/variables.$tool_id"
  configure "$tool_id"
}

# The functions of `configure`.

# $1: a variable that moves the tool's folder $2
place() {
  places=$places$1$TAB$2$NL
}

# $1: format; $2: path; $3: path on macOS, or -; $4: identity; $5: at; $6: the wanted text
file() {
  choose_path "$2" "$3"
  fill_placeholders "$6"
  plan_file "$1" "$chosen_path" "$4" "$5"
}

# $1: name; $2: value
variable() {
  fill_placeholders "$2"
  quote "$filled"
  write_line "export $1=$quoted" >>"$work/variables.$tool_id"
}

# $1: a sentence that is shown after the tool was set up
note() {
  fill_placeholders "$1"
  tool_notes=$tool_notes$tool_name': '$filled$NL
}

# Plans one file with the text $filled. $1: format; $2: path; $3: identity; $4: at
plan_file() {
  plan_file_at "$2" "$@"
  plan_moved_files "$real" "$@"
}

# The same file where an earlier run wrote it, because a variable such as CODEX_HOME or XDG_CONFIG_HOME was different then: it
# is brought up to date too. $1: where it is now; then as plan_file
plan_moved_files() {
  for moved in "$records/files/$tool_id".*; do
    case $moved in *.new) continue ;; esac
    [ -r "$moved/source" ] && IFS= read -r moved_source <"$moved/source" && [ "$moved_source" = "$3" ] || continue
    if read_record_of "$moved" && [ "$record_real" != "$1" ] && [ -f "$record_real" ]; then
      plan_file_at "$record_real" "$2" "$3" "$4" "$5"
    fi
  done
}

# $1: path; then as plan_file
plan_file_at() {
  plan_count=$((plan_count + 1))
  n=$plan_count reason='' shown=$1 real=''
  create_plan
  put tool "$tool_id"
  put format "$2"
  put source "$3"
  put identity "$4"
  put at "$5"
  put is_secret "$holds_key"
  write_line "$filled" >"$work/plan/$n/wanted"
  if expand_planned "$1"; then
    show_path "$expanded"
    resolve_path "$expanded" || real=''
  fi
  put shown "$shown"
  put real "$real"
  if [ -n "$real" ]; then
    compute_file
  else
    put verdict skipped
    put reason "$reason"
  fi
}

# Paths of records are as they are.
expand_planned() {
  case $1 in
    /*) expanded=$1 ;;
    *) expand_path "$1" ;;
  esac
}

# Creates the folder of the planned file $n, empty.
create_plan() {
  plan=$work/plan/$n
  [ ! -d "$plan" ] || rm -rf "$plan"
  mkdir -p "$plan"
}

# Adds the file $1 of the tool $tool_id with the verdict $2 and the reason $3, and nothing to write.
refuse_file() {
  plan_count=$((plan_count + 1))
  n=$plan_count
  put tool "$tool_id"
  put real ''
  put shown "$1"
  put verdict "$2"
  put reason "$3"
}

# Writes $1 and a line end. Where printf is a program (mksh), other users can see its arguments; they cannot see a
# here-document.
write_line() {
  case $printf_program in
    */*) print_document "$1" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

printf_program=$(command -v printf)

print_document() {
  cat <<END
$1
END
}

# $1 in single quotes of the shell, in $quoted.
quote() {
  replace_all "$1" "'" "'\\''"
  quoted="'$replaced'"
}
