#!/bin/sh
# livekit-plugins-openai 1.8.9 (Python, openai 3.57.0): responses.LLM copies `cache_write_tokens` of a usage's details into a field that must be
# a number. The count is younger than the API: servers that were written before do not send it. There every turn ends with a
# ValidationError inside an APIConnectionError, after the whole answer was handed out. Usages without details are fine, and openai's own
# client takes all of these answers.
#
# Seen: "with the count: Hello., 10 tokens", "without it: Hello., then APIConnectionError by ValidationError", "without details: Hello., 10
# tokens", and "openai without it: Hello., 10 tokens". Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install livekit-agents==1.8.9 livekit-plugins-openai==1.8.9 openai==3.57.0
cat > run.py <<'PY'
import asyncio, json, logging, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import openai as sdk
from livekit.agents import APIConnectOptions
from livekit.agents.llm import ChatContext
from livekit.plugins import openai

logging.disable(logging.CRITICAL)
COUNTS = {'input_tokens': 7, 'output_tokens': 3, 'total_tokens': 10}
OUTPUT = {'output_tokens_details': {'reasoning_tokens': 0}}
USAGES = {
    'with-the-count': {**COUNTS, **OUTPUT, 'input_tokens_details': {'cached_tokens': 0, 'cache_write_tokens': 0}},
    'without-it': {**COUNTS, **OUTPUT, 'input_tokens_details': {'cached_tokens': 0}},
    'without-details': COUNTS,
}
part = {'type': 'output_text', 'text': 'Hello.', 'annotations': [], 'logprobs': []}
item = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'status': 'completed', 'content': [part]}
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}


def response(model, **members):
    return {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'status': 'in_progress', 'model': model, 'output': [], 'usage': None,
            'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'error': None, 'incomplete_details': None,
            'instructions': None, 'metadata': {}, 'temperature': 1, 'top_p': 1, **members}


def events(model):
    yield {'type': 'response.created', 'response': response(model)}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.content_part.added', **place, 'part': {**part, 'text': ''}}
    yield {'type': 'response.output_text.delta', **place, 'delta': 'Hello.', 'logprobs': []}
    yield {'type': 'response.output_text.done', **place, 'text': 'Hello.', 'logprobs': []}
    yield {'type': 'response.content_part.done', **place, 'part': part}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    yield {'type': 'response.completed', 'response': response(model, status='completed', output=[item], usage=USAGES[model])}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for number, event in enumerate(events(body['model'])):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f'http://127.0.0.1:{server.server_port}/v1'


async def ask(model):
    llm = openai.responses.LLM(model=model, api_key='k', base_url=base, use_websocket=False)
    context, text, total = ChatContext.empty(), '', None
    context.add_message(role='user', content='Hello')
    try:
        async with llm.chat(chat_ctx=context, conn_options=APIConnectOptions(max_retry=0, timeout=20)) as stream:
            async for chunk in stream:
                text += (chunk.delta and chunk.delta.content) or ''
                total = chunk.usage.total_tokens if chunk.usage else total
    except Exception as error:
        return f"{text}, then {type(error).__name__} by {type(error.__cause__).__name__}"
    finally:
        await llm.aclose()
    return f'{text}, {total} tokens'


def askDirectly(model):
    with sdk.OpenAI(api_key='k', base_url=base).responses.stream(model=model, input='Hello') as stream:
        final = stream.get_final_response()
    return f'{final.output_text}, {final.usage.total_tokens} tokens'


seen = [f"{model.replace('-', ' ')}: {asyncio.run(ask(model))}" for model in USAGES]
seen.append(f"openai without it: {askDirectly('without-it')}")
print(*seen, sep='\n')
raise SystemExit(0 if seen == [
    'with the count: Hello., 10 tokens',
    'without it: Hello., then APIConnectionError by ValidationError',
    'without details: Hello., 10 tokens',
    'openai without it: Hello., 10 tokens',
] else 1)
PY
timeout 300 venv/bin/python -W ignore run.py
