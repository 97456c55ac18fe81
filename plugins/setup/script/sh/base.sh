# Messages, questions, the temporary folder, and what happens at the end however the script ends.
# Set for the other parts: $work, the temporary folder (700); $TAB and $NL; $bold, $dim, $green, $yellow, $red, $plain.

work='' pending='' stage='' lock='' saved_terminal='' answer=''
bold='' dim='' green='' yellow='' red='' plain=''
TAB=$(printf '\t')
NL='
'

# Prepares the shell and the temporary folder. Every file that this script creates is for its user alone, unless a
# part of it says otherwise: $user_umask is what the user had.
start_base() {
  # GREP_OPTIONS of BSD can add colours to what grep finds.
  unset IFS CDPATH GREP_OPTIONS
  LC_ALL=C
  export LC_ALL
  user_umask=$(umask)
  umask 077
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  trap 'exit 141' PIPE
  choose_colours
  temporary=${TMPDIR:-/tmp}
  remove_dead_folders
  work=$(mktemp -d "${temporary%/}/$slug-setup.$$.XXXXXX") || {
    work=''
    fail "A temporary folder could not be created in $temporary. Free some space there, or set TMPDIR to another folder."
  }
}

# Removes the temporary folders of runs that were killed: the key is in them.
remove_dead_folders() {
  for dead_folder in "${temporary%/}/$slug-setup".*.??????; do
    if [ -L "$dead_folder" ] || [ ! -d "$dead_folder" ] || [ ! -w "$dead_folder" ]; then continue; fi
    dead_process=${dead_folder%.*}
    dead_process=${dead_process##*.}
    case $dead_process in
      '' | *[!0-9]*) continue ;;
    esac
    dead_owner=$(ls -ldn "$dead_folder" | awk '{ print $3; exit }')
    if [ "$dead_owner" = "$(id -u)" ] && ! kill -0 "$dead_process" 2>/dev/null; then rm -rf "$dead_folder"; fi
  done
}

choose_colours() {
  if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    colour_escape=$(printf '\033')
    bold="${colour_escape}[1m" dim="${colour_escape}[2m" plain="${colour_escape}[0m"
    green="${colour_escape}[32m" yellow="${colour_escape}[33m" red="${colour_escape}[31m"
  fi
}

# Runs once, at the end or when the script is interrupted. $pending is a file that was to replace another one.
# shellcheck disable=SC2317 # called by trap
clean_up() {
  clean_up_status=$?
  trap '' HUP INT TERM PIPE
  trap - EXIT
  restore_terminal
  [ -z "$pending" ] || rm -f "$pending"
  [ -z "$stage" ] || rm -rf "$stage"
  [ -z "$lock" ] || rm -rf "$lock"
  [ -z "$work" ] || rm -rf "$work"
  # mksh would exit with the status of the last command.
  exit "$clean_up_status"
}

say() {
  printf '%s\n' "$1"
}

warn() {
  printf '%s\n' "$yellow$1$plain" >&2
}

# Ends the script: nothing was set up.
fail() {
  printf '%s\n' "$red$1$plain" >&2
  exit "${2:-1}"
}

has() {
  command -v "$1" >/dev/null 2>&1
}

is_macos() {
  [ -n "${system-}" ] || system=$(uname -s)
  [ "$system" = Darwin ]
}

# The message $1 of a program, without its name and the path. The printf of dash says only this of a full disk, and those of
# BusyBox and ksh93 say nothing.
last_words() {
  case $1 in
    '' | *': I/O error') say 'it cannot be written; the disk may be full' ;;
    *) printf '%s\n' "${1##*: }" ;;
  esac
}

# $1 without control characters, in $printable: file names may contain what a terminal obeys.
make_printable() {
  printable=$1
  case $1 in
    *[[:cntrl:]]*) printable=$(printf '%s' "$1" | tr '\001-\037\177' '?') ;;
  esac
}

# True when somebody can be asked. In a subshell, because a failed redirection ends dash.
has_terminal() {
  (: </dev/tty >/dev/tty) 2>/dev/null
}

# Ends the script where the user cannot be asked whether to go on.
require_terminal() {
  has_terminal || fail 'No terminal is available to ask for confirmation. Pass --yes to go on without it.'
}

# True for yes, which is also what Enter means.
ask_yes() {
  printf '%s [Y/n] ' "$1" >/dev/tty
  IFS= read -r answer </dev/tty || answer=n
  case $answer in
    '' | [Yy] | [Yy][Ee][Ss]) return 0 ;;
    *) return 1 ;;
  esac
}

# Ends the script after a question that was answered with no, which is not an error.
decline() {
  printf '%s\n' 'Nothing was changed.' >&2
  exit 1
}

# Reads a line into $answer without an echo. False when the terminal cannot hide it, or sends no line.
ask_hidden() {
  answer=''
  has_terminal || return 1
  saved_terminal=$(stty -g </dev/tty) || saved_terminal=''
  [ -n "$saved_terminal" ] || return 1
  # Hidden before the question is shown: what is typed early must not be echoed either.
  stty -echo </dev/tty || return 1
  printf '%s ' "$1" >/dev/tty
  IFS= read -r answer </dev/tty
  ask_status=$?
  printf '\n' >/dev/tty
  restore_terminal
  return "$ask_status"
}

restore_terminal() {
  if [ -n "$saved_terminal" ]; then
    stty "$saved_terminal" </dev/tty
    saved_terminal=''
  fi
}
