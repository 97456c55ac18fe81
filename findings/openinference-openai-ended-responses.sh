#!/bin/sh
# openinference-instrumentation-openai 0.1.66 (Python, openai 3.57.0): of a streamed call of the Responses API only the event
# `response.completed` is read. One that ends with `response.incomplete`, at the limit of output tokens, or with `response.failed` has no
# token counts in its span, although it is paid for and the event has its usage: the longest answers are free in the sums of costs. Not
# streamed, the same answers have their counts. A failed one has status OK both ways.
#
# Seen: "completed: OK, 30 tokens", "incomplete: OK, no tokens", "failed: OK, no tokens", and not streamed 30 tokens for each of the three.
# Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install openai==3.57.0 opentelemetry-sdk==1.45.2 openinference-instrumentation-openai==0.1.66
cat > run.py <<'PY'
import json, threading, warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import openai
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

warnings.simplefilter('ignore')
USAGE = {'input_tokens': 10, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 20,
         'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 30}
part = {'type': 'output_text', 'text': 'Half of', 'annotations': []}
item = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'status': 'incomplete', 'content': [part]}
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
ENDS = {
    'completed': {},
    'incomplete': {'incomplete_details': {'reason': 'max_output_tokens'}},
    'failed': {'error': {'code': 'server_error', 'message': 'The server had an error.'}},
}


def response(status):
    return {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'status': status, 'model': 'm', 'output': [item], 'usage': USAGE,
            'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'error': None, 'incomplete_details': None,
            'instructions': None, 'metadata': {}, 'temperature': 1, 'top_p': 1, **ENDS[status]}


def events(status):
    yield {'type': 'response.created', 'response': {**response('completed'), 'status': 'in_progress', 'output': [], 'usage': None}}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **place, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **place, 'delta': 'Half of', 'logprobs': []}
    yield {'type': f'response.{status}', 'response': response(status)}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if body.get('stream') else 'application/json')
        self.end_headers()
        if not body.get('stream'):
            self.wfile.write(json.dumps(response(body['model'])).encode())
            return
        for number, event in enumerate(events(body['model'])):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = openai.OpenAI(api_key='k', base_url=f'http://127.0.0.1:{server.server_port}/v1', max_retries=0)


def look(status, isStream):
    answer = client.responses.create(model=status, input='Hello', stream=isStream)
    if isStream:
        for _ in answer:
            pass
    (span,) = spans.get_finished_spans()
    spans.clear()
    total = span.attributes.get('llm.token_count.total', 'no')
    return f'{status}: {span.status.status_code.name}, {total} tokens'


streamed, whole = [look(status, True) for status in ENDS], [look(status, False) for status in ENDS]
print('streamed', *streamed, 'not streamed', *whole, sep='\n')
wanted = ['completed: OK, 30 tokens', 'incomplete: OK, no tokens', 'failed: OK, no tokens']
raise SystemExit(0 if streamed == wanted and whole == [f'{status}: OK, 30 tokens' for status in ENDS] else 1)
PY
timeout 120 venv/bin/python run.py
