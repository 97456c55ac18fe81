#!/bin/sh
# crewai 1.15.30 (Python), LLM with `api='responses'` and `stream=True`: an answer that the limit of tokens ends, which OpenAI closes with
# `response.incomplete` and not with `response.completed`, comes without its tool calls and without its tokens: the text before the call
# is returned as if it were the whole answer, and the usage stays at zero. Not streamed, the same answer has both.
#
# Seen: whole a list with the call "look" and 7 tokens, streamed the text "Looking." and 0 tokens. Exits with 1 when that changes.
# Needs python3 (3.10 to 3.13).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install crewai==1.15.30 openai==2.54.0
cat > run.py <<'PY'
import contextlib, io, json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ.update(HOME=os.getcwd(), CREWAI_DISABLE_TELEMETRY='true', OTEL_SDK_DISABLED='true', CREWAI_TRACING_ENABLED='false')
from crewai import LLM

text = {'type': 'output_text', 'text': 'Looking.', 'annotations': [], 'logprobs': []}
message = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'completed', 'content': [text]}
call = {'type': 'function_call', 'id': 'fc_1', 'call_id': 'call_1', 'name': 'look', 'arguments': '{}', 'status': 'completed'}
usage = {
    'input_tokens': 5,
    'input_tokens_details': {'cached_tokens': 0},
    'output_tokens': 2,
    'output_tokens_details': {'reasoning_tokens': 0},
    'total_tokens': 7,
}
head = {
    'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'gpt-4o', 'error': None, 'instructions': None,
    'metadata': {}, 'parallel_tool_calls': True, 'temperature': 1, 'tool_choice': 'auto', 'tools': [], 'top_p': 1,
}  # fmt: skip
whole = {**head, 'status': 'incomplete', 'incomplete_details': {'reason': 'max_output_tokens'}, 'output': [message, call], 'usage': usage}
begun = {**head, 'status': 'in_progress', 'incomplete_details': None, 'output': [], 'usage': None}
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
events = [
    {'type': 'response.created', 'response': begun},
    {'type': 'response.output_item.added', 'output_index': 0, 'item': {**message, 'status': 'in_progress', 'content': []}},
    {'type': 'response.content_part.added', **place, 'part': {**text, 'text': ''}},
    {'type': 'response.output_text.delta', **place, 'delta': 'Looking.', 'logprobs': []},
    {'type': 'response.output_text.done', **place, 'text': 'Looking.', 'logprobs': []},
    {'type': 'response.content_part.done', **place, 'part': text},
    {'type': 'response.output_item.done', 'output_index': 0, 'item': message},
    {'type': 'response.output_item.added', 'output_index': 1, 'item': {**call, 'status': 'in_progress', 'arguments': ''}},
    {'type': 'response.function_call_arguments.delta', 'item_id': 'fc_1', 'output_index': 1, 'delta': '{}'},
    {'type': 'response.function_call_arguments.done', 'item_id': 'fc_1', 'output_index': 1, 'name': 'look', 'arguments': '{}'},
    {'type': 'response.output_item.done', 'output_index': 1, 'item': call},
    {'type': 'response.incomplete', 'response': whole},
]


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        if not body.get('stream'):
            return self.answer('application/json', json.dumps(whole))
        numbered = [{**event, 'sequence_number': number} for number, event in enumerate(events)]
        self.answer('text/event-stream', ''.join(f'event: {one["type"]}\ndata: {json.dumps(one)}\n\n' for one in numbered))

    def answer(self, media_type, body):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
parameters = {'type': 'object', 'properties': {}}
tools = [{'type': 'function', 'function': {'name': 'look', 'description': 'Looks.', 'parameters': parameters}}]


def ask(stream):
    base_url = f'http://127.0.0.1:{server.server_port}/v1'
    llm = LLM(model='gpt-4o', provider='openai', api='responses', base_url=base_url, api_key='k', stream=stream)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        answer = llm.call([{'role': 'user', 'content': 'Which way?'}], tools=tools)
    calls = [one['name'] for one in answer] if isinstance(answer, list) else []
    return calls, answer if isinstance(answer, str) else '', llm.get_token_usage_summary().total_tokens


seen = [ask(False), ask(True)]
for name, (calls, said, tokens) in zip(('whole', 'streamed'), seen):
    print(f'{name}: calls {calls}, text {said!r}, {tokens} tokens')
sys.stdout.flush()
os._exit(0 if seen == [(['look'], '', 7), ([], 'Looking.', 0)] else 1)  # It would print a panel of its own.
PY
timeout 120 venv/bin/python run.py
