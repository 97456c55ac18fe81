#!/bin/sh
# vllm-router 0.1.17 (vLLM's own router): no rerank passes to a vLLM server. It takes the request for one of SGLang's: on /v1/rerank it
# sends the model `default` in place of the requested one, which vLLM does not have; on /rerank it keeps the model, but drops `top_n`,
# and answers vLLM's results with 500. Other requests reach the server under their model.
#
# Seen: "/v1/rerank: model default, top_n None -> 404", "/rerank: model ranker, top_n None -> 500 Failed to build rerank response" and
# "/v1/embeddings: model ranker -> 200". The worker answers in the form that vLLM documents. Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid" || true; }; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install vllm-router==0.1.17
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

bodies = []
model = {'id': 'ranker', 'object': 'model', 'created': 1, 'owned_by': 'vllm', 'root': 'ranker', 'max_model_len': 512}


class Worker(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, {'object': 'list', 'data': [model]} if 'models' in self.path else {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        bodies.append(body)
        usage = {'prompt_tokens': 4, 'total_tokens': 4}
        if body.get('model') != 'ranker':
            message = f"The model `{body.get('model')}` does not exist."
            self.answer(404, {'error': {'message': message, 'type': 'NotFoundError', 'param': 'model', 'code': 404}})
        elif 'documents' in body:
            results = [{'index': 0, 'document': {'text': 'a', 'multi_modal': None}, 'relevance_score': 0.9}]
            self.answer(200, {'id': 'rerank-1', 'model': 'ranker', 'usage': usage, 'results': results})
        else:
            data = [{'object': 'embedding', 'index': 0, 'embedding': [0.6, 0.8]}]
            self.answer(200, {'object': 'list', 'model': 'ranker', 'data': data, 'usage': usage})

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def ask(path, body):
    bodies.clear()
    request = urllib.request.Request(router + path, json.dumps(body).encode(), {'content-type': 'application/json'})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait():
    for _ in range(300):
        try:
            with urllib.request.urlopen(f'{router}/v1/models', timeout=2) as response:
                if 'ranker' in response.read().decode():
                    return
        except OSError:
            pass
        time.sleep(0.2)


ThreadingHTTPServer.allow_reuse_address = True
worker = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Worker)
threading.Thread(target=worker.serve_forever, daemon=True).start()
router = f'http://127.0.0.1:{sys.argv[2]}'
wait()
rerank = {'model': 'ranker', 'query': 'q', 'documents': ['a', 'b'], 'top_n': 1}
seen = []
for path in ('/v1/rerank', '/rerank'):
    status, text = ask(path, rerank)
    got = bodies[-1]
    words = '' if status == 404 else f' {text}'
    seen.append(f"{path}: model {got.get('model')}, top_n {got.get('top_n')} -> {status}{words}")
status, _ = ask('/v1/embeddings', {'model': 'ranker', 'input': 'hi'})
seen.append(f"/v1/embeddings: model {bodies[-1].get('model')} -> {status}")
print(*seen, sep='\n')
expected = [
    '/v1/rerank: model default, top_n None -> 404',
    '/rerank: model ranker, top_n None -> 500 Failed to build rerank response',
    '/v1/embeddings: model ranker -> 200',
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) route=$(free) metrics=$(free)
venv/bin/vllm-router --worker-urls "http://127.0.0.1:$work" --host 127.0.0.1 --port "$route" --prometheus-port "$metrics" >log 2>&1 &
pid=$!
timeout 90 python3 run.py "$work" "$route"
