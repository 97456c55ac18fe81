# Without a runtime: variables, new files and marked lines are written, and what must be added to files that exist is shown. The records
# are those of the program, so that each takes back what the other did.

action=setup consent='' wanted_tools='' key_file='' key='' dry='' failed=''

set_up_by_shell() {
  LC_ALL=C
  export LC_ALL
  umask 077
  needs="needs Node.js, Bun or Deno, none of which was found on this machine. Install one, and run this again."
  while [ $# -gt 0 ]; do
    case $1 in
      --tools=*) wanted_tools=" $(printf '%s' "${1#*=}" | tr , ' ') " ;;
      --tools | --key-file)
        [ -n "${2-}" ] || fail "$1 needs a value." 2
        if [ "$1" = --tools ]; then wanted_tools=" $(printf '%s' "$2" | tr , ' ') "; else key_file=$2; fi
        shift
        ;;
      -y | --yes) consent=yes ;;
      --undo | --list) action=${1#--} ;;
      --dry-run) dry=yes ;;
      --verify | --model | --model=*) fail "${1%%=*} $needs" ;;
      -h | --help) fail "This script takes --tools a,b, --key-file FILE, --yes, --dry-run, --list and --undo here. Everything else $needs" 0 ;;
      *) fail 'Unknown option. Run with --help for the options.' 2 ;;
    esac
    shift
  done
  case ${HOME-} in /?*) ;; *) fail 'HOME is not set to your home folder. Set it, and run this again.' ;; esac
  [ -d "$HOME" ] || fail 'The home folder does not exist. Set HOME to your home folder, and run this again.'
  state=$HOME/.config/$slug records=$HOME/.config/$slug/setup
  case ${XDG_CONFIG_HOME-} in /?*) config=${XDG_CONFIG_HOME%/} ;; *) config=$HOME/.config ;; esac
  [ ! -d "$records/lock" ] || [ -n "$dry" ] || fail "Another run is changing the settings. If there is none, delete $records/lock first."
  case $action in
    list) for_each_tool print_tool ;;
    undo) undo_all ;;
    *) set_up_all ;;
  esac
  [ -z "$failed" ] || exit 1
  exit 0
}

# Runs $1 for each tool: $id, $name, $on_request, $commands, $folders, $start.
for_each_tool() {
  list_tools >"$work/tools"
  while IFS=$TAB read -r id name on_request commands folders start <&3; do "$1"; done 3<"$work/tools"
}

print_tool() {
  status=''
  if is_found; then status=found; fi
  if grep -q "^$id\($TAB\|\$\)" "$records/tools" 2>/dev/null; then status="$status${status:+, }set up"; fi
  printf '  %-14s %-22s %s\n' "$id" "$name" "$status"
}

is_found() {
  for command in $commands; do if has "$command"; then return 0; fi; done
  for folder in $folders; do if expand "$folder" && [ -d "$path" ]; then return 0; fi; done
  return 1
}

is_wanted() {
  case $wanted_tools in
    '') [ "$on_request" = no ] && is_found ;;
    *" $id "*) return 0 ;;
    *) return 1 ;;
  esac
}

set_up_all() {
  [ -n "$dry$consent" ] || has_terminal || fail 'No terminal is available to ask for confirmation. Pass --yes to go on without it.'
  selected=''
  for_each_tool select_tool
  [ -n "$selected" ] || fail 'No tool was found on this machine. Name one: --tools NAME.'
  if [ -n "$dry" ]; then key=YOUR_KEY; else read_key; fi
  : >"$work/env.new" && : >"$work/rows.new"
  printf '\n%s\n\n' "Settings for $service ($base_url), without Node.js, Bun or Deno:"
  mode=plan
  for_each_tool set_up_tool
  [ -z "$dry" ] || fail "${NL}Nothing was changed, because this was a dry run." 0
  [ -n "$consent" ] || ask_yes 'Write these settings?'
  mode=write
  : >"$work/env.new" && : >"$work/rows.new"
  make_folders "$records/files"
  mkdir "$records/lock" && printf '%s\n' $$ >"$records/lock/pid" || fail "The folder $records is not writable. Nothing was changed."
  for_each_tool set_up_tool
  write_variables
  rm -rf "$records/lock"
  printf '\n%s\n' "To take the settings out again: curl -fsSL $base_url/setup.sh | sh -s -- --undo"
}

select_tool() {
  if is_wanted; then selected=yes; fi
}

read_key() {
  eval "key=\${$key_variable-}"
  [ -z "$key_file" ] || key=$(dd if="$key_file" bs=4096 count=1 2>/dev/null | tr -d '\000\r')
  [ -n "$key" ] || { ask_key && key=$answer; }
  case $key in *[!A-Za-z0-9_-]*) fail 'The key has characters that no key has. Copy it again, without quotes or spaces.' ;; esac
  case $key in "$key_prefix"[-_]????????????*) ;; *) fail "This is not a key of $service: those begin with $key_prefix-." ;; esac
  has curl || return 0
  code=$(curl -q --config - -s -o /dev/null -m 30 -w '%{http_code}' "$base_url/v1/key" 2>/dev/null <<END
header = "Authorization: Bearer $key"
END
) || code=000
  case $code in
    200) ;;
    401) fail "$service does not accept this key. Copy it again, or make a new one at $base_url." ;;
    *) fail "$base_url did not answer as expected ($code). Nothing was changed." ;;
  esac
}

# Plans or writes the files of the tool, by the functions that `configure` calls.
set_up_tool() {
  is_wanted || return 0
  places='' verdict=unchanged details=''
  configure "$id"
  [ "$mode" = plan ] || save_row "$id"
  printf '  %-21s  %-9s  %s\n' "$name" "$verdict" "$details"
}

place() { places=$places$1$TAB$2$NL; }

variable() {
  printf '%s\t%s\n' "$id" "$1" >>"$work/rows.new"
  fill "$2"
  cat >>"$work/env.new" <<END
export $1='$filled'
END
  [ "$verdict" != unchanged ] || verdict=written
}

note() { :; }

# $1: format; $2: path; $3: path on macOS, or -; $4: text
file() {
  chosen=$2
  if [ "$SETUP_SYSTEM" = darwin ] && [ "$3" != - ]; then chosen=$3; fi
  source=$chosen
  # Of alternatives, the first that exists.
  case $chosen in *'|'*) if expand "${chosen%%|*}" && [ -e "$path" ]; then chosen=${chosen%%|*}; else chosen=${chosen##*|}; fi ;; esac
  expand "$chosen" || return 0
  details=$details${details:+, }$path
  fill "$4"
  find_record "$id" "$path"
  if [ "$1" = block ]; then
    write_block
  elif [ ! -s "$path" ] && [ ! -L "$path" ] || { [ -n "$record" ] && [ ! -f "$record/before" ] && cmp -s "$path" "$record/after"; }; then
    [ "$mode" = plan ] || write_new "$1"
    [ "$verdict" = manual ] || verdict=written
  elif ! grep -q -F -e "$base_url" "$path" || ! grep -q -F -e "$key" "$path"; then
    verdict=manual
    [ "$mode" = plan ] || printf '\n%s\n%s\n\n' "Put these settings into $path ($1), in place of those that it has, with your API key for YOUR_KEY:" "$4" | sed 's/@KEY@/YOUR_KEY/g; 2,$s/^./    &/'
  fi
}

# $1 with the key for @KEY@, in $filled.
fill() {
  filled='' rest=$1
  while case $rest in *@KEY@*) true ;; *) false ;; esac; do
    filled=$filled${rest%%@KEY@*}$key rest=${rest#*@KEY@}
  done
  filled=$filled$rest
}

# The path for $1, such as ~/.x/y, in $path.
expand() {
  case $1 in '~/.config/'*) path=$config/${1#'~/.config/'} ;; *) path=$HOME/${1#'~/'} ;; esac
  while IFS=$TAB read -r moving folder; do
    case $moving in '' | *[!A-Za-z0-9_]*) continue ;; esac
    eval "moved=\${$moving-}"
    case $1 in "$folder"/*) [ -z "$moved" ] || path=${moved%/}${1#"$folder"} ;; esac
  done <<END
$places
END
  case $path in *%* | *"$NL"*) return 1 ;; /*) ;; *) return 1 ;; esac
}

# The record of the file $2 of the tool $1, in $record, or ''.
find_record() {
  for record in "$records/files/$1".*; do
    if [ -f "$record/path" ] && [ "$(cat "$record/path")" = "$2" ]; then return 0; fi
  done
  record=''
}

# Puts the record of the file on disk, and then the file. $1: format; $work/after: its content; $work/wanted: the settings
commit() {
  make_folders "${path%/*}"
  number=1
  while [ -z "$record" ]; do
    [ -e "$records/files/$id.$number" ] || record=$records/files/$id.$number
    number=$((number + 1))
  done
  [ -d "$record" ] || { [ ! -e "$path" ] || [ "$1" != block ] || cp "$path" "$work/before"; }
  new=$record.new
  rm -rf "$new" && mkdir "$new" && cp "$work/wanted" "$work/after" "$new/" && printf '%s\n' "$path" >"$new/path" &&
    printf '%s\n' "$source" >"$new/source" && printf '%s\n' "$1" >"$new/format" && printf '%s\n' - >"$new/identity" || return 1
  if [ -f "$record/before" ]; then cp "$record/before" "$new/"; elif [ -f "$work/before" ]; then mv "$work/before" "$new/"; fi
  if [ -f "$new/before" ]; then printf '644 644\n'; else printf '%s\n' '- 600'; fi >"$new/mode"
  # Its permissions, and the place where a link leads, stay.
  if [ -e "$path" ]; then cat "$work/after" >"$path"; else cp "$work/after" "$path"; fi || { rm -rf "$new" && return 1; }
  rm -rf "$record" && mv "$new" "$record"
}

write_new() {
  printf '%s\n' "$filled" >"$work/wanted"
  cp "$work/wanted" "$work/after" && commit "$1" && return 0
  verdict=failed failed=yes
}

# The lines $filled between two markers, at the end of the file or where they were.
write_block() {
  printf '%s\n' "$filled" >"$work/wanted"
  cut_block "$path"
  { [ ! -s "$work/clean" ] || sed '$a\' "$work/clean"; printf '%s\n%s\n%s\n' "# >>> $slug >>>" "$filled" "# <<< $slug <<<"; } >"$work/after"
  if cmp -s "$path" "$work/after"; then return 0; fi
  [ "$verdict" = manual ] || verdict=written
  [ "$mode" = plan ] || commit block || verdict=failed failed=yes
}

# The file $1 without the lines between the markers, in $work/clean.
cut_block() {
  if [ -f "$1" ] && grep -q "^# >>> $slug >>>" "$1"; then sed "/^# >>> $slug >>>/,/^# <<< $slug <<</d" "$1" >"$work/clean"
  elif [ -f "$1" ]; then cp "$1" "$work/clean"
  else : >"$work/clean"; fi
}

save_row() {
  { grep -v "^$1\($TAB\|\$\)" "$records/tools" 2>/dev/null; printf '%s\n' "$1"; } >"$work/rows"
  cp "$work/rows" "$records/tools"
}

# Creates the folder $1 and those above it, which are put on record first.
make_folders() {
  missing='' folder=$1
  while [ ! -d "$folder" ]; do missing=$folder$NL$missing folder=${folder%/*}; done
  [ -n "$missing" ] || return 0
  mkdir -p "$records" && printf '%s' "$missing" >>"$records/folders" && mkdir -p "$1"
}

# Writes the variables of the tools into `env`, which a block in the profile reads.
write_variables() {
  [ -s "$work/rows.new" ] || return 0
  touch "$state/env" "$records/variables"
  { [ -s "$state/env" ] || printf '%s\n' "# Written by $base_url/setup.sh, whose option --undo removes it."; awk -F '[ =]' '
    NR == FNR { is_new[$2] = 1; next } !($2 in is_new)' "$work/env.new" "$state/env"; sort -u "$work/env.new"; } >"$work/env"
  cp "$work/env" "$state/env"
  sort -u "$work/rows.new" "$records/variables" >"$work/rows" && cp "$work/rows" "$records/variables"
  case ${SHELL-} in */zsh) profile='~/.zshrc' ;; */bash) profile='~/.bashrc' ;; *) profile='~/.profile' ;; esac
  id=shell verdict=unchanged details='' places=ZDOTDIR$TAB~$NL
  file block "$profile" - "if [ -r \"\$HOME/.config/$slug/env\" ]; then . \"\$HOME/.config/$slug/env\"; fi"
  printf '  %-21s  %-9s  %s\n' 'Shell profile' "$verdict" "$details"
}

# Takes back what is as it was written. What somebody has edited since stays, and is named.
undo_all() {
  [ -d "$records/files" ] || fail "Nothing of $service is set up on this machine." 0
  [ -z "$wanted_tools" ] || fail "--undo with --tools $needs"
  [ -z "$dry" ] || fail "--undo with --dry-run $needs"
  [ -n "$consent" ] || ask_yes "Take the settings of $service out again?"
  for record in "$records/files"/*.[0-9]*; do [ ! -f "$record/path" ] || undo_file; done
  [ -z "$failed" ] || fail 'Edit these files by hand, or run this again where Node.js, Bun or Deno is installed.'
  sed '1!G;h;$!d' "$records/folders" >"$work/folders" 2>/dev/null
  rm -f "$state/env"
  rm -rf "$records"
  while IFS= read -r folder; do rmdir "$folder" 2>/dev/null; done <"$work/folders"
  printf '%s\n' 'Terminals that are open keep the variables until you close them.'
}

undo_file() {
  path=$(cat "$record/path")
  rm -f "$work/before" && [ ! -f "$record/before" ] || cp "$record/before" "$work/before"
  if cmp -s "$path" "$record/after" || [ ! -e "$path" ]; then
    if [ ! -f "$work/before" ]; then rm -f "$path"; elif [ -e "$path" ]; then cat "$work/before" >"$path"; fi
  elif [ "$(cat "$record/format")" = block ]; then
    cut_block "$path" && cat "$work/clean" >"$path"
  else
    failed=yes
    printf '  %-9s  %s\n' manual "$path: it was changed since; take the settings of $service out"
    return 0
  fi
  printf '  %-9s  %s\n' removed "$path"
  rm -rf "$record"
}
