#!/bin/sh
# agentscope 2.0.10 (Python), Agent on OpenAIChatModel: the finish reason of an answer is not read. A reply that was cut off at the limit of
# tokens, or refused, is COMPLETED as a whole one (of the refusal nothing is left), and a call that was cut off is made whole: its JSON is
# repaired, so that the tool runs with the beginning of an argument, `{"text": "Pay 10` as `Pay 10`.
#
# Seen, whole and streamed: "cut off: 'Pay 10', completed", "refused: None, completed", "half a call: 'Posted.', completed, post('Pay 10')".
# Exits with 1 when that changes. Needs python3 (3.11 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install agentscope==2.0.10 openai==3.3.0
cat > run.py <<'PY'
import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agentscope.agent import Agent
from agentscope.credential import OpenAICredential
from agentscope.message import UserMsg
from agentscope.model import OpenAIChatModel
from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import FunctionTool, Toolkit

half = {'index': 0, 'id': 'call_1', 'type': 'function', 'function': {'name': 'post', 'arguments': '{"text": "Pay 10'}}
answers = {
    'cut off': ({'content': 'Pay 10'}, 'length'),
    'refused': ({'content': None, 'refusal': 'I cannot help with that.'}, 'stop'),
    'half a call': ({'content': None, 'tool_calls': [half]}, 'length'),
}
posted = []


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        has_result = any(message['role'] == 'tool' for message in body['messages'])
        said, finish = ({'content': 'Posted.'}, 'stop') if has_result else answers[body['model']]
        head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm', 'usage': {'prompt_tokens': 5, 'completion_tokens': 3, 'total_tokens': 8}}
        choice = {'index': 0, 'finish_reason': finish, 'logprobs': None}
        message = {'role': 'assistant', **said}
        if body.get('stream'):
            chunk = {**head, 'object': 'chat.completion.chunk', 'choices': [{**choice, 'delta': message}]}
            self.answer('text/event-stream', f'data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n')
        else:
            whole = {**head, 'object': 'chat.completion', 'choices': [{**choice, 'message': message}]}
            self.answer('application/json', json.dumps(whole))

    def answer(self, media_type, text):
        self.send_response(200)
        self.send_header('content-type', media_type)
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def post(text: str) -> str:
    """Posts a text.

    Args:
        text (str): What to post.
    """
    posted.append(text)
    return 'Posted.'


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


async def ask(case, is_stream):
    posted.clear()
    credential = OpenAICredential(api_key='k', base_url=f'http://127.0.0.1:{server.server_port}/v1')
    model = OpenAIChatModel(credential=credential, model=case, stream=is_stream, max_retries=0, context_size=100_000)
    tool = FunctionTool(post, permission=PermissionDecision(behavior=PermissionBehavior.ALLOW, message='allowed'))
    reply = await Agent(name='helper', system_prompt='You help.', model=model, toolkit=Toolkit(tools=[tool])).reply(UserMsg('user', 'Go.'))
    calls = ''.join(f', post({text!r})' for text in posted)
    return f'{reply.get_text_content()!r}, {reply.finished_reason.value}{calls}'


async def main():
    return {(case, is_stream): await ask(case, is_stream) for case in answers for is_stream in (False, True)}


seen = asyncio.run(main())
for (case, is_stream), reply in seen.items():
    print(f"{case}, {'streamed' if is_stream else 'whole'}: {reply}")
wanted = {'cut off': "'Pay 10', completed", 'refused': 'None, completed', 'half a call': "'Posted.', completed, post('Pay 10')"}
sys.exit(0 if all(reply == wanted[case] for (case, _), reply in seen.items()) else 1)
PY
timeout 120 venv/bin/python -W ignore run.py
