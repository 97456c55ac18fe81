#!/bin/sh
# lm-proxy 3.3.2 (Python; also published as llm-proxy-server, oai-proxy and inference-proxy): a stream loses the model's tool calls, and ends
# with `finish_reason` `stop` whatever the vendor said: for calls, for an answer that the limit of tokens cut off, for a filtered one. An
# agent that streams sees an empty answer that is complete. The same requests that are not streamed have the calls and the reasons.
#
# Seen: "call, whole: 1 calls, tool_calls", "call, streamed: 0 calls, stop", "length, whole: 0 calls, length", "length, streamed: 0 calls,
# stop". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install lm-proxy==3.3.2 openai==2.54.0
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

calls = [{'id': 'call_1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{}'}}]
answers = {
    'call': ({'role': 'assistant', 'content': None, 'tool_calls': calls}, 'tool_calls'),
    'length': ({'role': 'assistant', 'content': 'The first'}, 'length'),
}
tool = {'type': 'function', 'function': {'name': 'look', 'parameters': {'type': 'object', 'properties': {}}}}
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        message, reason = answers[body['messages'][-1]['content']]
        if body.get('stream'):
            deltas = [(self.delta(message), None), ({}, reason)]
            lines = [f'data: {json.dumps(self.chunk(delta, finish))}\n\n' for delta, finish in deltas]
            self.answer('text/event-stream', ''.join(lines) + 'data: [DONE]\n\n')
        else:
            choice = {'index': 0, 'message': message, 'logprobs': None, 'finish_reason': reason}
            usage = {'prompt_tokens': 5, 'completion_tokens': 2, 'total_tokens': 7}
            whole = {**head, 'object': 'chat.completion', 'choices': [choice], 'usage': usage}
            self.answer('application/json', json.dumps(whole))

    def delta(self, message):
        calls = [{'index': index, **call} for index, call in enumerate(message.get('tool_calls', []))]
        return {**message, **({'tool_calls': calls} if calls else {})}

    def chunk(self, delta, reason):
        choice = {'index': 0, 'delta': delta, 'logprobs': None, 'finish_reason': reason}
        return {**head, 'object': 'chat.completion.chunk', 'choices': [choice]}

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(kind, stream):
    messages = [{'role': 'user', 'content': kind}]
    body = json.dumps({'model': 'm', 'messages': messages, 'tools': [tool], 'stream': stream}).encode()
    headers = {'content-type': 'application/json', 'authorization': 'Bearer k'}
    request = urllib.request.Request(f'{proxy}/v1/chat/completions', body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        text = response.read().decode()
    if stream:
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]
        parts = [(choice['delta'], choice.get('finish_reason')) for chunk in chunks for choice in chunk['choices']]
    else:
        parts = [(choice['message'], choice['finish_reason']) for choice in json.loads(text)['choices']]
    found = sum(len(part.get('tool_calls') or []) for part, _ in parts)
    return f'{found} calls, ' + ', '.join(reason for _, reason in parts if reason)


def wait():
    for _ in range(600):
        try:
            urllib.request.urlopen(proxy, timeout=2)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)


server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
proxy = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen = {f'{kind}, {way}': ask(kind, way == 'streamed') for kind in answers for way in ('whole', 'streamed')}
for name, words in seen.items():
    print(f'{name}: {words}')
expected = ['1 calls, tool_calls', '0 calls, stop', '0 calls, length', '0 calls, stop']
sys.exit(0 if list(seen.values()) == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
cat > config.toml <<TOML
host = "127.0.0.1"
port = $own
[connections.vendor]
api_type = "open_ai"
api_base = "http://127.0.0.1:$work/v1"
api_key = "k"
[routing]
"*" = "vendor.m"
[groups.default]
api_keys = ["k"]
TOML
venv/bin/lm-proxy --config config.toml >log 2>&1 &
pid=$!
timeout 120 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
