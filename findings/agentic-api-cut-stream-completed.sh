#!/bin/sh
# agentic-api 0.9.0 (the vLLM project's gateway for the Responses API, Rust): a stream that its inference server breaks off in the middle of
# the text ends with `response.completed`, status `completed`, and the half answer is stored as a whole one that later turns go on from.
# Only the missing events of the end of its message, and `usage: null`, tell it from an answer. With `store: false` the same stream ends
# without an end, as it came. `store` is true where a request leaves it out.
#
# Seen: "store true: created, in_progress, output_item.added, content_part.added, output_text.delta, completed (completed, usage None)",
# and "store false" with the same events without the last. Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid" || true; }; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install agentic-api==0.9.0
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(BaseHTTPRequestHandler):
    """Sends half a text, and closes the connection."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        base = {'object': 'response', 'created_at': 1, 'model': 'm', 'status': 'in_progress', 'output': []}
        base['id'] = f'resp_{uuid.uuid4().hex}'
        item = {'type': 'message', 'role': 'assistant', 'status': 'in_progress', 'content': []}
        item['id'] = f'msg_{uuid.uuid4().hex}'
        place = {'item_id': item['id'], 'output_index': 0, 'content_index': 0}
        part = {'type': 'output_text', 'text': '', 'annotations': []}
        events = [
            {'type': 'response.created', 'response': base},
            {'type': 'response.in_progress', 'response': base},
            {'type': 'response.output_item.added', 'output_index': 0, 'item': item},
            {'type': 'response.content_part.added', **place, 'part': part},
            {'type': 'response.output_text.delta', **place, 'delta': 'The first half', 'logprobs': []},
        ]
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for number, event in enumerate(events):
            event['sequence_number'] = number
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()


def ask(store):
    body = {'model': 'm', 'input': 'Write.', 'stream': True, 'store': store}
    request = urllib.request.Request(f'{gateway}/v1/responses', json.dumps(body).encode(), {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=30) as response:
        text = response.read().decode()
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]
    names = ', '.join(event['type'].removeprefix('response.') for event in events)
    last = events[-1].get('response')
    return names + (f" ({last['status']}, usage {last.get('usage')})" if last else '')


def wait():
    for _ in range(300):
        try:
            urllib.request.urlopen(gateway, timeout=2)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)


server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
gateway = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen = {store: ask(store) for store in (True, False)}
for store, names in seen.items():
    print(f'store {str(store).lower()}: {names}')
cut = 'created, in_progress, output_item.added, content_part.added, output_text.delta'
sys.exit(0 if seen == {True: f'{cut}, completed (completed, usage None)', False: cut} else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
mkdir home
HOME=$folder/home venv/bin/agentic-server --llm-api-base "http://127.0.0.1:$work" --gateway-host 127.0.0.1 --gateway-port "$own" \
  --skip-llm-ready-check --db-url "sqlite://$folder/home/a.db" >log 2>&1 &
pid=$!
timeout 90 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
