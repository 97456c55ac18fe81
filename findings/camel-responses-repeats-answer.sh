#!/bin/sh
# camel-ai 0.2.90 (Python), OpenAI models with `api_mode='responses'`: the request with the results of tools names the answer before it in
# `previous_response_id`, and beside the results sends the text and the calls of that answer once more. A server that puts the continued
# answer before the input, as the API is described, has every call twice, the first time without a result, and the text twice.
# An answer that ended at the limit of tokens (`status: incomplete`) has the finish reason `stop`, as a whole one.
#
# Seen: "continues resp_1 with message, function_call, function_call_output" and "cut off: stop". Exits with 1 when that changes. Needs
# python3. camel counts tokens with an encoding that tiktoken would fetch; the script gives it another.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install camel-ai==0.2.90 openai==3.57.0 'mcp<2'
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import tiktoken


class Encoding:
    def encode(self, text, **_):
        return list(text.split())


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Encoding()
from camel.agents import ChatAgent
from camel.models import ModelFactory
from camel.types import ModelPlatformType

usage = {
    'input_tokens': 5, 'input_tokens_details': {'cached_tokens': 0, 'cache_write_tokens': 0},
    'output_tokens': 3, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 8,
}
call = {'type': 'function_call', 'id': 'fc_1', 'call_id': 'call_1', 'name': 'look', 'arguments': '{"place":"Bern"}', 'status': 'completed'}
requests = []


def message(text):
    part = {'type': 'output_text', 'text': text, 'annotations': [], 'logprobs': []}
    return {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'completed', 'content': [part]}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        requests.append(body)
        is_first = len(requests) == 1
        ending = {'status': 'completed', 'incomplete_details': None}
        if not is_first:
            ending = {'status': 'incomplete', 'incomplete_details': {'reason': 'max_output_tokens'}}
        output = [message('Looking.'), call] if is_first else [message('It rains in Be')]
        response = {
            'id': f'resp_{len(requests)}', 'object': 'response', 'created_at': 1, 'model': 'gpt-5', 'error': None, **ending,
            'output': output, 'usage': usage, 'tools': [], 'tool_choice': 'auto', 'parallel_tool_calls': True, 'metadata': {},
        }
        text = json.dumps(response).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def look(place: str) -> str:
    """Looks at a place.

    Args:
        place: The place.
    """
    return 'rain'


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
model = ModelFactory.create(
    ModelPlatformType.OPENAI, model_type='gpt-5', url=f'http://127.0.0.1:{server.server_port}/v1', api_key='k', api_mode='responses'
)
answer = ChatAgent('You look.', model=model, tools=[look]).step('How is Bern?')
second = requests[1]
kinds = [item.get('type') or 'message' for item in second['input']]
seen = [
    f"continues {second.get('previous_response_id')} with {', '.join(kinds)}",
    f"cut off: {', '.join(answer.info['termination_reasons'])}",
]
print('\n'.join(seen))
sys.exit(0 if seen == ['continues resp_1 with message, function_call, function_call_output', 'cut off: stop'] else 1)
PY
timeout 120 venv/bin/python run.py
