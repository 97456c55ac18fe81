#!/bin/sh
# OpenLLMetry 0.62.4 (opentelemetry-instrumentation-openai with openai 3.57.0, opentelemetry-instrumentation-anthropic with anthropic 2.14.0):
# a streamed call that fails after its first words is never a failure in the traces. The caller gets an exception; the span of the OpenAI
# call has status OK and no exception, and the Anthropic call has no span at all. A call that fails before its first words has an ERROR
# span from both, so error rates look right until streams break.
#
# Seen: "openai, refused: raised InternalServerError, span ERROR", "openai, broken off: raised APIError, span OK", "anthropic, refused: raised
# InternalServerError, span ERROR" and "anthropic, broken off: raised APIStatusError, no span". Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install openai==3.57.0 anthropic==2.14.0 opentelemetry-sdk==1.45.2 \
  opentelemetry-instrumentation-openai==0.62.4 opentelemetry-instrumentation-anthropic==0.62.4
cat > run.py <<'PY'
import json, threading, warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import anthropic, openai
from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

warnings.simplefilter('ignore')
chunk = {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}
message = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [], 'stop_reason': None, 'stop_sequence': None,
           'usage': {'input_tokens': 5, 'output_tokens': 1}}
failure = {'type': 'server_error', 'code': 'server_error', 'message': 'The server had an error.', 'param': None}
STREAMS = {
    '/v1/chat/completions': [
        (None, {**chunk, 'choices': [{'index': 0, 'delta': {'role': 'assistant', 'content': 'Half of'}, 'finish_reason': None}]}),
        (None, {'error': failure}),
    ],
    '/v1/messages': [
        ('message_start', {'message': message}),
        ('content_block_start', {'index': 0, 'content_block': {'type': 'text', 'text': ''}}),
        ('content_block_delta', {'index': 0, 'delta': {'type': 'text_delta', 'text': 'Half of'}}),
        ('error', {'error': {'type': 'api_error', 'message': 'The server had an error.'}}),
    ],
}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        isRefused = body['model'] == 'refused'
        self.send_response(500 if isRefused else 200)
        self.send_header('content-type', 'application/json' if isRefused else 'text/event-stream')
        self.end_headers()
        if isRefused:
            self.wfile.write(json.dumps({'type': 'error', 'error': failure}).encode())
            return
        for event, data in STREAMS[self.path]:
            if event:
                data = {'type': event, **data}
                self.wfile.write(f'event: {event}\n'.encode())
            self.wfile.write(f'data: {json.dumps(data)}\n\n'.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{server.server_port}'
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
OpenAIInstrumentor().instrument(tracer_provider=provider)
AnthropicInstrumentor().instrument(tracer_provider=provider)
gpt = openai.OpenAI(api_key='k', base_url=f'{url}/v1', max_retries=0)
claude = anthropic.Anthropic(api_key='k', base_url=url, max_retries=0)
messages = [{'role': 'user', 'content': 'Hello'}]
calls = {
    'openai': lambda model: gpt.chat.completions.create(model=model, messages=messages, stream=True),
    'anthropic': lambda model: claude.messages.create(model=model, messages=messages, max_tokens=9, stream=True),
}
seen = []
for name, call in calls.items():
    for model, how in (('refused', 'refused'), ('broken', 'broken off')):
        raised = 'nothing'
        try:
            for _ in call(model):
                pass
        except Exception as error:
            raised = type(error).__name__
        ended = [f'span {span.status.status_code.name}' for span in spans.get_finished_spans()]
        spans.clear()
        seen.append(f'{name}, {how}: raised {raised}, {", ".join(ended) or "no span"}')
print(*seen, sep='\n')
wanted = ['openai, refused: raised InternalServerError, span ERROR', 'openai, broken off: raised APIError, span OK',
          'anthropic, refused: raised InternalServerError, span ERROR', 'anthropic, broken off: raised APIStatusError, no span']
raise SystemExit(0 if seen == wanted else 1)
PY
timeout 120 venv/bin/python run.py
