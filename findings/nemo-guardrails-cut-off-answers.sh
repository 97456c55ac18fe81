#!/bin/sh
# NeMo Guardrails 0.24.1, its server (`nemoguardrails server`, Chat Completions) with `passthrough: true` before an OpenAI-compatible
# endpoint: every whole answer ends with `finish_reason` `stop`, also one that the limit of tokens cut off (`length`) or that was filtered
# (`content_filter`). A stream has no finish reason at all: each chunk has null, and `[DONE]` follows. A refusal becomes an empty text, and
# the text beside a tool call is gone. A client cannot tell half an answer from a whole one.
#
# Seen: "length, whole: 'Half an', stop", "length, streamed: 'Half an', no reason, [DONE]", "filter, whole: 'Par', stop", "refusal, whole: '',
# stop" and "call, whole: no text, 1 calls, tool_calls". Exits with 1 when that changes. Needs python3 (3.10 to 3.13).
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install 'nemoguardrails[server]==0.24.1'
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

call = {'id': 'call_1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{"place": "Bern"}'}}
answers = {
    'length': ({'content': 'Half an'}, 'length'),
    'filter': ({'content': 'Par'}, 'content_filter'),
    'refusal': ({'content': None, 'refusal': 'I cannot help.'}, 'stop'),
    'call': ({'content': 'Let me see.', 'tool_calls': [call]}, 'tool_calls'),
}
tool = {'type': 'function', 'function': {'name': 'look', 'parameters': {'type': 'object', 'properties': {'place': {'type': 'string'}}}}}
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        message, reason = answers[body['messages'][-1]['content']]
        message = {'role': 'assistant', **message}
        if body.get('stream'):
            choices = [{'index': 0, 'delta': message, 'finish_reason': None}, {'index': 0, 'delta': {}, 'finish_reason': reason}]
            chunks = [{**head, 'object': 'chat.completion.chunk', 'choices': [choice]} for choice in choices]
            self.answer('text/event-stream', ''.join(f'data: {json.dumps(chunk)}\n\n' for chunk in chunks) + 'data: [DONE]\n\n')
        else:
            choices = [{'index': 0, 'message': message, 'finish_reason': reason}]
            usage = {'prompt_tokens': 5, 'completion_tokens': 2, 'total_tokens': 7}
            self.answer('application/json', json.dumps({**head, 'object': 'chat.completion', 'choices': choices, 'usage': usage}))

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(kind, stream):
    body = {'model': 'm', 'messages': [{'role': 'user', 'content': kind}], 'stream': stream, **({'tools': [tool]} if kind == 'call' else {})}
    request = urllib.request.Request(f'{server}/v1/chat/completions', json.dumps(body).encode(), {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read().decode()


def wait():
    for _ in range(900):
        try:
            urllib.request.urlopen(f'{server}/v1/rails/configs', timeout=2)
            return
        except OSError:
            time.sleep(0.1)


vendor = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Vendor)
threading.Thread(target=vendor.serve_forever, daemon=True).start()
server = f'http://127.0.0.1:{sys.argv[2]}'
wait()

seen = []
for kind in answers:
    [choice] = json.loads(ask(kind, False))['choices']
    text = choice['message'].get('content')
    said = 'no text' if text is None else f"'{text}'"
    calls = choice['message'].get('tool_calls') or []
    seen.append(f'{kind}, whole: {said}, ' + (f'{len(calls)} calls, ' if calls else '') + choice['finish_reason'])
stream = ask('length', True)
choices = [choice for line in stream.splitlines() if line.startswith('data: {') for choice in json.loads(line[6:])['choices']]
said = ''.join(choice['delta'].get('content') or '' for choice in choices)
reason = next((choice['finish_reason'] for choice in choices if choice.get('finish_reason')), 'no reason')
seen.append(f"length, streamed: '{said}', {reason}, {stream.strip().splitlines()[-1].removeprefix('data: ')}")
print('\n'.join(seen))
expected = [
    "length, whole: 'Half an', stop",
    "filter, whole: 'Par', stop",
    "refusal, whole: '', stop",
    'call, whole: no text, 1 calls, tool_calls',
    "length, streamed: 'Half an', no reason, [DONE]",
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
mkdir -p config/plain
cat > config/plain/config.yml <<YAML
models:
  - type: main
    engine: openai
    model: m
    parameters: { base_url: "http://127.0.0.1:$work/v1", api_key: k }
passthrough: true
YAML
HOME=$folder OPENAI_API_KEY=k venv/bin/nemoguardrails server --config config --default-config-id plain --port "$own" --disable-chat-ui \
  </dev/null >log 2>&1 &
pid=$!
timeout 180 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
