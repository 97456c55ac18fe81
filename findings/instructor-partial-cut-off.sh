#!/bin/sh
# instructor 1.17.0 (Python): an answer that the limit of tokens cut off (`finish_reason: length`) raises IncompleteOutputException from
# create(). create_partial() streams the same answer to its end and raises nothing: its last object has None in fields that the model
# requires, here an `int`, so that it passes for an answer in which the model had nothing to say about them.
#
# Seen: "whole: IncompleteOutputException", "streamed: name='Ada' age=None". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install instructor==1.17.0 openai==3.3.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import instructor
from openai import OpenAI
from pydantic import BaseModel

half = '{"name": "Ada", "ag'
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}


class Person(BaseModel):
    name: str
    age: int


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        called = {'name': body['tools'][0]['function']['name'], 'arguments': half}
        call = {'index': 0, 'id': 'call_1', 'type': 'function', 'function': called}
        message = {'role': 'assistant', 'content': None, 'tool_calls': [call]}
        choice = {'index': 0, 'finish_reason': 'length'}
        self.send_response(200)
        if body.get('stream'):
            chunk = {**head, 'object': 'chat.completion.chunk', 'choices': [{**choice, 'delta': message}]}
            self.answer('text/event-stream', f'data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n')
        else:
            usage = {'prompt_tokens': 5, 'completion_tokens': 3, 'total_tokens': 8}
            whole = {**head, 'object': 'chat.completion', 'choices': [{**choice, 'message': message}], 'usage': usage}
            self.answer('application/json', json.dumps(whole))

    def answer(self, media_type, text):
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(is_stream):
    options = {'model': 'm', 'messages': [{'role': 'user', 'content': 'Who?'}], 'response_model': Person, 'max_retries': 1}
    try:
        if not is_stream:
            return client.chat.completions.create(**options)
        *_, last = client.chat.completions.create_partial(**options)
        return last
    except Exception as error:
        return type(error).__name__


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = instructor.from_openai(OpenAI(base_url=f'http://127.0.0.1:{server.server_port}/v1', api_key='k'))
seen = [f'whole: {ask(False)}', f'streamed: {ask(True)}']
print(*seen, sep='\n')
sys.exit(0 if seen == ['whole: IncompleteOutputException', "streamed: name='Ada' age=None"] else 1)
PY
timeout 60 venv/bin/python run.py
