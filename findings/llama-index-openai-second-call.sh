#!/bin/sh
# llama-index-llms-openai 0.8.3 (Python, with llama-index-core 0.14.25): in a stream, of a chunk whose `delta.tool_calls` has two calls, the
# first one is kept. The field is a list, and servers that parse calls whole send them so. The second call never runs and nothing is said:
# the answer is a valid one with one call. The same calls in two chunks, or in an answer that is not streamed, both arrive.
#
# Seen: "one chunk: Paris", "two chunks: Paris, Oslo", "whole: Paris, Oslo". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install llama-index-llms-openai==0.8.3 llama-index-core==0.14.25 openai==2.54.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI


def call(index, city):
    return {'index': index, 'id': f'call_{index}', 'type': 'function',
            'function': {'name': 'weather', 'arguments': json.dumps({'city': city})}}


calls = [call(0, 'Paris'), call(1, 'Oslo')]
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}


def chunk(delta, finish_reason=None):
    return {**head, 'object': 'chat.completion.chunk', 'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish_reason}]}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.send_response(200)
        if not body.get('stream'):
            message = {'role': 'assistant', 'content': None, 'tool_calls': calls}
            answer = {**head, 'object': 'chat.completion', 'choices': [{'index': 0, 'message': message, 'finish_reason': 'tool_calls'}]}
            self.answer('application/json', json.dumps(answer))
            return
        together = self.path.startswith('/one')
        lists = [calls] if together else [[one] for one in calls]
        chunks = [chunk({'role': 'assistant', 'tool_calls': one}) for one in lists] + [chunk({}, 'tool_calls')]
        self.answer('text/event-stream', ''.join(f'data: {json.dumps(one)}\n\n' for one in chunks) + 'data: [DONE]\n\n')

    def answer(self, media_type, text):
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def weather(city: str) -> str:
    """Tells the weather of a city."""
    return city


def ask(path, stream):
    """The cities of the calls that the caller gets."""
    url = f'http://127.0.0.1:{server.server_port}/{path}/v1'
    llm = OpenAI(model='gpt-4o', api_base=url, api_key='k')
    ask = llm.stream_chat_with_tools if stream else llm.chat_with_tools
    answer = ask([FunctionTool.from_defaults(weather)], user_msg='Go.', allow_parallel_tool_calls=True)
    if stream:
        *_, answer = answer
    return ', '.join(one.tool_kwargs['city'] for one in llm.get_tool_calls_from_response(answer))


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = [f"one chunk: {ask('one', True)}", f"two chunks: {ask('two', True)}", f"whole: {ask('two', False)}"]
print(*seen, sep='\n')
sys.exit(0 if seen == ['one chunk: Paris', 'two chunks: Paris, Oslo', 'whole: Paris, Oslo'] else 1)
PY
timeout 60 venv/bin/python run.py
