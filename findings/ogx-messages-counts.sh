#!/bin/sh
# OGX 1.5.0 (before: Llama Stack), serving Messages before an OpenAI-compatible vendor: a stream counts no tokens. `message_start` and
# `message_delta` say 0 for the prompt and the answer, because OGX does not ask the vendor for the counts of a stream; the same request
# without stream has them. An answer that the vendor filtered (`content_filter`) ends with `end_turn` as if it were whole, and a refusal
# becomes an answer without content.
#
# Seen: "text, whole: 5 and 2 tokens, end_turn, 'It rains.'", "text, streamed: 0 and 0 tokens, end_turn, 'It rains.'", "filter, whole: 5 and 2
# tokens, end_turn, 'Par'" and "refusal, whole: 5 and 2 tokens, end_turn, ''". Exits with 1 when that changes. Needs python3.12 or later as
# python3.12.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3.12 -m venv venv
venv/bin/pip -q --disable-pip-version-check install ogx==1.5.0
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

answers = {
    'text': ({'content': 'It rains.'}, 'stop'),
    'filter': ({'content': 'Par'}, 'content_filter'),
    'refusal': ({'content': None, 'refusal': 'I cannot help.'}, 'stop'),
}
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}
usage = {'prompt_tokens': 5, 'completion_tokens': 2, 'total_tokens': 7}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer('application/json', json.dumps({'object': 'list', 'data': [{'id': 'm', 'object': 'model', 'created': 1, 'owned_by': 'v'}]}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        content = body['messages'][-1]['content']
        message, reason = answers[content if isinstance(content, str) else content[0]['text']]
        message = {'role': 'assistant', **message}
        if not body.get('stream'):
            choices = [{'index': 0, 'message': message, 'finish_reason': reason}]
            return self.answer('application/json', json.dumps({**head, 'object': 'chat.completion', 'choices': choices, 'usage': usage}))
        deltas = [(message, None), ({}, reason)]
        chunks = [{'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]} for delta, finish in deltas]
        # As OpenAI does: counts come when they are asked for.
        if (body.get('stream_options') or {}).get('include_usage'):
            chunks.append({'choices': [], 'usage': usage})
        lines = [f'data: {json.dumps({**head, "object": "chat.completion.chunk", **chunk})}\n\n' for chunk in chunks]
        self.answer('text/event-stream', ''.join(lines) + 'data: [DONE]\n\n')

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(kind, stream):
    body = {'model': 'vendor/m', 'max_tokens': 50, 'stream': stream, 'messages': [{'role': 'user', 'content': kind}]}
    request = urllib.request.Request(f'{server}/v1/messages', json.dumps(body).encode(), {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()
    if not stream:
        answer = json.loads(text)
        words = ''.join(block.get('text', '') for block in answer['content'])
        return describe(answer['usage'], answer['stop_reason'], words)
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]
    words = ''.join(event['delta'].get('text', '') for event in events if event['type'] == 'content_block_delta')
    [end] = [event for event in events if event['type'] == 'message_delta']
    return describe(end['usage'], end['delta']['stop_reason'], words)


def describe(counts, reason, words):
    return f"{counts['input_tokens']} and {counts['output_tokens']} tokens, {reason}, {words!r}"


def wait():
    for _ in range(1200):
        try:
            urllib.request.urlopen(f'{server}/v1/models', timeout=5)
            return
        except OSError:
            time.sleep(0.1)


vendor = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Vendor)
threading.Thread(target=vendor.serve_forever, daemon=True).start()
server = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen = [f'{kind}, {"streamed" if stream else "whole"}: {ask(kind, stream)}' for kind, stream in (('text', False), ('text', True), ('filter', False), ('refusal', False))]
print('\n'.join(seen))
expected = [
    "text, whole: 5 and 2 tokens, end_turn, 'It rains.'",
    "text, streamed: 0 and 0 tokens, end_turn, 'It rains.'",
    "filter, whole: 5 and 2 tokens, end_turn, 'Par'",
    "refusal, whole: 5 and 2 tokens, end_turn, ''",
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
cat > config.yaml <<YAML
version: 2
distro_name: small
apis: [inference, messages]
providers:
  inference:
    - { provider_id: vendor, provider_type: "remote::openai", config: { api_key: k, base_url: "http://127.0.0.1:$work/v1" } }
  messages:
    - { provider_id: builtin, provider_type: "inline::builtin", config: { kvstore: { namespace: batches, backend: kv } } }
storage:
  backends:
    kv: { type: kv_sqlite, db_path: $folder/kv.db }
    sql: { type: sql_sqlite, db_path: $folder/sql.db }
  stores:
    metadata: { namespace: registry, backend: kv }
    inference: { table_name: inference_store, backend: sql }
    conversations: { table_name: conversations, backend: sql }
    prompts: { table_name: prompts, backend: sql }
    connectors: { table_name: connectors, backend: sql }
server: { port: $own }
YAML
HOME=$folder venv/bin/ogx run config.yaml --insecure >log 2>&1 &
pid=$!
timeout 180 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
