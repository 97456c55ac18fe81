# The options of the command line.
# Set for the other parts: $action (setup, undo, verify, list, help), $is_dry_run and $has_consent (yes or ''),
# $wanted_tools (ids between spaces), $wanted_model, $key_file.

action='setup' is_dry_run='' has_consent='' wanted_tools='' wanted_model='' key_file=''

read_options() {
  while [ $# -gt 0 ]; do
    ! has_key "$1" || refuse_key
    case $1 in
      --tools | --model | --key-file)
        [ $# -ge 2 ] || refuse_usage "$1 needs a value."
        ! has_key "$2" || refuse_key
        read_valued_option "$1" "$2"
        shift
        ;;
      --tools=* | --model=* | --key-file=*) read_valued_option "${1%%=*}" "${1#*=}" ;;
      --key | --key=*) refuse_key ;;
      -y | --yes) has_consent=yes ;;
      --dry-run) is_dry_run=yes ;;
      --undo | --verify | --list) choose_action "${1#--}" ;;
      -h | --help) action=help ;;
      *)
        make_printable "$1"
        refuse_usage "Unknown option \"$printable\"."
        ;;
    esac
    shift
  done
}

# True when the argument $1 has a key of this gateway in it. Messages that repeat an argument would show it.
has_key() {
  has_key_rest=${1##*"$key_prefix"[-_]}
  [ "$has_key_rest" != "$1" ] || return 1
  has_key_rest=${has_key_rest%%[!A-Za-z0-9]*}
  [ "${#has_key_rest}" -ge 40 ]
}

refuse_key() {
  refuse_usage "Other users of this machine can read the arguments of a program. Set $key_variable, or pass --key-file FILE."
}

# $1: the option; $2: its value
read_valued_option() {
  [ -n "$2" ] || refuse_usage "$1 needs a value."
  case $1 in
    --tools) read_tool_names "$2" ;;
    --model) wanted_model=$2 ;;
    --key-file) key_file=$2 ;;
  esac
}

choose_action() {
  case $action in
    setup | "$1") action=$1 ;;
    help) ;;
    *) refuse_usage "--$action and --$1 cannot be used together." ;;
  esac
}

# Appends the ids of the comma-separated list $1 to $wanted_tools.
read_tool_names() {
  option_rest=$1,
  while [ -n "$option_rest" ]; do
    option_name=${option_rest%%,*}
    option_rest=${option_rest#*,}
    option_name=${option_name#"${option_name%%[! ]*}"}
    option_name=${option_name%"${option_name##*[! ]}"}
    [ -n "$option_name" ] || continue
    if ! find_tool "$option_name"; then
      describe_unknown_tool "$option_name"
      refuse_usage "$unknown"
    fi
    case $wanted_tools in
      *" $option_name "*) ;;
      *) wanted_tools="${wanted_tools:- }$option_name " ;;
    esac
  done
  [ -n "$wanted_tools" ] || refuse_usage '--tools needs the name of a tool.'
}

refuse_usage() {
  fail "$1 Run with --help for the options." 2
}

# A command line that runs this script with the options $1, in $command_line.
show_command_line() {
  command_url=$base_url/setup.sh
  # zsh would take the brackets of an IPv6 address for a pattern.
  case $command_url in
    *[][]*) command_url="'$command_url'" ;;
  esac
  if has curl || ! has wget; then
    command_line="curl -fsSL $command_url | sh -s -- $1"
  else
    command_line="wget -qO- $command_url | sh -s -- $1"
  fi
}

print_help() {
  cat <<END
Sets up developer tools on this machine for $service ($base_url).

Usage: curl -fsSL $base_url/setup.sh | sh -s -- [OPTIONS]
   or: sh setup.sh [OPTIONS]

  --tools a,b      these tools; else those found on this machine and those set up before
  --model NAME     this model; else the one that suits each tool
  --key-file FILE  read the API key from a file; else from \$$key_variable, or it is asked for
  --yes            do not ask for confirmation
  --dry-run        show what would change, and change nothing
  --list           list the tools, and which of them were found or set up
  --verify         test the tools that are set up with one real request each
  --undo           take the settings out again, of all tools or of those of --tools
  --help           show this text

Settings are merged into existing files, which are backed up first.
Exit status: 0 done, 1 something failed, 2 wrong options, 130 interrupted.
END
}
