#!/bin/sh
# magentic 0.41.1 (Python), OpenaiChatModel: the first piece of an answer decides what it is. A call behind a text, as models write that say
# what they are about to do, is lost: a function that may return a string or a call returns the text, without a sign of the call, and one
# that must return a call raises StringNotAllowedError though the answer has one. magentic streams every request. An answer that is a
# refusal alone ends in StopIteration.
#
# Seen: "str or call: 'Looking.'", "call: StringNotAllowedError", "call without text: look(Bern)", "refusal: StopIteration". Exits with 1
# when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install magentic==0.41.1 openai==3.57.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from magentic import FunctionCall, OpenaiChatModel, UserMessage

called = {'index': 0, 'id': 'call_1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{"place":"Bern"}'}}
begin = {'role': 'assistant', 'content': ''}
answers = {
    'talks': ([begin, {'content': 'Looking.'}, {'tool_calls': [called]}], 'tool_calls'),
    'calls': ([{**begin, 'content': None}, {'tool_calls': [called]}], 'tool_calls'),
    'refuses': ([{**begin, 'refusal': ''}, {'refusal': 'I cannot help with that.'}], 'stop'),
}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        deltas, finish = answers[body['model']]
        head = {'id': 'chatcmpl-1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}
        choices = [{'index': 0, 'delta': delta, 'finish_reason': None} for delta in deltas]
        chunks = [{**head, 'choices': [choice]} for choice in [*choices, {'index': 0, 'delta': {}, 'finish_reason': finish}]]
        usage = {'prompt_tokens': 5, 'completion_tokens': 3, 'total_tokens': 8}
        chunks.append({**head, 'choices': [], 'usage': usage})
        text = ''.join(f'data: {json.dumps(chunk)}\n\n' for chunk in chunks) + 'data: [DONE]\n\n'
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def look(place: str) -> str:
    """Looks at a place."""
    return 'rain'


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


def ask(name, types):
    model = OpenaiChatModel(name, base_url=f'http://127.0.0.1:{server.server_port}/v1', api_key='k')
    functions = [look] if FunctionCall in types else None
    try:
        content = model.complete([UserMessage('How is Bern?')], functions=functions, output_types=types).content
    except Exception as error:
        return type(error).__name__
    return f"look({content.arguments['place']})" if isinstance(content, FunctionCall) else repr(content)


seen = {
    'str or call': ask('talks', [str, FunctionCall]),
    'call': ask('talks', [FunctionCall]),
    'call without text': ask('calls', [str, FunctionCall]),
    'refusal': ask('refuses', [str]),
}
print('\n'.join(f'{case}: {answer}' for case, answer in seen.items()))
wanted = {
    'str or call': "'Looking.'",
    'call': 'StringNotAllowedError',
    'call without text': 'look(Bern)',
    'refusal': 'StopIteration',
}
sys.exit(0 if seen == wanted else 1)
PY
timeout 60 venv/bin/python -W ignore run.py
