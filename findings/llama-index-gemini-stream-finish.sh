#!/bin/sh
# llama-index-llms-google-genai 0.11.3 (Python, with llama-index-core 0.14.25): an answer that Gemini stops for safety, or at its limit of
# tokens, raises RuntimeError when it is not streamed. Streamed, the reason comes in a last chunk without text, which is skipped: half of
# the answer is returned as if it were whole, without a finish reason, and the counts of tokens, which come with it, are lost too.
#
# Seen: "SAFETY whole: RuntimeError", "SAFETY streamed: Half of, no reason, no tokens", and the same for MAX_TOKENS.
# Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install llama-index-llms-google-genai==0.11.3 llama-index-core==0.14.25 google-genai==1.75.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from llama_index.core.llms import ChatMessage
from llama_index.llms.google_genai import GoogleGenAI

usage = {'promptTokenCount': 5, 'candidatesTokenCount': 3, 'totalTokenCount': 8}
text = {'content': {'role': 'model', 'parts': [{'text': 'Half of'}]}, 'index': 0}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        reason = self.path.split('/')[1]
        if 'streamGenerateContent' in self.path:
            last = {'candidates': [{'content': {}, 'finishReason': reason, 'index': 0}], 'usageMetadata': usage}
            body = ''.join(f'data: {json.dumps(one)}\r\n\r\n' for one in ({'candidates': [text]}, last))
            media_type = 'text/event-stream'
        else:
            body = json.dumps({'candidates': [{**text, 'finishReason': reason}], 'usageMetadata': usage})
            media_type = 'application/json'
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


def ask(reason, is_stream):
    url = f'http://127.0.0.1:{server.server_port}/{reason}'
    llm = GoogleGenAI(model='gemini-2.5-flash', api_key='k', http_options={'base_url': url}, context_window=1000, max_tokens=100)
    try:
        answer = (llm.stream_chat if is_stream else llm.chat)([ChatMessage(role='user', content='Go.')])
        if is_stream:
            *_, answer = answer
    except Exception as error:
        return type(error).__name__
    finish = answer.raw.get('finish_reason') or 'no reason'
    tokens = answer.additional_kwargs.get('completion_tokens') or 'no tokens'
    return f'{answer.message.content}, {finish}, {tokens}'


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
wanted = {'whole': 'RuntimeError', 'streamed': 'Half of, no reason, no tokens'}
has_changed = False
for reason in ('SAFETY', 'MAX_TOKENS'):
    for kind in wanted:
        seen = ask(reason, kind == 'streamed')
        print(f'{reason} {kind}: {seen}')
        has_changed |= seen != wanted[kind]
sys.exit(1 if has_changed else 0)
PY
timeout 60 venv/bin/python run.py
