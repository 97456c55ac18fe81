#!/bin/sh
# sglang-router 0.3.2 (SGLang's own router): `verbosity`, which OpenAI documents as low, medium or high, is read as a 32-bit integer. Each
# request with one of OpenAI's values is refused with 400 before it reaches a server, also where the server would ignore or know it, and
# a number, which no vendor knows, passes. A member that the router does not know at all is dropped without an error.
#
# Seen: "low: 400, 0 sent", "1: 200, 1 sent, verbosity 1", "without: 200, 1 sent, verbosity None". Exits with 1 when that changes.
# Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid" || true; }; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install sglang-router==0.3.2
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

bodies = []


class Worker(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({'object': 'list', 'data': [{'id': 'm', 'object': 'model', 'created': 1, 'owned_by': 'sglang'}]})

    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers['content-length']))))
        message = {'role': 'assistant', 'content': 'Hi.'}
        choice = {'index': 0, 'message': message, 'logprobs': None, 'finish_reason': 'stop'}
        self.answer({'id': 'c', 'object': 'chat.completion', 'created': 1, 'model': 'm', 'choices': [choice]})

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def ask(**members):
    bodies.clear()
    body = {'model': 'm', 'messages': [{'role': 'user', 'content': 'Go.'}], 'newest_member': 1, **members}
    url = f'http://127.0.0.1:{sys.argv[2]}/v1/chat/completions'
    request = urllib.request.Request(url, json.dumps(body).encode(), {'content-type': 'application/json'})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def describe(name, status):
    got = f", verbosity {bodies[-1].get('verbosity')}" if bodies else ''
    return f'{name}: {status}, {len(bodies)} sent{got}'


worker = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Worker)
threading.Thread(target=worker.serve_forever, daemon=True).start()
for _ in range(200):
    if ask() == 200:
        break
    time.sleep(0.3)
seen = [describe('low', ask(verbosity='low')), describe('1', ask(verbosity=1)), describe('without', ask())]
is_dropped = 'newest_member' not in bodies[-1]
print(*seen, sep='\n')
expected = ['low: 400, 0 sent', '1: 200, 1 sent, verbosity 1', 'without: 200, 1 sent, verbosity None']
sys.exit(0 if seen == expected and is_dropped else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) route=$(free) metrics=$(free)
venv/bin/smg launch --worker-urls "http://127.0.0.1:$work" --host 127.0.0.1 --port "$route" --prometheus-port "$metrics" >log 2>&1 &
pid=$!
timeout 90 python3 run.py "$work" "$route"
