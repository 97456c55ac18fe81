#!/bin/sh
# smolagents 1.26.0 (Python), ToolCallingAgent: a call that the limit of tokens cut off (`finish_reason: length`, arguments that are not
# whole JSON) is run all the same. A tool with one argument of type string gets the beginning of the JSON, `{"text": "Pay 10`, as that
# argument, and the run goes on as after a good call: no error, no warning, no second try.
#
# Seen: `post('{"text": "Pay 10')`, whole and streamed, and an answer without an error. Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install smolagents==1.26.0 openai==3.3.0
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from smolagents import OpenAIModel, ToolCallingAgent, tool

half = '{"text": "Pay 10'
head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm'}
usage = {'prompt_tokens': 5, 'completion_tokens': 3, 'total_tokens': 8}
requests = []
posted = []


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        requests.append(body)
        is_first = len(requests) == 1
        called = {'name': 'post', 'arguments': half} if is_first else {'name': 'final_answer', 'arguments': '{"answer": "Posted."}'}
        call = {'index': 0, 'id': 'call_1', 'type': 'function', 'function': called}
        message = {'role': 'assistant', 'content': None, 'tool_calls': [call]}
        choice = {'index': 0, 'finish_reason': 'length' if is_first else 'tool_calls'}
        self.send_response(200)
        if body.get('stream'):
            chunk = {**head, 'object': 'chat.completion.chunk', 'choices': [{**choice, 'delta': message}], 'usage': usage}
            self.answer('text/event-stream', f'data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n')
        else:
            whole = {**head, 'object': 'chat.completion', 'choices': [{**choice, 'message': message}], 'usage': usage}
            self.answer('application/json', json.dumps(whole))

    def answer(self, media_type, text):
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


@tool
def post(text: str) -> str:
    """Posts a text.

    Args:
        text: What to post.
    """
    posted.append(text)
    return 'Posted.'


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
model = OpenAIModel(model_id='m', api_base=f'http://127.0.0.1:{server.server_port}/v1', api_key='k')
seen = []
for is_stream in (False, True):
    requests.clear()
    posted.clear()
    agent = ToolCallingAgent(tools=[post], model=model, max_steps=2, stream_outputs=is_stream, verbosity_level=0)
    agent.logger.console.quiet = True
    answer = agent.run('Post it.')
    errors = [step.error for step in agent.memory.steps if getattr(step, 'error', None)]
    seen.append((list(posted), answer, errors))
    called = f'post({posted[0]!r})' if posted else 'no call'
    print(f"{'streamed' if is_stream else 'whole'}: {called}, answer {answer}, errors {errors}")
sys.exit(0 if seen == [([half], 'Posted.', [])] * 2 else 1)
PY
timeout 60 venv/bin/python run.py
