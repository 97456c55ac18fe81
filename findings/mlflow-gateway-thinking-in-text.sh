#!/bin/sh
# MLflow's AI gateway 3.17.2 before Anthropic: a whole answer begins with the model's thinking, joined to its text without a space, as if
# the model had said it. In a stream the thinking is left out. So the same question has two answers, and JSON that was asked for does not
# parse once the model thinks first.
#
# Seen: "whole: The user greets.Hello." and "streamed: Hello.". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "-$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install 'mlflow[gateway]==3.17.2'
cat > run.py <<'PY'
import json, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

thought, text = 'The user greets.', 'Hello.'
usage = {'input_tokens': 8, 'output_tokens': 7}
content_type = {'content-type': 'application/json'}


class Vendor(BaseHTTPRequestHandler):
    """Anthropic's Messages API, which thinks before it answers."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        message = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'stop_sequence': None}
        if body.get('stream'):
            lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in self.events(message)]
            self.answer('text/event-stream', ''.join(lines))
        else:
            blocks = [{'type': 'thinking', 'thinking': thought, 'signature': 'c2ln'}, {'type': 'text', 'text': text}]
            whole = {**message, 'content': blocks, 'stop_reason': 'end_turn', 'usage': usage}
            self.answer('application/json', json.dumps(whole))

    def events(self, message):
        start = {**message, 'content': [], 'stop_reason': None, 'usage': {**usage, 'output_tokens': 1}}
        yield {'type': 'message_start', 'message': start}
        blocks = [
            ({'type': 'thinking', 'thinking': '', 'signature': ''}, {'type': 'thinking_delta', 'thinking': thought}),
            ({'type': 'text', 'text': ''}, {'type': 'text_delta', 'text': text}),
        ]
        for index, (block, delta) in enumerate(blocks):
            yield {'type': 'content_block_start', 'index': index, 'content_block': block}
            yield {'type': 'content_block_delta', 'index': index, 'delta': delta}
            yield {'type': 'content_block_stop', 'index': index}
        end = {'stop_reason': 'end_turn', 'stop_sequence': None}
        yield {'type': 'message_delta', 'delta': end, 'usage': {'output_tokens': 7}}
        yield {'type': 'message_stop'}

    def answer(self, media_type, body):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


def ask(stream):
    messages = [{'role': 'user', 'content': 'Hi'}]
    body = json.dumps({'model': 'chat', 'messages': messages, 'max_tokens': 50, 'stream': stream}).encode()
    request = urllib.request.Request(f'{gateway}/v1/chat/completions', body, content_type)
    with urllib.request.urlopen(request, timeout=30) as response:
        received = response.read().decode()
    if not stream:
        return json.loads(received)['choices'][0]['message']['content']
    chunks = [json.loads(line[6:]) for line in received.splitlines() if line.startswith('data: {')]
    return ''.join(choice['delta'].get('content') or '' for chunk in chunks for choice in chunk['choices'])


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
seen = [ask(False), ask(True)]
print(f'whole: {seen[0]}')
print(f'streamed: {seen[1]}')
sys.exit(0 if seen == [thought + text, text] else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
cat > gateway.yaml <<YAML
endpoints:
  - name: chat
    endpoint_type: llm/v1/chat
    model: { provider: anthropic, name: m, config: { anthropic_api_key: k, anthropic_api_base: "http://127.0.0.1:$work/v1" } }
YAML
MLFLOW_DISABLE_TELEMETRY=true setsid venv/bin/mlflow gateway start --config-path gateway.yaml --port "$own" --workers 1 >log 2>&1 &
pid=$!
timeout 200 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
