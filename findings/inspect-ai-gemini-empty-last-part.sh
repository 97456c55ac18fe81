#!/bin/sh
# inspect-ai 0.3.285 (Python), its Google provider with `streaming=True`: where the last chunk of a stream has an empty text part beside the
# finish reason, as Gemini often ends its streams, that part becomes a text of its own, and texts are joined with a line feed. The
# completion ends with a line feed that no model has written, and a scorer that compares texts exactly finds it wrong. The
# same words with the finish reason on the last of them, or not streamed, come without it.
#
# Seen: whole 'Paris', streamed 'Paris', streamed with an empty last part 'Paris\n'. Exits with 1 when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install inspect-ai==0.3.285 google-genai==3.6.1
cat > run.py <<'PY'
import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect_ai.model import ChatMessageUser, get_model

usage = {'promptTokenCount': 5, 'candidatesTokenCount': 2, 'totalTokenCount': 7}


def chunk(text, finish=None):
    candidate = {'content': {'role': 'model', 'parts': [{'text': text}]}, 'index': 0}
    return {'candidates': [{**candidate, **({'finishReason': finish} if finish else {})}], 'usageMetadata': usage}


streams = {
    'plain': [chunk('Par'), chunk('is', 'STOP')],
    'empty-end': [chunk('Par'), chunk('is'), chunk('', 'STOP')],
}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        if ':streamGenerateContent' not in self.path:
            return self.answer('application/json', json.dumps(chunk('Paris', 'STOP')))
        chunks = next(value for name, value in streams.items() if name in self.path)
        self.answer('text/event-stream', ''.join(f'data: {json.dumps(one)}\r\n\r\n' for one in chunks))

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


async def ask(name, streaming):
    base_url = f'http://127.0.0.1:{server.server_port}'
    model = get_model(f'google/{name}', base_url=base_url, api_key='k', streaming=streaming, memoize=False)
    return (await model.generate([ChatMessageUser(content='Capital of France?')])).completion


seen = [asyncio.run(ask(*one)) for one in (('plain', False), ('plain', True), ('empty-end', True))]
print(f'whole: {seen[0]!r}\nstreamed: {seen[1]!r}\nstreamed with an empty last part: {seen[2]!r}')
sys.exit(0 if seen == ['Paris', 'Paris', 'Paris\n'] else 1)
PY
timeout 60 venv/bin/python run.py
