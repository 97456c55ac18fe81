#!/bin/sh
# MLflow's AI gateway 3.17.2: a request for a stream that the vendor refuses (400, 401, 404, 429, 503) gets status 200 and a body that is
# cut off before its first byte, because the status is sent before the vendor has answered. A client, or a gateway in front of it, cannot
# tell a prompt that is too long or a spent rate limit from a broken connection: it repeats the first, and does not wait for the second.
# The same request that is not streamed gets the vendor's status and words, without its code.
#
# Seen: "400, whole: 400 {"detail":"The prompt has …"}", "400, streamed: 200 , cut off", and the same for 429. Exits with 1 when that
# changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "-$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install 'mlflow[gateway]==3.17.2'
cat > run.py <<'PY'
import http.client, json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

errors = {
    400: {'message': 'The prompt has 9000 tokens, more than the context window of 8192.', 'code': 'context_length_exceeded'},
    429: {'message': 'Rate limit reached.', 'code': 'rate_limit_exceeded'},
}


class Vendor(BaseHTTPRequestHandler):
    """Refuses each request, with the status that the message names."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        status = int(body['messages'][0]['content'])
        error = json.dumps({'error': {'type': 'invalid_request_error', 'param': None, **errors[status]}}).encode()
        self.send_response(status)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(error)))
        self.end_headers()
        self.wfile.write(error)


def ask(status, stream):
    body = json.dumps({'model': 'chat', 'messages': [{'role': 'user', 'content': str(status)}], 'stream': stream}).encode()
    request = urllib.request.Request(f'{gateway}/v1/chat/completions', body, {'content-type': 'application/json'})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            try:
                return f'{response.status} {response.read().decode()}'
            except http.client.IncompleteRead as error:
                return f'{response.status} {error.partial.decode()}, cut off'
    except urllib.error.HTTPError as error:
        return f'{error.code} {error.read().decode()}'


def wait():
    for _ in range(600):
        try:
            urllib.request.urlopen(f'{gateway}/health', timeout=2)
            return
        except OSError:
            time.sleep(0.2)


server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
gateway = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen, expected = {}, {}
for status, error in errors.items():
    seen |= {(status, kind): ask(status, kind == 'streamed') for kind in ('whole', 'streamed')}
    detail = json.dumps({'detail': error['message']}, separators=(',', ':'))
    expected |= {(status, 'whole'): f'{status} {detail}', (status, 'streamed'): '200 , cut off'}
for (status, kind), words in seen.items():
    print(f'{status}, {kind}: {words}')
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
cat > gateway.yaml <<YAML
endpoints:
  - name: chat
    endpoint_type: llm/v1/chat
    model: { provider: openai, name: m, config: { openai_api_key: k, openai_api_base: "http://127.0.0.1:$work/v1" } }
YAML
MLFLOW_DISABLE_TELEMETRY=true setsid venv/bin/mlflow gateway start --config-path gateway.yaml --port "$own" --workers 1 >log 2>&1 &
pid=$!
timeout 200 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
