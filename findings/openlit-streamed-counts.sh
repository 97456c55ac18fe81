#!/bin/sh
# openlit 1.45.0 (Python, with openai 2.54.0 and anthropic 0.125.0): streamed calls are counted otherwise than the same calls that are not
# streamed. A Responses stream that ends with `response.incomplete`, at the limit of output tokens, has counts that openlit guesses from
# the texts in place of those of the event, and no finish reason. Of a prompt of Claude's format, the cached tokens are those of
# `message_delta`: where that event has the output tokens alone, as in Anthropic's description, they are 0, whatever `message_start` says,
# and a prompt of 120 tokens is one of 20. A stream that fails after its first words has no span at all.
#
# Seen: "responses, whole: 120 tokens, incomplete", "responses, streamed: 6 tokens, no reason", "claude, whole: 20 tokens, 100 cached",
# "claude, streamed: 20 tokens, 0 cached", "chat, broken off: APIError, 0 spans". Exits with 1 when that changes. Needs python3 (3.10 or
# later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install pip==26.3 # an older one finds no versions that fit
venv/bin/pip -q --disable-pip-version-check install openlit==1.45.0 openai==2.54.0 anthropic==0.125.0
echo '{}' > pricing.json
cat > run.py <<'PY'
import contextlib, io, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
with contextlib.redirect_stdout(io.StringIO()):
    import anthropic, openai, openlit

    openlit.init(disable_metrics=True, disable_events=True, pricing_json='pricing.json')

prompt = {'input_tokens': 20, 'cache_creation_input_tokens': 0, 'cache_read_input_tokens': 100}
head = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'stop_sequence': None}
part = {'type': 'output_text', 'text': 'It rains in', 'annotations': []}
item = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'incomplete', 'content': [part]}


def claude(full):
    start = {**head, 'content': [], 'stop_reason': None, 'usage': {**prompt, 'output_tokens': 1}}
    last = {**(prompt if full else {}), 'output_tokens': 9}
    yield {'type': 'message_start', 'message': start}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'It rains.'}}
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': 'end_turn', 'stop_sequence': None}, 'usage': last}
    yield {'type': 'message_stop'}


def response(status, output, usage=None):
    details = {'reason': 'max_output_tokens'} if status == 'incomplete' else None
    options = {'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'metadata': {}, 'error': None}
    options |= {'instructions': None, 'temperature': 1, 'top_p': 1}
    members = {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'status': status, 'model': 'm', 'output': output}
    return {**members, **options, 'incomplete_details': details, 'usage': usage}


def incomplete():
    cached = {'cached_tokens': 0, 'cache_write_tokens': 0}
    usage = {'input_tokens': 120, 'output_tokens': 9, 'total_tokens': 129, 'input_tokens_details': cached}
    return response('incomplete', [item], {**usage, 'output_tokens_details': {'reasoning_tokens': 0}})


def responses():
    yield {'type': 'response.created', 'response': response('in_progress', [])}
    place = {'item_id': 'msg_1', 'output_index': 0}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **place, 'content_index': 0, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **place, 'content_index': 0, 'delta': part['text'], 'logprobs': []}
    yield {'type': 'response.output_text.done', **place, 'content_index': 0, 'text': part['text'], 'logprobs': []}
    yield {'type': 'response.content_part.done', **place, 'content_index': 0, 'part': part}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    yield {'type': 'response.incomplete', 'response': incomplete()}


def chat():
    choice = {'index': 0, 'delta': {'role': 'assistant', 'content': 'It'}, 'finish_reason': None}
    yield {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [choice]}
    yield {'error': {'message': 'The server had an error.', 'type': 'server_error', 'code': None, 'param': None}}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        kind = self.path.split('/')[-1].split('?')[0]
        if kind == 'messages':
            usage = {**prompt, 'output_tokens': 9}
            whole = {**head, 'content': [{'type': 'text', 'text': 'It rains.'}], 'stop_reason': 'end_turn', 'usage': usage}
            events = claude(body['max_tokens'] == 2)
        elif kind == 'responses':
            whole, events = incomplete(), responses()
        else:
            whole, events = None, chat()
        name = (lambda one: f"event: {one['type']}\n") if kind != 'completions' else lambda _: ''
        streamed = body.get('stream')
        text = ''.join(f'{name(one)}data: {json.dumps(one)}\n\n' for one in events) if streamed else json.dumps(whole)
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if streamed else 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{server.server_port}'
vendor = openai.OpenAI(api_key='k', base_url=f'{url}/v1', max_retries=0)
claudes = anthropic.Anthropic(api_key='k', base_url=url, max_retries=0)
messages = [{'role': 'user', 'content': 'How is Bern?'}]


def spans_of(call):
    """The spans that openlit made, and the name of the exception."""
    spans.clear()
    failed = None
    try:
        answer = call()
        if hasattr(answer, '__iter__') and not hasattr(answer, 'model_dump'):
            list(answer)
    except Exception as error:
        failed = type(error).__name__
    return [span for span in spans.get_finished_spans() if 'openlit' in span.instrumentation_scope.name], failed


def counts(call):
    [span], _ = spans_of(call)
    return span.attributes


def cached(call):
    found = counts(call)
    return f"{found['gen_ai.usage.input_tokens']} tokens, {found['gen_ai.usage.cache_read.input_tokens']} cached"


def ended(call):
    found = counts(call)
    return f"{found['gen_ai.usage.input_tokens']} tokens, {found['gen_ai.response.finish_reasons'][0] or 'no reason'}"


def ask_claude(stream, limit=1):
    return lambda: claudes.messages.create(model='m', messages=messages, max_tokens=limit, stream=stream)


def respond(stream):
    return lambda: vendor.responses.create(model='m', input='How is Bern?', stream=stream)


broken, failed = spans_of(lambda: vendor.chat.completions.create(model='m', messages=messages, stream=True))
seen = [
    'claude, whole: ' + cached(ask_claude(False)),
    'claude, streamed: ' + cached(ask_claude(True)),
    'claude, streamed with a full delta: ' + cached(ask_claude(True, 2)),
    'responses, whole: ' + ended(respond(False)),
    'responses, streamed: ' + ended(respond(True)),
    f'chat, broken off: {failed}, {len(broken)} spans',
]
print('\n'.join(seen))
expected = [
    'claude, whole: 20 tokens, 100 cached',
    'claude, streamed: 20 tokens, 0 cached',
    'claude, streamed with a full delta: 20 tokens, 100 cached',
    'responses, whole: 120 tokens, incomplete',
    'responses, streamed: 6 tokens, no reason',
    'chat, broken off: APIError, 0 spans',
]
sys.exit(0 if seen == expected else 1)
PY
timeout 120 venv/bin/python run.py 2>log || { status=$?; tail -5 log; exit $status; }
