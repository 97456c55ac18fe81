# Without a runtime, writes variables, new files and marked lines, and prints the settings for existing files. Keeps the same records as
# the program, so that each can undo the other's changes.

set_up_by_shell() {
  umask 077
  LC_ALL=C mode=select consent='' wanted='' key_file='' failed='' selected=''
  export LC_ALL
  needs='needs Node.js, Bun or Deno, none of which was found on this machine. Install one, and run this again.'
  while [ $# -gt 0 ]; do
    word=$1
    shift
    case $word in
      --*=*) set -- "${word%%=*}" "${word#*=}" "$@" ;;
      --tools | --key-file)
        [ -n "${1-}" ] || fail "$word needs a value." 2
        if [ "$word" = --tools ]; then wanted=" $(printf '%s' "$1" | tr , ' ') "; else key_file=$1; fi
        shift
        ;;
      -y | --yes) consent=yes ;;
      --undo | --list) mode=${word#--} ;;
      --verify | --model | --dry-run) fail "$word $needs" ;;
      -h | --help) fail "This script takes --tools a,b, --key-file FILE, --yes, --list and --undo here. Everything else $needs" 0 ;;
      *) fail 'Unknown option. Run with --help for the options.' 2 ;;
    esac
  done
  case ${HOME-} in /?*) [ -d "$HOME" ] ;; *) false ;; esac || fail 'HOME does not name your home folder. Set it, and run this again.'
  state=$HOME/.config/$slug records=$HOME/.config/$slug/setup
  case ${XDG_CONFIG_HOME-} in /?*) config=${XDG_CONFIG_HOME%/} ;; *) config=$HOME/.config ;; esac
  [ ! -d "$records/lock" ] || fail "Another run is changing the settings. If there is none, delete $records/lock first."
  case $mode in
    list) each_tool ;;
    undo) undo_all ;;
    *) set_up_all ;;
  esac
  [ -z "$failed" ] || exit 1
  exit 0
}

set_up_all() {
  [ -n "$consent" ] || has_terminal || fail 'No terminal is available to ask for confirmation. Pass --yes to go on without it.'
  each_tool
  [ -n "$selected" ] || fail 'No tool was found on this machine. Name one: --tools NAME.'
  read_key
  printf '\n%s\n' "Settings for $service ($base_url), without Node.js, Bun or Deno: $selected"
  [ -n "$consent" ] || ask_yes 'Write these settings?'
  mode='write'
  make_folders "$records/files" && mkdir "$records/lock" && printf '%s\n' $$ >"$records/lock/pid" ||
    fail "The folder $records is not writable. Nothing was changed."
  each_tool
  [ ! -s "$work/rows" ] || write_variables
  rm -rf "$records/lock"
  printf '\n%s\n' "To take the settings out again: curl -fsSL $base_url/setup.sh | sh -s -- --undo"
}

# Starts a row of the table: id, name, whether it is set up only on request, programs, folders. Returns false to skip its settings.
tool() {
  id=$1 name=$2 on_request=$3 commands=$4 found='' verdict=unchanged details=''
  shift 4
  for command in $commands; do if has "$command"; then found=found; fi; done
  for folder; do if [ -d "$folder" ]; then found=found; fi; done
  if [ "$mode" = list ]; then
    printf '  %-14s %-22s %s\n' "$id" "$name" "$found"
    return 1
  fi
  case $wanted in '') [ "$found$on_request" = foundno ] ;; *" $id "*) ;; *) false ;; esac || return 1
  selected=$selected${selected:+, }$name
  [ "$mode" = write ]
}

# Ends a row of the table.
finish() {
  touch "$records/tools"
  printf '%s\n' "$id" | sort -u - "$records/tools" >"$work/tools" && cp "$work/tools" "$records/tools"
  print_verdict
}

print_verdict() {
  printf '  %-21s  %-9s  %s\n' "$name" "$verdict" "$details"
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

# $1: name; $2: value
variable() {
  [ "$verdict" != unchanged ] || verdict=written
  printf '%s\t%s\n' "$id" "$1" >>"$work/rows"
  fill "$2"
  cat >>"$work/env.new" <<END
export $1='$filled'
END
}

# $1: format; $2: path in the table; $3: settings; $4: path; $5: path to use if $4 does not exist
file() {
  path=$4
  [ -e "$path" ] || path=${5-$4}
  case $path in *%* | *"$NL"* | [!/]*) return 0 ;; esac
  details=$details${details:+, }$path
  for record in "$records/files/$id".* ''; do
    if [ -z "$record" ] || { [ -f "$record/path" ] && [ "$(cat "$record/path")" = "$path" ]; }; then break; fi
  done
  fill "$3"
  # Uses here-documents for the reason given at write_answer.
  cat >"$work/wanted" <<END
$filled
END
  if [ "$1" = block ]; then
    cut_block
    { [ ! -s "$work/clean" ] || sed '$a\' "$work/clean"; printf '# >>> %s >>>\n' "$slug"; cat "$work/wanted"; printf '# <<< %s <<<\n' "$slug"; } >"$work/after"
  elif [ ! -s "$path" ] && [ ! -L "$path" ] || { [ -n "$record" ] && [ ! -s "$record/before" ] && cmp -s "$path" "$record/after"; }; then
    cp "$work/wanted" "$work/after"
  else
    if grep -q -F -e "$base_url" "$path"; then return 0; fi
    verdict=manual
    printf '\n%s\n%s\n\n' "Put these settings into $path ($1), in place of those that it has, with your API key for YOUR_KEY:" "$3" |
      sed 's/@KEY@/YOUR_KEY/g; 3,$s/^./    &/'
    return 0
  fi
  if cmp -s "$path" "$work/after"; then return 0; fi
  [ "$verdict" = manual ] || verdict=written
  commit "$@" || verdict=failed failed=yes
}

# Sets $filled to $1 with the key in place of @KEY@.
fill() {
  filled='' rest=$1
  while case $rest in *@KEY@*) true ;; *) false ;; esac; do
    filled=$filled${rest%%@KEY@*}$key rest=${rest#*@KEY@}
  done
  filled=$filled$rest
}

# Writes the record of the file and then the file, which keeps its permissions and its place behind a link.
commit() {
  make_folders "${path%/*}"
  number=1
  while [ -z "$record" ]; do
    [ -e "$records/files/$id.$number" ] || record=$records/files/$id.$number
    number=$((number + 1))
  done
  new=$record.new
  rm -rf "$new" && mkdir "$new" && cp "$work/wanted" "$work/after" "$new/" && printf '%s\n' "$path" >"$new/path" &&
    printf '%s\n' "$2" >"$new/source" && printf '%s\n' "$1" >"$new/format" && printf '%s\n' - >"$new/identity" || return 1
  if [ -f "$record/before" ]; then cp "$record/before" "$new/"; elif [ ! -d "$record" ] && [ -e "$path" ]; then cp "$path" "$new/before"; fi
  if [ -f "$new/before" ]; then printf '644 644\n'; else printf '%s\n' '- 600'; fi >"$new/mode"
  cat "$work/after" >"$path" || { rm -rf "$new" && return 1; }
  rm -rf "$record" && mv "$new" "$record"
}

# Writes the file without the lines between the markers to $work/clean.
cut_block() {
  if grep -q "^# >>> $slug >>>" "$path" 2>/dev/null; then sed "/^# >>> $slug >>>/,/^# <<< $slug <<</d" "$path" >"$work/clean"
  elif [ -f "$path" ]; then cp "$path" "$work/clean"
  else : >"$work/clean"; fi
}

# Records the missing folders of the path $1, then creates them.
make_folders() {
  missing='' folder=$1
  while [ ! -d "$folder" ]; do missing=$folder$NL$missing folder=${folder%/*}; done
  [ -n "$missing" ] || return 0
  mkdir -p "$records" && printf '%s' "$missing" >>"$records/folders" && mkdir -p "$1"
}

# Writes the variables of the tools into `env`, which a block in the profile reads.
write_variables() {
  touch "$state/env" "$records/variables"
  { [ -s "$state/env" ] || printf '%s\n' "# Written by $base_url/setup.sh, whose option --undo removes it."; awk -F '[ =]' '
    NR == FNR { is_new[$2] = 1; next } !($2 in is_new)' "$work/env.new" "$state/env"; sort -u "$work/env.new"; } >"$work/env"
  cp "$work/env" "$state/env"
  sort -u "$work/rows" "$records/variables" >"$work/variables" && cp "$work/variables" "$records/variables"
  id=shell name='Shell profile' verdict=unchanged details='' folder=$HOME
  case ${SHELL-} in */zsh) profile=.zshrc folder=${ZDOTDIR:-$HOME} ;; */bash) profile=.bashrc ;; *) profile=.profile ;; esac
  file block "~/$profile" "if [ -r \"\$HOME/.config/$slug/env\" ]; then . \"\$HOME/.config/$slug/env\"; fi" "${folder%/}/$profile"
  print_verdict
}

# Undoes files that are still as they were written. Files that were edited since stay and are listed.
undo_all() {
  [ -d "$records/files" ] || fail "Nothing of $service is set up on this machine." 0
  [ -z "$wanted" ] || fail "--undo with --tools $needs"
  [ -n "$consent" ] || ask_yes "Take the settings of $service out again?"
  for record in "$records/files"/*.[0-9]*; do [ ! -f "$record/path" ] || undo_file; done
  [ -z "$failed" ] || fail 'Edit these files by hand, or run this again where Node.js, Bun or Deno is installed.'
  sed '1!G;h;$!d' "$records/folders" >"$work/folders" 2>/dev/null
  rm -rf "$state/env" "$records"
  while IFS= read -r folder; do rmdir "$folder" 2>/dev/null; done <"$work/folders"
  printf '%s\n' 'Terminals that are open keep the variables until you close them.'
}

undo_file() {
  path=$(cat "$record/path") clean=$record/before
  if [ -e "$path" ] && ! cmp -s "$path" "$record/after"; then
    if [ "$(cat "$record/format")" != block ]; then
      failed=yes
      printf '  %-9s  %s\n' manual "$path: it was changed since; take the settings of $service out"
      return 0
    fi
    cut_block
    clean=$work/clean
  fi
  if [ ! -f "$clean" ]; then rm -f "$path"; elif [ -e "$path" ]; then cat "$clean" >"$path"; fi
  printf '  %-9s  %s\n' removed "$path"
  rm -rf "$record"
}
