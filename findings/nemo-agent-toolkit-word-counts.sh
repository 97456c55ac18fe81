#!/bin/sh
# NVIDIA NeMo Agent Toolkit 1.9.0 (`nat serve`), with its workflow `chat_completion`, at `/v1/chat/completions`: `usage` counts the words
# between spaces, not tokens, and the model's own counts are lost, so that code, Chinese or long prompts cost next to nothing. A model that
# fails is an answer with status 200 and `stop`: an apology, in which neither a gateway nor an agent sees an error. An answer that the limit
# of tokens cut off ends with `stop`, too.
#
# Seen: "text: 200 'It rains.' stop, 1 and 2 tokens" (the model says 50 and 7), "cut off: 200 'def weather(city):' stop, 2 and 2 tokens" (50
# and 7, `length`) and "no money: 200 'I apologize, but I encountered an error' stop, 0 and 22 tokens" (429). Exits with 1 when that changes.
# Needs python3 (3.11 to 3.13).
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv uv
uv/bin/pip -q --disable-pip-version-check install uv
uv/bin/uv venv -q --python python3 venv
uv/bin/uv pip install -q --python venv/bin/python nvidia-nat==1.9.0 nvidia-nat-langchain==1.9.0 langchain-openai==1.7.4 greenlet==3.5.6
cat > run.py <<'PY'
import json, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

answers = {'text': ('It rains.', 'stop'), 'cut off': ('def weather(city):', 'length')}
usage = {'prompt_tokens': 50, 'completion_tokens': 7, 'total_tokens': 57}


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        kind = body['messages'][-1]['content']
        if kind not in answers:
            return self.answer(429, {'error': {'message': 'You have no money left.', 'type': 'insufficient_quota', 'code': 'insufficient_quota'}})
        content, reason = answers[kind]
        choice = {'index': 0, 'message': {'role': 'assistant', 'content': content}, 'finish_reason': reason}
        self.answer(200, {'id': 'chatcmpl-1', 'object': 'chat.completion', 'created': 1, 'model': 'm', 'choices': [choice], 'usage': usage})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def ask(kind):
    body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': kind}]}).encode()
    request = urllib.request.Request(f'{server}/v1/chat/completions', body, {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=120) as response:
        status, reply = response.status, json.loads(response.read())
    [choice] = reply['choices']
    counts = f"{reply['usage']['prompt_tokens']} and {reply['usage']['completion_tokens']} tokens"
    return f"{kind}: {status} {choice['message']['content'].split(' while')[0]!r} {choice['finish_reason']}, {counts}"


def wait():
    for _ in range(900):
        try:
            return urllib.request.urlopen(f'{server}/openapi.json', timeout=5).close()
        except OSError:
            time.sleep(0.2)


model = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
server = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen = [ask(kind) for kind in ('text', 'cut off', 'no money')]
print('\n'.join(seen))
expected = [
    "text: 200 'It rains.' stop, 1 and 2 tokens",
    "cut off: 200 'def weather(city):' stop, 2 and 2 tokens",
    "no money: 200 'I apologize, but I encountered an error' stop, 0 and 22 tokens",
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
cat > config.yaml <<YAML
llms:
  model: { _type: openai, model_name: m, api_key: k, base_url: "http://127.0.0.1:$work/v1", max_retries: 1 }
workflow: { _type: chat_completion, llm_name: model }
YAML
HOME=$folder venv/bin/nat serve --config_file config.yaml --host 127.0.0.1 --port "$own" >log 2>&1 &
pid=$!
timeout 300 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
