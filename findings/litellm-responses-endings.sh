#!/bin/sh
# litellm 1.110.2 (Python), a model of `openai/responses/` called with `completion`: each stream ends with `finish_reason` `stop`. This
# holds for one that OpenAI cut off at the limit of tokens, for one that it filtered, and for one that ended with `response.failed`, whose
# error is lost: its reader takes half an answer for a whole one. The same requests that are not streamed end with `length` and
# `content_filter`, and raise.
#
# Seen: "limit: whole length, streamed stop", "filter: whole content_filter, streamed stop" and "failed: whole raises, streamed stop".
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
endings = {
    'limit': {'status': 'incomplete', 'incomplete_details': {'reason': 'max_output_tokens'}},
    'filter': {'status': 'incomplete', 'incomplete_details': {'reason': 'content_filter'}},
    'failed': {'status': 'failed', 'error': {'code': 'server_error', 'message': 'The model failed.'}},
}
part = {'type': 'output_text', 'text': 'Half an ans', 'annotations': [], 'logprobs': []}
message = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'incomplete', 'content': [part]}
usage = {
    'input_tokens': 5,
    'input_tokens_details': {'cached_tokens': 0},
    'output_tokens': 3,
    'output_tokens_details': {'reasoning_tokens': 0},
    'total_tokens': 8,
}


def response(status, **more):
    head = {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'gpt-5', 'status': status, 'output': [message]}
    rest = {'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'temperature': 1, 'top_p': 1, 'metadata': {}}
    return {**head, 'error': None, 'incomplete_details': None, 'instructions': None, **rest, 'usage': usage, **more}


def events(ending):
    place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
    yield {'type': 'response.created', 'response': response('in_progress', output=[], usage=None)}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**message, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **place, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **place, 'delta': part['text'], 'logprobs': []}
    if ending['status'] == 'incomplete':
        yield {'type': 'response.output_text.done', **place, 'text': part['text'], 'logprobs': []}
        yield {'type': 'response.content_part.done', **place, 'part': part}
        yield {'type': 'response.output_item.done', 'output_index': 0, 'item': message}
    yield {'type': f'response.{ending["status"]}', 'response': response(**ending)}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        ending = endings[body['model']]
        if body.get('stream'):
            numbered = [{**event, 'sequence_number': number} for number, event in enumerate(events(ending))]
            lines = [f'event: {event["type"]}\ndata: {json.dumps(event)}\n\n' for event in numbered]
            self.answer('text/event-stream', ''.join(lines))
        else:
            self.answer('application/json', json.dumps(response(**ending)))

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(model, **options):
    url = f'http://127.0.0.1:{server.server_port}/v1'
    messages = [{'role': 'user', 'content': 'Go.'}]
    return litellm.completion(
        model=f'openai/responses/{model}', api_base=url, api_key='k', max_retries=0, messages=messages, **options
    )


def whole(model):
    try:
        return ask(model).choices[0].finish_reason
    except Exception:
        return 'raises'


def streamed(model):
    text, reasons = '', []
    try:
        for chunk in ask(model, stream=True):
            for choice in chunk.choices:
                text += choice.delta.content or ''
                reasons += [choice.finish_reason] if choice.finish_reason else []
    except Exception:
        return 'raises'
    return ' '.join(reasons) if text == part['text'] else f'lost text: {text}'


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = {model: (whole(model), streamed(model)) for model in endings}
for model, (at_once, in_pieces) in seen.items():
    print(f'{model}: whole {at_once}, streamed {in_pieces}')
wanted = {'limit': ('length', 'stop'), 'filter': ('content_filter', 'stop'), 'failed': ('raises', 'stop')}
sys.exit(0 if seen == wanted else 1)
PY
timeout 60 venv/bin/python run.py
