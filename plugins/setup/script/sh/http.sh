# Requests to the gateway by what the machine has, and what an answer or its absence means. The key is never in the
# arguments of a process, which every user of the machine can list: clients.sh passes it by a pipe or a file.

http_status=000 failure='' seconds='' client='' request_limit=30

# Bytes. What the gateway sends here is a hundred times smaller.
largest_answer=4194304

# Sends a request with the key: METHOD PATH OUT [BODY_FILE], at most $request_limit seconds. The body of the answer is then
# in the file OUT. Redirects are not followed: the key is for the gateway alone.
# Sets $http_status (000: no answer), $seconds, and $failure: a sentence, or '' when the gateway itself has answered. False when
# $failure is set.
request() {
  request_method=$1 request_url=$base_url$2 request_out=$3 request_body=${4-}
  http_status=000 failure='' seconds='' request_reason='' request_detail='' request_location='' request_exit=''
  : >"$request_out"
  choose_client || return 1
  send_by_client || return 1
  if is_too_long; then http_status=000 request_reason=length; fi
  # Only the origin is named: a path makes the sentences hard to read.
  request_origin=${base_url#*://}
  request_origin=${base_url%%://*}://${request_origin%%/*}
  case $http_status in
    000) explain_silence ;;
    *) explain_answer ;;
  esac
  [ -z "$failure" ]
}

# False without any program that can send it, with $failure.
send_by_client() {
  case $client in
    curl) send_by_curl ;;
    wget) send_with_clock send_by_wget ;;
    *) send_with_clock send_by_runtime ;;
  esac
  # The statuses of a program that cannot start, as a curl without its libraries: the next one sends the request.
  case $client:$request_exit in
    curl:126 | curl:127) ;;
    *) return 0 ;;
  esac
  is_curl_broken=yes client=''
  choose_client && send_by_client
}

# Runs the function $1; curl measures the time itself.
send_with_clock() {
  request_started=$(date +%s)
  "$1"
  seconds=$(($(date +%s) - request_started))
}

# Sets $failure when no answer has come, by $request_reason.
explain_silence() {
  case $request_reason in
    host) failure="The host name of $request_origin could not be resolved. Check the network connection and the address." ;;
    refused) failure="Nothing accepts connections at $request_origin. The gateway may be down, or a firewall blocks it." ;;
    tls) failure="The TLS certificate of $request_origin is not trusted${request_detail:+ ($request_detail)}. If a company proxy inspects the traffic of this machine, set $(certificate_variable) to the file of its certificate." ;;
    handshake) failure="The TLS handshake with $request_origin failed${request_detail:+ ($request_detail)}. A proxy or firewall may block it, or nothing speaks TLS at this address." ;;
    timeout) failure="$request_origin did not answer within $request_limit s. Try again, or check whether a proxy or firewall blocks it." ;;
    proxy-host) failure="The host name of the network's proxy could not be resolved. Check the variables https_proxy and http_proxy." ;;
    proxy) failure="The proxy of this network refused to connect to $request_origin${request_detail:+ ($request_detail)}. Check https_proxy and its password, or ask the administrator of the network." ;;
    broken) failure="The connection to $request_origin broke before the answer was complete. Try again." ;;
    length) failure="$request_origin sent more than $((largest_answer / 1048576)) MiB, which no answer of $service has. Something between this machine and $request_origin may have answered instead of it." ;;
    disk) failure="The answer could not be written to the temporary folder. Free some space in ${TMPDIR:-/tmp}." ;;
    *) failure="$request_origin could not be reached: ${request_detail:-$client failed}." ;;
  esac
}

certificate_variable() {
  case $client in
    curl) say CURL_CA_BUNDLE ;;
    node) say NODE_EXTRA_CA_CERTS ;;
    *) say SSL_CERT_FILE ;;
  esac
}

# Sets $failure unless the gateway has answered: JSON at any status, or events.
explain_answer() {
  request_start=$(dd if="$request_out" bs=512 count=1 2>/dev/null | tr -d '\000-\040')
  request_start=${request_start#"$byte_order_mark"}
  case $http_status:$request_start in
    407:*)
      request_detail=407
      request_reason=proxy
      explain_silence
      ;;
    3??:*) failure="Something between this machine and $request_origin answered instead of it ($http_status${request_location:+ to $request_location}). Open a page in a browser: the network may want a sign-in." ;;
    *:'{'*) ;;
    2??:data:* | 2??:event:* | 2??:id:* | 2??::*) ;;
    5??:*) failure="$request_origin answered with $http_status and no explanation: the gateway is down or restarting. Try again in a minute." ;;
    *) failure="Something between this machine and $request_origin answered instead of it ($http_status$(describe_body)). A proxy, a firewall or the network's sign-in page may block it." ;;
  esac
}

byte_order_mark=$(printf '\357\273\277')

describe_body() {
  case $request_start in
    '') printf ', an empty answer' ;;
    '<'*) printf ', a web page' ;;
    *) printf ', no JSON' ;;
  esac
}

# The message of the gateway's error in the file $1, or '' without one.
error_message() {
  read_json "$1" || return 0
  json_value error.message | cut -c 1-400
}

