#!/bin/sh
# ag2 1.2.1 (Python), OpenAIConfig and OpenAIResponsesConfig: a refusal of the model is lost. OpenAI sends it in a member or part of its own
# (`refusal`), and ends the answer regularly; the reply's body is None and its finish reason `stop` or `completed`, as if the model had said
# nothing, without an exception. A streamed Responses answer that was cut off (`response.incomplete`) has neither finish reason nor
# tokens; a whole one has both.
#
# Seen: body None in four of four refusals, and "responses, cut off, streamed: 'It rains in Be', None, 0 tokens". Exits with 1 when that
# changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install 'ag2[openai]==1.2.1' openai==3.57.0
cat > run.py <<'PY'
import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ag2 import Agent
from ag2.config import OpenAIConfig, OpenAIResponsesConfig

words = {'refused': 'I cannot help with that.', 'cut off': 'It rains in Be'}
chat_usage = {'prompt_tokens': 5, 'completion_tokens': 3, 'total_tokens': 8}
usage = {
    'input_tokens': 5, 'input_tokens_details': {'cached_tokens': 0, 'cache_write_tokens': 0},
    'output_tokens': 3, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 8,
}


def chat(case, is_stream):
    said = {'content': None, 'refusal': words[case]} if case == 'refused' else {'content': words[case], 'refusal': None}
    choice = {'index': 0, 'finish_reason': 'stop' if case == 'refused' else 'length', 'logprobs': None}
    head = {'id': 'chatcmpl-1', 'created': 1, 'model': 'm', 'usage': chat_usage}
    if not is_stream:
        return {**head, 'object': 'chat.completion', 'choices': [{**choice, 'message': {'role': 'assistant', **said}}]}
    chunk = {**head, 'object': 'chat.completion.chunk', 'choices': [{**choice, 'delta': {'role': 'assistant', **said}}]}
    return f'data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n'


def responses(case, is_stream):
    part = {'type': 'output_text', 'text': words[case], 'annotations': [], 'logprobs': []}
    kind = 'refusal' if case == 'refused' else 'output_text'
    if case == 'refused':
        part = {'type': 'refusal', 'refusal': words[case]}
    status = 'completed' if case == 'refused' else 'incomplete'
    item = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': status, 'content': [part]}
    reason = None if case == 'refused' else {'reason': 'max_output_tokens'}
    response = {
        'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'm', 'error': None, 'status': status, 'incomplete_details': reason,
        'output': [item], 'usage': usage, 'tools': [], 'tool_choice': 'auto', 'parallel_tool_calls': True, 'metadata': {},
    }
    if not is_stream:
        return response
    at = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
    begun = {**response, 'status': 'in_progress', 'output': [], 'usage': None, 'incomplete_details': None}
    events = [
        {'type': 'response.created', 'response': begun},
        {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}},
        {'type': 'response.content_part.added', **at, 'part': {**part, **({'refusal': ''} if case == 'refused' else {'text': ''})}},
        {'type': f'response.{kind}.delta', **at, 'delta': words[case], **({} if case == 'refused' else {'logprobs': []})},
        {'type': f'response.{kind}.done', **at, **({'refusal': words[case]} if case == 'refused' else {'text': words[case], 'logprobs': []})},
        {'type': 'response.content_part.done', **at, 'part': part},
        {'type': 'response.output_item.done', 'output_index': 0, 'item': item},
        {'type': f'response.{status}', 'response': response},
    ]
    numbered = [{**event, 'sequence_number': number} for number, event in enumerate(events)]
    return ''.join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in numbered)


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        answer = (responses if self.path.endswith('/responses') else chat)(body['model'], body.get('stream') is True)
        text = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if isinstance(answer, str) else 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()


async def ask(config, case, is_stream):
    chosen = config(model=case, api_key='k', base_url=f'http://127.0.0.1:{server.server_port}/v1', streaming=is_stream)
    reply = await Agent('helper', 'You help.', config=chosen).ask('Hello')
    return f'{reply.body!r}, {reply.response.finish_reason}, {int(reply.response.usage.total_tokens or 0)} tokens'


async def main():
    seen = {}
    for name, config in (('chat', OpenAIConfig), ('responses', OpenAIResponsesConfig)):
        for case in words:
            for is_stream in (False, True):
                seen[f"{name}, {case}, {'streamed' if is_stream else 'whole'}"] = await ask(config, case, is_stream)
    return seen


seen = asyncio.run(main())
print('\n'.join(f'{case}: {answer}' for case, answer in seen.items()))
cut_off = repr(words['cut off'])
wanted = {
    'chat, refused, whole': 'None, stop, 8 tokens',
    'chat, refused, streamed': 'None, stop, 8 tokens',
    'chat, cut off, whole': f'{cut_off}, length, 8 tokens',
    'chat, cut off, streamed': f'{cut_off}, length, 8 tokens',
    'responses, refused, whole': 'None, completed, 8 tokens',
    'responses, refused, streamed': 'None, completed, 8 tokens',
    'responses, cut off, whole': f'{cut_off}, incomplete, 8 tokens',
    'responses, cut off, streamed': f'{cut_off}, None, 0 tokens',
}
sys.exit(0 if seen == wanted else 1)
PY
timeout 120 venv/bin/python -W ignore run.py
