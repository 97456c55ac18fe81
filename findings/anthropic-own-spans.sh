#!/bin/sh
# anthropic 2.14.0 (Python) makes OpenTelemetry spans by itself wherever a tracer provider is set, which instrumentations do not know:
# with OpenLLMetry's opentelemetry-instrumentation-anthropic 0.62.4, each call has two spans, in two traces, with the same attributes
# `gen_ai.usage.*`, and every sum of tokens and costs is twice as high. With openinference-instrumentation-anthropic 3.1.0 the second is a
# child of the first. ANTHROPIC_OPEN_TELEMETRY=false leaves one. Each request also carries the trace's `traceparent` to the vendor.
#
# Seen: "alone: 1 spans, 1 traces, 120 tokens", "openllmetry: 2 spans, 2 traces, 240 tokens", "openinference: 2 spans, 1 traces, 240 tokens",
# "openllmetry, switched off: 1 spans, 1 traces, 120 tokens", "traceparent sent: True, switched off: False". Exits with 1 when that changes.
# Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install pip==26.3 # an older one finds no versions that fit
venv/bin/pip -q --disable-pip-version-check install anthropic==2.14.0 opentelemetry-sdk==1.45.2 \
  opentelemetry-instrumentation-anthropic==0.62.4 openinference-instrumentation-anthropic==3.1.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
if sys.argv[1] == 'openllmetry':
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument()
elif sys.argv[1] == 'openinference':
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument()
import anthropic

arrived = []


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        arrived.append('traceparent' in self.headers)
        head = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'stop_reason': 'end_turn', 'stop_sequence': None}
        usage = {'input_tokens': 120, 'output_tokens': 9}
        text = json.dumps({**head, 'content': [{'type': 'text', 'text': 'It rains.'}], 'usage': usage})
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = anthropic.Anthropic(api_key='k', base_url=f'http://127.0.0.1:{server.server_port}', max_retries=0)
client.messages.create(model='m', max_tokens=20, messages=[{'role': 'user', 'content': 'How is Bern?'}])
found = spans.get_finished_spans()
names = ('gen_ai.usage.input_tokens', 'llm.token_count.prompt')
tokens = sum(span.attributes.get(name, 0) for span in found for name in names)
traces = len({span.context.trace_id for span in found})
print(f'{len(found)} spans, {traces} traces, {tokens} tokens; traceparent sent: {arrived[0]}')
PY
seen=$(
  for way in alone openllmetry openinference; do echo "$way: $(timeout 60 venv/bin/python run.py $way)"; done
  echo "openllmetry, switched off: $(ANTHROPIC_OPEN_TELEMETRY=false timeout 60 venv/bin/python run.py openllmetry)"
)
echo "$seen"
[ "$seen" = "alone: 1 spans, 1 traces, 120 tokens; traceparent sent: True
openllmetry: 2 spans, 2 traces, 240 tokens; traceparent sent: True
openinference: 2 spans, 1 traces, 240 tokens; traceparent sent: True
openllmetry, switched off: 1 spans, 1 traces, 120 tokens; traceparent sent: False" ]
