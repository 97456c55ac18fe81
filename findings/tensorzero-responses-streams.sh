#!/bin/sh
# TensorZero 2026.6.0 (Rust, its gateway embedded in the Python client), a model of type `openai` with `api_type = "responses"`: every streamed
# answer ends with the finish reason LENGTH, whether it is whole, calls a tool, was filtered or was cut off, so that a program that asks
# again with a higher limit does so for ever; not streamed, whole ones have no reason at all. A streamed call has the id of its item (`fc_…`)
# in place of its `call_id`, under which logs of the vendor and other parts of a program know it.
#
# Seen: "text: whole None, streamed LENGTH", "call: whole None call_1, streamed LENGTH fc_1", "cut off: whole LENGTH, streamed LENGTH".
# Exits with 1 when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install tensorzero==2026.6.0
cat > run.py <<'PY'
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tensorzero import TensorZeroGateway

parts = {'text': 'It rains.', 'cut off': 'It rai'}
tool = {'name': 'look', 'description': 'Looks.', 'parameters': {'type': 'object', 'properties': {}}}


def item_of(kind, status):
    if kind == 'call':
        return {'type': 'function_call', 'id': 'fc_1', 'call_id': 'call_1', 'name': 'look', 'arguments': '{}', 'status': status}
    part = {'type': 'output_text', 'text': parts[kind], 'annotations': [], 'logprobs': []}
    return {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': status, 'content': [part]}


def response(kind, status, output):
    details = {'reason': 'max_output_tokens'} if status == 'incomplete' else None
    usage = {'input_tokens': 5, 'output_tokens': 3, 'total_tokens': 8, 'input_tokens_details': {'cached_tokens': 0}}
    usage |= {'output_tokens_details': {'reasoning_tokens': 0}}
    options = {'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'metadata': {}, 'error': None, 'instructions': None}
    head = {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'm', 'status': status, **options}
    return {**head, 'output': output, 'incomplete_details': details, 'usage': None if status == 'in_progress' else usage}


def events(kind, status, item):
    place = {'item_id': item['id'], 'output_index': 0}
    open_item = {**item, 'status': 'in_progress', **({'arguments': ''} if kind == 'call' else {'content': []})}
    yield {'type': 'response.created', 'response': response(kind, 'in_progress', [])}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': open_item}
    if kind == 'call':
        yield {'type': 'response.function_call_arguments.delta', **place, 'delta': '{}'}
        yield {'type': 'response.function_call_arguments.done', **place, 'arguments': '{}'}
    else:
        [part] = item['content']
        yield {'type': 'response.content_part.added', **place, 'content_index': 0, 'part': {**part, 'text': ''}}
        yield {'type': 'response.output_text.delta', **place, 'content_index': 0, 'delta': part['text'], 'logprobs': []}
        yield {'type': 'response.output_text.done', **place, 'content_index': 0, 'text': part['text'], 'logprobs': []}
        yield {'type': 'response.content_part.done', **place, 'content_index': 0, 'part': part}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    yield {'type': f'response.{status}', 'response': response(kind, status, [item])}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        kind = next(one for one in ('call', 'cut off', 'text') if f'"{one}"' in json.dumps(body['input']))
        status = 'incomplete' if kind == 'cut off' else 'completed'
        item, streamed = item_of(kind, status), body.get('stream')
        lines = [
            f"event: {one['type']}\ndata: {json.dumps({**one, 'sequence_number': number})}\n\n"
            for number, one in enumerate(events(kind, status, item))
        ]
        text = ''.join(lines) if streamed else json.dumps(response(kind, status, [item]))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if streamed else 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
with open('tensorzero.toml', 'w') as file:
    file.write(f'''
[models.one]
routing = ["vendor"]
[models.one.providers.vendor]
type = "openai"
model_name = "m"
api_type = "responses"
api_base = "http://127.0.0.1:{server.server_port}/v1/"
api_key_location = "env::VENDOR_KEY"
''')
os.environ['VENDOR_KEY'] = 'k'
gateway = TensorZeroGateway.build_embedded(config_file='tensorzero.toml')


def ask(kind, stream):
    question = {'messages': [{'role': 'user', 'content': kind}]}
    answer = gateway.inference(model_name='one', input=question, additional_tools=[tool], stream=stream)
    chunks = list(answer) if stream else [answer]
    reason = next((one.finish_reason for one in reversed(chunks) if one.finish_reason), None)
    ids = {block.id for one in chunks for block in one.content} if kind == 'call' else ()
    return ' '.join([str(reason).removeprefix('FinishReason.'), *sorted(ids)])


seen = [f'{kind}: whole {ask(kind, False)}, streamed {ask(kind, True)}' for kind in ('text', 'call', 'cut off')]
print('\n'.join(seen))
expected = [
    'text: whole None, streamed LENGTH',
    'call: whole None call_1, streamed LENGTH fc_1',
    'cut off: whole LENGTH, streamed LENGTH',
]
sys.exit(0 if seen == expected else 1)
PY
timeout 120 venv/bin/python run.py 2>log || { status=$?; tail -5 log; exit $status; }
