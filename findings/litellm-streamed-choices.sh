#!/bin/sh
# litellm 1.110.2 (Python): a stream of two choices (`n: 2`) ends with one finish reason, that of the first choice. The chunk that ends the
# second one is not passed on, so that its reader cannot tell a finished answer from one that the limit of tokens cut off, and a reader
# that waits for each choice's end waits in vain. The same request that is not streamed has both reasons. Its proxy (1.108.7) does the same.
#
# Seen: "whole: stop, length" and "streamed: stop, None". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install litellm==1.110.2 openai==3.3.0
cat > run.py <<'PY'
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Prices from the package instead of the network.
os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'
import litellm

litellm.suppress_debug_info = True
texts = ['A', 'B']
reasons = ['stop', 'length']
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'gpt-4o'}


def chunk(index, delta, finish_reason=None):
    choice = {'index': index, 'delta': delta, 'logprobs': None, 'finish_reason': finish_reason}
    return {**head, 'object': 'chat.completion.chunk', 'choices': [choice]}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        if body.get('stream'):
            begins = [chunk(index, {'role': 'assistant', 'content': text}) for index, text in enumerate(texts)]
            ends = [chunk(index, {}, reason) for index, reason in enumerate(reasons)]
            lines = [f'data: {json.dumps(one)}\n\n' for one in (*begins, *ends)]
            self.answer('text/event-stream', ''.join(lines) + 'data: [DONE]\n\n')
        else:
            choices = [
                {'index': index, 'message': {'role': 'assistant', 'content': text}, 'logprobs': None, 'finish_reason': reason}
                for index, (text, reason) in enumerate(zip(texts, reasons))
            ]
            usage = {'prompt_tokens': 5, 'completion_tokens': 2, 'total_tokens': 7}
            self.answer('application/json', json.dumps({**head, 'object': 'chat.completion', 'choices': choices, 'usage': usage}))

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(**options):
    url = f'http://127.0.0.1:{server.server_port}/v1'
    messages = [{'role': 'user', 'content': 'Go.'}]
    return litellm.completion(model='openai/gpt-4o', api_base=url, api_key='k', messages=messages, n=2, **options)


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
whole = [choice.finish_reason for choice in ask().choices]
streamed = [None, None]
received = ['', '']
for one in ask(stream=True):
    for choice in one.choices:
        received[choice.index] += choice.delta.content or ''
        streamed[choice.index] = choice.finish_reason or streamed[choice.index]
print('whole:', ', '.join(map(str, whole)))
print('streamed:', ', '.join(map(str, streamed)))
sys.exit(0 if whole == reasons and streamed == ['stop', None] and received == texts else 1)
PY
timeout 60 venv/bin/python run.py
