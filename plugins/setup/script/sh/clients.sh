# The programs that can send a request: curl, GNU wget, python3, node. Each reads $request_method, $request_url, $request_out,
# $request_body and $key, and sets $http_status; without an answer, $request_reason and $request_detail.

is_curl_broken=''

# Sets $client, once. False with $failure when no program can send the key without showing it.
choose_client() {
  [ -z "$client" ] || return 0
  if can_run_curl; then
    client=curl
  elif is_gnu_wget; then
    client=wget
  elif can_run_python; then
    client=python3
  elif can_run_node; then
    client=node
  elif has wget; then
    failure='The wget of this machine would show the key to its other users. Install curl or GNU wget, then run this again.'
  else
    failure='No program that can send a request was found. Install curl or wget, then run this again.'
  fi
  [ -n "$client" ]
}

# curl of a snap cannot see the temporary folder.
can_run_curl() {
  [ -z "$is_curl_broken" ] && has curl || return 1
  case $(command -v curl) in
    */snap/*) return 1 ;;
  esac
}

is_gnu_wget() {
  has wget || return 1
  case $(wget --version 2>/dev/null) in
    *'GNU Wget'*) return 0 ;;
    *) return 1 ;;
  esac
}

# ~/.curlrc is ignored, because its options could print or redirect the key; the proxy's variables are honoured.
# Less than a byte per second for a minute counts as no answer.
send_by_curl() {
  set -- -q --config - --silent --show-error --globoff --proto =http,https --request "$request_method" \
    --connect-timeout 10 --max-time "$request_limit" --speed-limit 1 --speed-time 60 --max-filesize "$largest_answer" \
    --output "$request_out" \
    --write-out '%{http_code} %{http_connect} %{time_total} %{redirect_url}'
  if [ -n "$request_body" ]; then
    set -- "$@" --header 'Content-Type: application/json' --data-binary "@$request_body"
  fi
  send_bounded curl "$@" >"$work/request.told" 2>"$work/request.errors" <<EOF
url = "$request_url"
header = "Authorization: Bearer $key"
header = "User-Agent: $slug-setup"
EOF
  request_exit=$?
  IFS=' ' read -r http_status request_connect request_seconds request_location <"$work/request.told" || :
  case $http_status in
    [1-9][0-9][0-9]) ;;
    *) http_status=000 ;;
  esac
  seconds=$(printf '%.1f' "${request_seconds:-0}" 2>/dev/null) || seconds=${request_seconds%%.*}
  make_printable "$request_location"
  request_location=$printable
  [ "$request_exit" = 0 ] || explain_curl
}

# Runs the program $1, which can write no file longer than an answer may be: an endless one would fill the disk. bash counts in
# 1024 bytes, other shells in 512. A shell that reports the end of the program by a signal does so to nobody.
send_bounded() {
  (
    exec 3>&2 2>/dev/null
    ulimit -f $((largest_answer / 512))
    # A core of the program would hold the key. Not of POSIX, but of every shell that writes one; others go on.
    # shellcheck disable=SC3045
    ulimit -c 0
    "$@" 2>&3 3>&-
    exit "$?"
  )
}

# True for an answer that was cut off at its bound, or is longer.
is_too_long() {
  [ "$request_reason" = length ] || [ $(($(wc -c <"$request_out"))) -ge "$largest_answer" ]
}

# An answer that broke off is no answer. Exit codes: curl(1).
explain_curl() {
  http_status=000
  request_detail=$(sed -n '1s/^curl: ([0-9]*) //p' "$work/request.errors" | cut -c 1-200)
  make_printable "$request_detail"
  request_detail=$printable
  case ${request_connect:-000} in
    000 | 2??) ;;
    *) request_exit=97 request_detail=$request_connect ;;
  esac
  case $request_exit in
    5) request_reason=proxy-host ;;
    6) request_reason=host ;;
    7) request_reason=refused ;;
    28) request_reason=timeout ;;
    35) request_reason=handshake ;;
    51 | 53 | 54 | 58 | 59 | 60 | 77 | 83 | 90 | 91) request_reason=tls ;;
    97) request_reason=proxy ;;
    18 | 52 | 55 | 56 | 92) request_reason=broken ;;
    23) request_reason=disk ;;
    63) request_reason=length ;;
  esac
}

# HOME is the temporary folder, so that ~/.netrc is not read and ~/.wget-hsts is not written.
send_by_wget() {
  cat >"$work/wgetrc" <<EOF
header = Authorization: Bearer $key
EOF
  set -- --config="$work/wgetrc" --user-agent="$slug-setup" --no-verbose --server-response --content-on-error --tries=1 \
    --max-redirect=0 --connect-timeout=10 --dns-timeout=10 --read-timeout="$request_limit" --output-document="$request_out"
  if [ -n "$request_body" ]; then
    set -- "$@" --header='Content-Type: application/json' --post-file="$request_body"
  fi
  set -- wget "$@"
  # --read-timeout is about silence, not about the whole answer. Without --foreground, Ctrl-C would not reach wget.
  if timeout --foreground 5 true 2>/dev/null; then
    set -- timeout --foreground "$request_limit" "$@"
  elif timeout 5 true 2>/dev/null; then
    set -- timeout "$request_limit" "$@"
  fi
  set -- env HOME="$work" XDG_CONFIG_HOME="$work" XDG_DATA_HOME="$work" "$@"
  send_bounded "$@" "$request_url" >/dev/null 2>"$work/request.errors"
  request_exit=$?
  rm -f "$work/wgetrc"
  http_status=$(sed -n 's,^ *HTTP/[0-9.]* \([1-9][0-9][0-9]\).*,\1,p' "$work/request.errors" | tail -n 1)
  http_status=${http_status:-000}
  request_location=$(sed -n 's,^ *[Ll]ocation: *,,p' "$work/request.errors" | sed -n 1p)
  make_printable "$request_location"
  request_location=$printable
  case $request_exit in
    0 | 8) ;;
    6) restore_refusal ;;
    *) explain_wget ;;
  esac
}

# wget drops the body of a 401.
restore_refusal() {
  if grep -qi '^ *www-authenticate: *bearer' "$work/request.errors"; then say '{}' >"$request_out"; fi
}

# Exit codes: wget(1). 124 and 143 are those of timeout.
explain_wget() {
  http_status=000
  request_detail=$(grep -v '^  ' "$work/request.errors" | sed -n '1s/^wget: //;1p' | cut -c 1-200)
  make_printable "$request_detail"
  request_detail=$printable
  case $request_exit:$(cat "$work/request.errors") in
    *'roxy tunneling failed'*) request_reason=proxy ;;
    124:* | 143:* | *'timed out'*) request_reason=timeout ;;
    4:*'unable to resolve'*) request_reason=host ;;
    4:*'refused'*) request_reason=refused ;;
    5:*) request_reason=tls ;;
    3:*) request_reason=disk ;;
    4:*) request_reason=broken ;;
  esac
}

# The program prints STATUS TAB REASON TAB DETAIL. Its arguments hold no secret; the key comes on its standard input.
send_by_runtime() {
  set -- "$request_method" "$request_url" "$request_out" "$request_body" "$request_limit" "$slug-setup" \
    "$largest_answer"
  if [ "$client" = python3 ]; then
    print_python_client >"$work/request.py"
    set -- python3 -I "$work/request.py" "$@"
  else
    print_node_client >"$work/request.js"
    # Node before 24 ignores the proxy's variables.
    set -- env NODE_USE_ENV_PROXY=1 node "$work/request.js" "$@"
  fi
  "$@" >"$work/request.told" 2>"$work/request.errors" <<EOF
$key
EOF
  IFS=$TAB read -r http_status request_reason request_detail <"$work/request.told" || :
  http_status=${http_status:-000}
  request_reason=${request_reason#-}
  case $http_status in
    3??) request_location=$request_detail ;;
  esac
}
