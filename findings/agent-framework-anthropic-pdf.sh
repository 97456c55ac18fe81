#!/bin/sh
# agent-framework-anthropic 1.0.0b261022 (Python, with agent-framework-core 1.23.0): a PDF in a message, which Claude reads as a `document`
# block, is left out of the request, without an error or a warning: the model is asked about a file that it has not got. A picture in the
# same place is sent, and so is the same PDF by OpenAIChatClient of agent-framework-openai 1.17.0, as `input_file`.
#
# Seen: "anthropic pdf: text", "anthropic picture: text, image", "openai pdf: input_text, input_file" and no line in the log from INFO on.
# Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install agent-framework-anthropic==1.0.0b261022 agent-framework-core==1.23.0 \
  agent-framework-openai==1.17.0
cat > run.py <<'PY'
import asyncio, json, logging, sys, threading, warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agent_framework import Content, Message
from agent_framework.anthropic import AnthropicClient
from agent_framework.openai import OpenAIChatClient

bodies = []


class Vendor(BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers['content-length']))))
        answer = {'type': 'error', 'error': {'type': 'invalid_request_error', 'code': 'x', 'message': 'No.'}}
        data = json.dumps(answer).encode()
        self.send_response(400)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Lines(logging.Handler):
    def emit(self, record):
        if record.name.startswith('agent_framework'):
            said.append(record.getMessage())


said = []
logging.getLogger().addHandler(Lines(logging.INFO))
warnings.simplefilter('always')
server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{server.server_port}'
PDF = b'%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n'
PNG = bytes.fromhex('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154789c63000100000500010d0a2db4'
                    '0000000049454e44ae426082')


async def ask(client, data, media_type):
    """The types of the parts that arrived."""
    parts = [Content.from_text('What does it say?'), Content.from_data(data, media_type)]
    with warnings.catch_warnings(record=True) as caught:
        try:
            await client.get_response([Message('user', parts)])
        except Exception:
            pass
    said.extend(str(one.message) for one in caught)
    body = bodies.pop()
    message = (body.get('messages') or body['input'])[0]
    return ', '.join(part['type'] for part in message['content'])


async def main():
    claude = AnthropicClient(model='claude-sonnet-5-5', api_key='k', base_url=url)
    gpt = OpenAIChatClient(model='gpt-6-sol', api_key='k', base_url=f'{url}/v1')
    seen = {'anthropic pdf': await ask(claude, PDF, 'application/pdf'), 'anthropic picture': await ask(claude, PNG, 'image/png')}
    seen['openai pdf'] = await ask(gpt, PDF, 'application/pdf')
    for name, types in seen.items():
        print(f'{name}: {types}')
    print('said:', said)
    wanted = {'anthropic pdf': 'text', 'anthropic picture': 'text, image', 'openai pdf': 'input_text, input_file'}
    sys.exit(0 if seen == wanted and not any('pdf' in line.lower() or 'ignor' in line.lower() for line in said) else 1)


asyncio.run(main())
PY
venv/bin/python run.py
