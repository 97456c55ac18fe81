#!/bin/sh
# agentops 0.4.21 (Python, with anthropic 0.125.0): under its instrumentation, `messages.create(stream=True)` gives its caller no events at all.
# agentops reads the stream to its end for the span, and what it then hands on is used up: the program sees an empty answer that ended
# well, also where the stream broke off and Anthropic's SDK raises without agentops. `messages.stream()` works. The answer is counted
# with the output tokens of its first piece (1) in place of the final ones (30).
#
# Seen: "without agentops: 6 events, 'It rains.'", "without agentops, broken off: APIStatusError", "create: 0 events, ''", "create, broken off: 0
# events, ''", "stream(): 'It rains.'", "counted: 1". Exits with 1 when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install pip==26.3 # an older one finds no versions that fit
venv/bin/pip -q --disable-pip-version-check install agentops==0.4.21 anthropic==0.125.0
cat > run.py <<'PY'
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ['AGENTOPS_LOG_LEVEL'] = 'CRITICAL'
import agentops, anthropic
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

nowhere = 'http://127.0.0.1:1'
spans = InMemorySpanExporter()

prompt = {'input_tokens': 20, 'cache_creation_input_tokens': 0, 'cache_read_input_tokens': 100}
head = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'stop_sequence': None}


def events(breaks):
    start = {**head, 'content': [], 'stop_reason': None, 'usage': {**prompt, 'output_tokens': 1}}
    yield {'type': 'message_start', 'message': start}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'It rains.'}}
    if breaks:
        yield {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}
        return
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': 'end_turn', 'stop_sequence': None}, 'usage': {**prompt, 'output_tokens': 30}}
    yield {'type': 'message_stop'}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        usage = {**prompt, 'output_tokens': 30}
        whole = {**head, 'content': [{'type': 'text', 'text': 'It rains.'}], 'stop_reason': 'end_turn', 'usage': usage}
        lines = (f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events(body['max_tokens'] == 2))
        text = ''.join(lines) if body.get('stream') else json.dumps(whole)
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if body.get('stream') else 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = anthropic.Anthropic(api_key='k', base_url=f'http://127.0.0.1:{server.server_port}', max_retries=0)


def create(limit=20):
    """What the caller gets."""
    text, events = '', 0
    try:
        for event in client.messages.create(model='m', max_tokens=limit, messages=messages, stream=True):
            events += 1
            if event.type == 'content_block_delta':
                text += event.delta.text
    except anthropic.APIError as error:
        return type(error).__name__
    return f'{events} events, {text!r}'


def helper():
    with client.messages.stream(model='m', max_tokens=20, messages=messages) as stream:
        return repr(''.join(stream.text_stream))


messages = [{'role': 'user', 'content': 'How is Bern?'}]
seen = [f'without agentops: {create()}', f'without agentops, broken off: {create(2)}']
agentops.init(api_key='11111111-1111-1111-1111-111111111111', endpoint=nowhere, exporter_endpoint=nowhere, log_level='CRITICAL')
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(spans))
seen.append(f'create: {create()}')
counts = [one.attributes.get('gen_ai.usage.completion_tokens') for one in spans.get_finished_spans()]
seen += [f'create, broken off: {create(2)}', f'stream(): {helper()}', f'counted: {max(filter(None, counts))}']
print('\n'.join(seen))
expected = [
    "without agentops: 6 events, 'It rains.'",
    'without agentops, broken off: APIStatusError',
    "create: 0 events, ''",
    "create, broken off: 0 events, ''",
    "stream(): 'It rains.'",
    'counted: 1',
]
os._exit(0 if seen == expected else 1)
PY
timeout 120 venv/bin/python -u run.py 2>log || { status=$?; tail -5 log; exit $status; }
