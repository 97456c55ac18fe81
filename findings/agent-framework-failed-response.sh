#!/bin/sh
# agent-framework-openai 1.17.0 (Python, with agent-framework-core 1.23.0): a Responses stream that ends with `response.failed`, as OpenAI
# documents it, is taken for a finished answer. Half of the text is returned and nothing is raised; only an `error` event before it raises
# ChatClientException.
#
# Seen: "alone: Half of" and "pair: ChatClientException". Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install agent-framework-openai==1.17.0 agent-framework-core==1.23.0
cat > run.py <<'PY'
import asyncio, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agent_framework import Message
from agent_framework.openai import OpenAIChatClient

response = {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'status': 'in_progress', 'model': 'm', 'output': [],
            'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'error': None, 'incomplete_details': None,
            'instructions': None, 'metadata': {}, 'temperature': 1, 'top_p': 1}
item = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'status': 'in_progress', 'content': []}
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
failure = {'code': 'server_error', 'message': 'The server had an error.'}


def events(has_error):
    yield {'type': 'response.created', 'response': response}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': item}
    yield {'type': 'response.content_part.added', **place, 'part': {'type': 'output_text', 'text': '', 'annotations': []}}
    yield {'type': 'response.output_text.delta', **place, 'delta': 'Half of', 'logprobs': []}
    if has_error:
        yield {'type': 'error', 'error': {'type': 'server_error', 'param': None, **failure}}
    yield {'type': 'response.failed', 'response': {**response, 'status': 'failed', 'error': failure}}


class Server(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get('content-length', 0)))
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for number, event in enumerate(events(self.path.startswith('/pair'))):
            data = json.dumps({**event, 'sequence_number': number})
            self.wfile.write(f"event: {event['type']}\ndata: {data}\n\n".encode())


async def ask(url, kind):
    client = OpenAIChatClient(base_url=f'{url}/{kind}', api_key='x', model='m')
    text = ''
    try:
        async for update in client.get_response([Message(role='user', contents=['go'])], stream=True):
            text += update.text
        return text
    except Exception as error:
        return type(error).__name__


async def main():
    server = ThreadingHTTPServer(('127.0.0.1', 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f'http://127.0.0.1:{server.server_port}'
    seen = [f'{kind}: {await ask(url, kind)}' for kind in ('alone', 'pair')]
    print(*seen, sep='\n')
    raise SystemExit(0 if seen == ['alone: Half of', 'pair: ChatClientException'] else 1)


asyncio.run(main())
PY
timeout 60 venv/bin/python run.py
