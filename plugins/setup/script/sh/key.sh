# Where the API key comes from, and whether the gateway accepts it. It never leaves the variable `key`, except to
# requests and into files of mode 600; messages have $key_hint. No command here gets it as an argument, not even printf,
# which is a program in some shells.

key='' key_hint='' key_source='' key_questions=0

# `sh -x` would print the key. Outside of functions, because ksh and mksh trace again after a function that ends it.
case $- in
  *x*)
    { set +x; } 2>/dev/null
    printf '%s\n' 'Tracing ends here, because it would show the key.' >&2
    ;;
esac

# Sets $key from --key-file ($key_file), the variable named $key_variable, or a question, or ends the script; for --verify,
# from the settings that were written. The key is well-formed then; check_key asks the gateway.
read_key() {
  if [ -n "${key_file-}" ]; then
    read_key_file
    is_key || fail "$key_problem"
    return
  fi
  if [ "${action-}" = verify ] && find_stored_key; then return; fi
  read_variable
  if [ -z "$key" ]; then
    ask_key
  elif ! is_key; then
    has_terminal || fail "$key_problem"
    warn "$key_problem"
    ask_key
  fi
}

# Sets $key from the variable of this service, or else from DAYPASS_API_KEY, which every service takes, unless the tools here
# are set up for another service of that name: the key is for that one then.
read_variable() {
  eval "key=\${$key_variable-}"
  key_source="the variable $key_variable"
  trim_key
  if [ -n "$key" ] || has_other_daypass; then return; fi
  key=${DAYPASS_API_KEY-}
  trim_key
  case $key in
    "$key_prefix"[-_]*) key_source='the variable DAYPASS_API_KEY' ;;
    *) key='' ;;
  esac
}

# True when the tools are set up for a service named Daypass, unless this one had that name: the address tells.
has_other_daypass() {
  [ -d "$home/.config/daypass" ] || return 1
  ! grep -q -F -e "# Written by $base_url/setup.sh," "$home/.config/daypass/env" 2>/dev/null
}

# Sets $key to the one that the tools have: it can differ from the variable of this shell.
find_stored_key() {
  for key_place in "$state/env" "$records"/files/*/wanted; do
    [ -r "$key_place" ] || continue
    key=$(tr -c 'A-Za-z0-9_\n-' '\n' <"$key_place" | grep "^${key_prefix}[-_][A-Za-z0-9]\{40,\}\$" | sed -n 1p)
    key_source='the settings'
    if [ -n "$key" ] && is_key; then return 0; fi
  done
  return 1
}

# A pipe, such as <(pass show key), is as good as a file; only its first 4 KiB are read.
read_key_file() {
  make_printable "$key_file"
  key_source="the file $printable"
  [ "$key_file" != - ] || fail 'The key cannot be read from the standard input. Name a file after --key-file.'
  case $key_file in
    /*) ;;
    # A name such as -k must not become an option of a program.
    *) key_file=./$key_file ;;
  esac
  [ -e "$key_file" ] || fail "The key file $printable does not exist."
  [ ! -d "$key_file" ] || fail "The key file $printable is a folder. Name a file that holds the key and nothing else."
  [ -r "$key_file" ] || fail "The key file $printable cannot be read. Check its permissions."
  warn_of_readers "$printable"
  key=$(dd if="$key_file" bs=4096 count=1 2>/dev/null | tr -d '\000')
  key=${key#"$byte_order_mark"}
  trim_key
}

warn_of_readers() {
  case $(ls -ldL "$key_file" 2>/dev/null) in
    -???r* | -??????r*) warn "Other users of this machine can read $1. Run: chmod 600 $1" ;;
  esac
}

# At most three times in all, then the script ends.
ask_key() {
  key_source='the input'
  if [ "$key_questions" = 0 ] && has_terminal; then
    say "Your key for $service is at $base_url/account/key." >/dev/tty
  fi
  while [ "$key_questions" -lt 3 ]; do
    key_questions=$((key_questions + 1))
    ask_hidden "API key of $service (not shown):" || explain_missing_key
    key=$answer answer=''
    trim_key
    if is_key; then return 0; fi
    warn "$key_problem"
  done
  fail 'Three times, no valid key was entered. Nothing was changed.'
}

explain_missing_key() {
  if has_terminal; then fail 'No key was entered. Nothing was changed.'; fi
  fail "No key was given, and no terminal is available to ask for it. Set $key_variable, or pass --key-file FILE."
}

# Removes white space around the key, with which it is often copied.
trim_key() {
  key=${key#"${key%%[![:space:]]*}"}
  key=${key%"${key##*[![:space:]]}"}
}

# True when $key can be a key of this gateway, else $key_problem says why not, without the key. Keys of other services are
# refused here, so that they are never sent.
is_key() {
  key_problem=''
  case $key in
    '') key_problem="The key in $key_source is empty." ;;
    *[!A-Za-z0-9_-]*) key_problem="The key in $key_source has characters that no key of $service has. Copy it again, without quotes or spaces." ;;
    "$key_prefix"[-_]????????????*) ;;
    *) key_problem="The key in $key_source is not a key of $service: those begin with $key_prefix-. Copy it again." ;;
  esac
  [ -z "$key_problem" ] || return 1
  key_middle=${key#"$key_prefix"?????}
  key_middle=${key_middle%????}
  key_hint=${key%"$key_middle"????}...${key#"${key%????}"}
}

# Asks the gateway about the key. False when it cannot be used, after a message. A key that the gateway does not know is
# asked for again when there is a terminal, unless it came from a file or from the settings.
check_key() {
  while :; do
    request_limit=30
    request GET /v1/key "$work/key-answer" || {
      warn "$failure Nothing was changed."
      return 1
    }
    [ "$http_status" = 401 ] || break
    warn "$service does not accept the key $key_hint from $key_source. Copy it again, or make a new one at $base_url."
    if [ -n "${key_file-}" ] || [ "$key_source" = 'the settings' ] || [ "$key_questions" -ge 3 ] || ! has_terminal; then
      return 1
    fi
    ask_key
  done
  check_plan
}

check_plan() {
  if [ "$http_status" != 200 ]; then
    check_message=$(error_message "$work/key-answer")
    warn "${check_message:-$base_url/v1/key answered with $http_status.} Nothing was changed."
    return 1
  fi
  check_period=''
  if read_json "$work/key-answer"; then check_period=$(json_type active_period); fi
  case $check_period in
    object) return 0 ;;
    literal)
      renewal_address=$(find_renewal_address)
      may_use_models && return 0
      warn "The key $key_hint has no active plan${plan_message:+: $plan_message}. Choose one at $renewal_address, then run this again."
      ;;
    *) warn "The answer of $base_url/v1/key is not that of $service. A proxy may have changed it; nothing was changed." ;;
  esac
  return 1
}

# True for a gateway that needs no plan: it refuses this empty request as invalid. Where a plan is needed, it is missed first,
# and $plan_message says since when.
may_use_models() {
  say '{}' >"$work/key-question"
  plan_message=''
  request POST /v1/chat/completions "$work/key-answer" "$work/key-question" || return 1
  [ "$http_status" != 400 ] || return 0
  plan_message=$(error_message "$work/key-answer")
  # The address follows anyway.
  plan_message=${plan_message%%. *}
  plan_message=${plan_message%.}
  [ "$plan_message" != 'No active plan' ] || plan_message=''
  return 1
}

# Prints the address to renew at, as the gateway names it.
find_renewal_address() {
  renewal=$(json_value renew_url)
  case $renewal in
    *[!!-~]*) renewal='' ;;
    http://* | https://*) ;;
    *) renewal='' ;;
  esac
  say "${renewal:-$base_url/buy}"
}
