#!/bin/sh
# hayhooks 2.1.0 (Haystack's server), with a pipeline that answers as its documentation shows, by `streaming_generator`: an answer that is
# not streamed has no tool calls, and ends with `stop` whatever the model's reason was. An agent that does not stream sees an empty answer
# that is complete, and a text that the limit of tokens cut off looks whole. In Chat, streams have both. In Responses, streams have the
# calls, but end as `completed` when they were cut off, too.
#
# Seen: "Chat, whole: 0 calls, stop / stop", "Chat, streamed: 1 calls, tool_calls / length", "Responses, whole: 0 calls, completed /
# completed" and "Responses, streamed: 1 calls, completed / completed": of an answer with a call, and of one that was cut off. Exits with 1
# when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install hayhooks==2.1.0 haystack-ai==3.4.1
mkdir -p pipelines/weather
cat > pipelines/weather/pipeline_wrapper.py <<'PY'
import os
from haystack import Pipeline
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from hayhooks import BasePipelineWrapper, streaming_generator


class PipelineWrapper(BasePipelineWrapper):
    def setup(self):
        self.pipeline = Pipeline()
        self.pipeline.add_component('llm', OpenAIChatGenerator(model='m', api_key=Secret.from_token('k'), api_base_url=os.environ['VENDOR']))

    def answer(self, text):
        return streaming_generator(self.pipeline, pipeline_run_args={'llm': {'messages': [ChatMessage.from_user(text)]}})

    def run_chat_completion(self, model: str, messages: list[dict], body: dict):
        return self.answer(messages[-1]['content'])

    def run_response(self, model: str, input_items: list[dict], body: dict):
        return self.answer(input_items[-1]['content'])
PY
cat > run.py <<'PY'
import json, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

call = {'index': 0, 'id': 'call_1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{"city":"Bonn"}'}}
answers = {'call': ({'content': None, 'tool_calls': [call]}, 'tool_calls'), 'length': ({'content': 'The first'}, 'length')}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        # The generator streams, whatever hayhooks' client wants.
        delta, reason = answers[body['messages'][-1]['content']]
        head = {'id': 'chatcmpl-1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}
        choices = [(delta | {'role': 'assistant'}, None), ({}, reason)]
        chunks = [head | {'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]} for delta, finish in choices]
        text = ''.join(f'data: {json.dumps(chunk)}\n\n' for chunk in chunks) + 'data: [DONE]\n\n'
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(path, body):
    request = urllib.request.Request(f'{server}/v1/{path}', json.dumps({'model': 'weather', **body}).encode(), {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()
    if not body['stream']:
        return [json.loads(text)]
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]


def chat(kind, stream):
    choices = [choice for part in ask('chat/completions', {'messages': [{'role': 'user', 'content': kind}], 'stream': stream}) for choice in part['choices']]
    calls = [call for choice in choices for call in (choice.get('delta') or choice.get('message') or {}).get('tool_calls') or []]
    return sum(1 for call in calls if call.get('id')), next(choice['finish_reason'] for choice in choices if choice['finish_reason'])


def responses(kind, stream):
    part = ask('responses', {'input': [{'role': 'user', 'content': kind}], 'stream': stream})[-1]
    response = part.get('response') or part
    return sum(1 for item in response['output'] if item['type'] == 'function_call'), response['status']


def wait():
    for _ in range(600):
        try:
            return urllib.request.urlopen(f'{server}/v1/models', timeout=5).close()
        except OSError:
            time.sleep(0.2)


vendor = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Vendor)
threading.Thread(target=vendor.serve_forever, daemon=True).start()
server = f'http://127.0.0.1:{sys.argv[2]}'
wait()
seen = []
for name, endpoint in (('Chat', chat), ('Responses', responses)):
    for stream in (False, True):
        (calls, reason), (_, cut) = endpoint('call', stream), endpoint('length', stream)
        seen.append(f'{name}, {"streamed" if stream else "whole"}: {calls} calls, {reason} / {cut}')
print('\n'.join(seen))
expected = [
    'Chat, whole: 0 calls, stop / stop',
    'Chat, streamed: 1 calls, tool_calls / length',
    'Responses, whole: 0 calls, completed / completed',
    'Responses, streamed: 1 calls, completed / completed',
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
export HOME=$folder VENDOR="http://127.0.0.1:$work/v1" HAYHOOKS_PIPELINES_DIR="$folder/pipelines" HAYSTACK_TELEMETRY_ENABLED=false
venv/bin/hayhooks run --host 127.0.0.1 --port "$own" >log 2>&1 &
pid=$!
timeout 180 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
