#!/bin/sh
# Hermes Agent 0.19.0, its OpenAI-compatible server (`hermes gateway run` with `API_SERVER_ENABLED`): an error of the model is an answer with
# status 200, whose text is the error. In Chat only the finish reason `error` and the member `hermes` tell; in Responses the answer is
# `completed`, so that a client takes "HTTP 401: …" for what the agent said. An answer that the limit of tokens cut off is asked for again
# until it is long enough or four times are over; then Responses says `completed` as well, and both endpoints count no tokens at all.
#
# Seen: "Chat, error: 200 error, 'HTTP 401: No such key.', 0 and 0 tokens", "Responses, error: 200 completed, 'HTTP 401: No such key.', 0 and 0
# tokens", "Chat, cut off: 200 length, 'It ra' 4 times, 0 and 0 tokens" and "Responses, cut off: 200 completed, 'It ra' 4 times, 0 and 0
# tokens". Exits with 1 when that changes. Needs python3 (3.11 or later).
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install hermes-agent==0.19.0 aiohttp==3.14.5
cat > run.py <<'PY'
import json, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

usage = {'prompt_tokens': 50, 'completion_tokens': 7, 'total_tokens': 57}
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, 'application/json', json.dumps({'object': 'list', 'data': [{'id': 'm', 'object': 'model', 'created': 1, 'owned_by': 'v'}]}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        # Hermes also asks which server this is.
        if not self.path.endswith('/chat/completions'):
            return self.answer(404, 'application/json', '{}')
        if any('error' in str(message['content']) for message in body['messages'] if message['role'] == 'user'):
            error = {'message': 'No such key.', 'type': 'invalid_request_error', 'code': 'invalid_api_key'}
            return self.answer(401, 'application/json', json.dumps({'error': error}))
        message = {'role': 'assistant', 'content': 'It ra'}
        if not body.get('stream'):
            choice = {'index': 0, 'message': message, 'finish_reason': 'length'}
            return self.answer(200, 'application/json', json.dumps({**head, 'object': 'chat.completion', 'choices': [choice], 'usage': usage}))
        chunks = [{'choices': [{'index': 0, 'delta': delta, 'finish_reason': reason}]} for delta, reason in ((message, None), ({}, 'length'))]
        lines = [f'data: {json.dumps({**head, "object": "chat.completion.chunk", **chunk})}\n\n' for chunk in [*chunks, {'choices': [], 'usage': usage}]]
        self.answer(200, 'text/event-stream', ''.join(lines) + 'data: [DONE]\n\n')

    def answer(self, status, media_type, text):
        self.send_response(status)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(path, body):
    headers = {'content-type': 'application/json', 'authorization': f'Bearer {sys.argv[3]}'}
    request = urllib.request.Request(f'{server}/v1/{path}', json.dumps({'model': 'hermes-agent', **body}).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as response:
        return response.status, json.loads(response.read())


def describe(text):
    times = text.count('It ra')
    return f"'It ra' {times} times" if times else repr(text)


def chat(text):
    status, reply = ask('chat/completions', {'messages': [{'role': 'user', 'content': text}]})
    [choice], counts = reply['choices'], reply['usage']
    words = describe(choice['message']['content'])
    return f"{status} {choice['finish_reason']}, {words}, {counts['prompt_tokens']} and {counts['completion_tokens']} tokens"


def responses(text):
    status, reply = ask('responses', {'input': text})
    counts = reply['usage']
    words = describe(''.join(part['text'] for item in reply['output'] if item['type'] == 'message' for part in item['content']))
    return f"{status} {reply['status']}, {words}, {counts['input_tokens']} and {counts['output_tokens']} tokens"


def wait():
    for _ in range(900):
        try:
            return urllib.request.urlopen(f'{server}/health', timeout=5).close()
        except OSError:
            time.sleep(0.2)


model = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
server = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen = [f'{name}, {kind}: {endpoint(kind)}' for kind in ('error', 'cut off') for name, endpoint in (('Chat', chat), ('Responses', responses))]
print('\n'.join(seen))
expected = [
    "Chat, error: 200 error, 'HTTP 401: No such key.', 0 and 0 tokens",
    "Responses, error: 200 completed, 'HTTP 401: No such key.', 0 and 0 tokens",
    "Chat, cut off: 200 length, 'It ra' 4 times, 0 and 0 tokens",
    "Responses, cut off: 200 completed, 'It ra' 4 times, 0 and 0 tokens",
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free) key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
cat > config.yaml <<YAML
model: { default: m, provider: custom, base_url: "http://127.0.0.1:$work/v1", api_key: k }
YAML
export HOME=$folder HERMES_HOME=$folder API_SERVER_ENABLED=true API_SERVER_HOST=127.0.0.1 API_SERVER_PORT=$own API_SERVER_KEY=$key
venv/bin/hermes gateway run >log 2>&1 &
pid=$!
timeout 300 python3 run.py "$work" "$own" "$key" || { status=$?; tail -5 log; exit $status; }
