# `sh -x` would print the key. Outside of functions, because ksh and mksh trace again after a function that ends it.
case $- in
  *x*)
    { set +x; } 2>/dev/null
    printf '%s\n' 'Tracing ends here, because it would show the key.' >&2
    ;;
esac

work='' saved_terminal='' answer='' runtime='' questions=0
NL='
'

main() {
  # GREP_OPTIONS of BSD can add colours to the output of grep.
  unset IFS CDPATH GREP_OPTIONS NODE_OPTIONS
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  trap 'exit 141' PIPE
  temporary=${TMPDIR:-/tmp}
  remove_dead_folders
  work=$(umask 077 && mktemp -d "${temporary%/}/$slug-setup.$$.XXXXXX") || {
    work=''
    fail "A temporary folder could not be created in $temporary. Free some space there, or set TMPDIR to another folder."
  }
  SETUP_TERMINAL=no SETUP_WORK=$work SETUP_SYSTEM=linux
  if has_terminal; then SETUP_TERMINAL=yes; fi
  if [ "$(uname -s)" = Darwin ]; then SETUP_SYSTEM=darwin; fi
  # Bun would leave a cache of the program in the home folder.
  BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
  export SETUP_TERMINAL SETUP_WORK SETUP_SYSTEM BUN_RUNTIME_TRANSPILER_CACHE_PATH
  if find_runtime; then run_program "$@"; else set_up_by_shell "$@"; fi
}

# Removes the temporary folders of runs that were killed: the key may be in them.
remove_dead_folders() {
  for dead in "${temporary%/}/$slug-setup".*.??????; do
    process=${dead%.*}
    process=${process##*.}
    case $process in '' | *[!0-9]*) continue ;; esac
    if [ -d "$dead" ] && [ ! -L "$dead" ] && [ -O "$dead" ] && ! kill -0 "$process" 2>/dev/null; then rm -rf "$dead"; fi
  done
}

# shellcheck disable=SC2317 # called by trap
clean_up() {
  status=$?
  trap '' HUP INT TERM PIPE
  trap - EXIT
  restore_terminal
  # The program may have been interrupted too, so its lock and temporary files are removed.
  if [ "$status" -gt 128 ] && [ -f "$work/program.mjs" ]; then run_once --recover; fi
  [ -z "$work" ] || rm -rf "$work"
  # mksh would exit with the status of the last command.
  exit "$status"
}

fail() {
  printf '%s\n' "$1" >&2
  exit "${2:-1}"
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# In a subshell, because a failed redirection ends dash.
has_terminal() {
  (: </dev/tty >/dev/tty) 2>/dev/null
}

# Returns true for yes, the default.
ask_yes() {
  printf '\n%s [Y/n] ' "$1" >/dev/tty
  IFS= read -r answer </dev/tty || answer=n
  case $answer in
    '' | [Yy] | [Yy][Ee][Ss]) return 0 ;;
    *) fail 'Nothing was changed.' ;;
  esac
}

# Reads a key into $answer without an echo, at most three times.
ask_key() {
  has_terminal || fail "No key was given, and no terminal is available to ask for it. Set $key_variable, or pass --key-file FILE."
  [ "$questions" -gt 0 ] || printf '%s\n' "Your key for $service is at $base_url/account/key." >/dev/tty
  [ "$questions" -lt 3 ] || fail 'Three times, no valid key was entered. Nothing was changed.'
  questions=$((questions + 1))
  saved_terminal=$(stty -g </dev/tty) && stty -echo </dev/tty || fail 'This terminal would show the key. Pass --key-file FILE.'
  printf '%s ' "API key of $service (not shown):" >/dev/tty
  entered=yes
  IFS= read -r answer </dev/tty || entered=no
  printf '\n' >/dev/tty
  restore_terminal
  [ "$entered" = yes ] || fail 'No key was entered. Nothing was changed.'
}

restore_terminal() {
  [ -z "$saved_terminal" ] || stty "$saved_terminal" </dev/tty
  saved_terminal=''
}

# Sets $runtime to the command that runs the program: Node.js, Bun, Deno, or a tool whose executable contains Bun.
find_runtime() {
  version=$(node --version 2>/dev/null </dev/null) || version=v0
  version=${version#v}
  version=${version%%.*}
  case $version in *[!0-9]* | '') version=0 ;; esac
  if [ "$version" -ge 18 ]; then
    runtime=node
  elif bun --version >/dev/null 2>&1 </dev/null; then
    runtime=bun
  elif deno --version >/dev/null 2>&1 </dev/null; then
    runtime='deno run --allow-all'
  else
    for tool in opencode kilo droid; do
      case $(BUN_BE_BUN=1 "$tool" --revision 2>/dev/null </dev/null) in
        [0-9]*.[0-9]*.[0-9]*+*) ;;
        *) continue ;;
      esac
      BUN_BE_BUN=1 runtime=$tool
      export BUN_BE_BUN
      return 0
    done
    return 1
  fi
}

# Runs the program, and again with the answer whenever it ends to ask the user.
run_program() {
  (umask 077 && write_program >"$work/program.mjs") || fail "The folder $work cannot be written. Free some space there, or set TMPDIR to another folder."
  while :; do
    run_once "$@"
    case $? in
      90) ask_key && write_answer ;;
      91) ask_yes 'Write these settings?' && SETUP_CONSENT=yes && export SETUP_CONSENT ;;
      92) ask_yes 'Continue?' && SETUP_CONSENT=yes && export SETUP_CONSENT ;;
      129 | 13[0-9] | 14[0-3]) exit 130 ;;
      *) exit "$program_status" ;;
    esac
  done
}

run_once() {
  # zsh does not split variables into words.
  (
    [ -z "${ZSH_VERSION-}" ] || setopt shwordsplit
    # shellcheck disable=SC2086
    exec $runtime "$work/program.mjs" "$@"
  )
  program_status=$?
  return "$program_status"
}

# Uses a here-document: printf is a program in some shells, whose arguments other users can read.
write_answer() {
  (umask 077 && cat >"$work/key") <<END
$answer
END
}
