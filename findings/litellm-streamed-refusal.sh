#!/bin/sh
# litellm 1.110.2 (Python): the refusal of an OpenAI model, which stands in `refusal` beside an empty `content`, is in `message.refusal` of
# an answer that is not streamed. Streamed, no chunk has it, and stream_chunk_builder makes an answer of the chunks that is empty, ended
# by `stop` and has no `refusal`: nothing tells it from a model that had nothing to say.
#
# Seen: "whole: content None, refusal 'I cannot help with that.', stop" and "streamed: content '', refusal None, stop".
# Exits with 1 when that changes. Needs python3.
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
pieces = ['I cannot', ' help with that.']
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'gpt-4o'}


def chunk(delta, finish_reason=None):
    choice = {'index': 0, 'delta': delta, 'logprobs': None, 'finish_reason': finish_reason}
    return {**head, 'object': 'chat.completion.chunk', 'choices': [choice]}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.send_response(200)
        if body.get('stream'):
            deltas = [{'role': 'assistant', 'content': '', 'refusal': None}, *({'refusal': piece} for piece in pieces)]
            chunks = [*map(chunk, deltas), chunk({}, 'stop')]
            self.answer('text/event-stream', ''.join(f'data: {json.dumps(one)}\n\n' for one in chunks) + 'data: [DONE]\n\n')
        else:
            message = {'role': 'assistant', 'content': None, 'refusal': ''.join(pieces)}
            choice = {'index': 0, 'message': message, 'logprobs': None, 'finish_reason': 'stop'}
            usage = {'prompt_tokens': 5, 'completion_tokens': 6, 'total_tokens': 11}
            self.answer('application/json', json.dumps({**head, 'object': 'chat.completion', 'choices': [choice], 'usage': usage}))

    def answer(self, media_type, text):
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(**options):
    url = f'http://127.0.0.1:{server.server_port}/v1'
    messages = [{'role': 'user', 'content': 'Go.'}]
    return litellm.completion(model='openai/gpt-4o', api_base=url, api_key='k', messages=messages, **options)


def describe(answer):
    choice = answer.choices[0]
    return f"content {choice.message.content!r}, refusal {getattr(choice.message, 'refusal', None)!r}, {choice.finish_reason}"


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
chunks = list(ask(stream=True))
seen = [f'whole: {describe(ask())}', f'streamed: {describe(litellm.stream_chunk_builder(chunks))}']
print(*seen, sep='\n')
is_nowhere = not any('help' in str(one.model_dump()) for one in chunks)
wanted = ["whole: content None, refusal 'I cannot help with that.', stop", "streamed: content '', refusal None, stop"]
sys.exit(0 if seen == wanted and is_nowhere else 1)
PY
timeout 60 venv/bin/python run.py
