#!/bin/sh
# litserve 0.2.19 (Python, LitServe with its OpenAISpec, which `litgpt serve` uses too): an answer with tool calls ends with `finish_reason`
# `stop`, whole and streamed, where OpenAI's format has `tool_calls`. An application cannot say otherwise, nor `length`: the server writes
# `stop` at the end of every answer. A client that decides by the reason whether to run tools takes the answer for the last. A tool
# without a description, which is optional in the format, and the choice of a tool by its name are refused with 422.
#
# Seen: "whole: 1 calls, stop", "streamed: 1 calls, stop", "without description: 422", "named choice: 422". Exits with 1 when that changes.
# Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "-$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install litserve==0.2.19
cat > serve.py <<'PY'
import sys
import litserve

call = {'id': 'call_1', 'type': 'function', 'function': {'name': 'look', 'arguments': '{}'}}


class Model(litserve.LitAPI):
    def setup(self, device):
        pass

    def predict(self, request):
        yield {'role': 'assistant', 'content': '', 'tool_calls': [call]}


if __name__ == '__main__':
    server = litserve.LitServer(Model(spec=litserve.OpenAISpec()), accelerator='cpu')
    server.run(port=int(sys.argv[1]), host='127.0.0.1', generate_client_file=False)
PY
cat > run.py <<'PY'
import json, sys, time, urllib.error, urllib.request

server = f'http://127.0.0.1:{sys.argv[1]}'
function = {'name': 'look', 'description': 'Looks.', 'parameters': {'type': 'object', 'properties': {}}}


def post(**members):
    messages = [{'role': 'user', 'content': 'Look.'}]
    tools = [{'type': 'function', 'function': function}]
    body = json.dumps({'model': 'm', 'messages': messages, 'tools': tools, **members}).encode()
    request = urllib.request.Request(f'{server}/v1/chat/completions', body, {'content-type': 'application/json'})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ''


def ask(stream):
    _, text = post(stream=stream)
    if stream:
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]
        parts = [(choice['delta'], choice['finish_reason']) for chunk in chunks for choice in chunk['choices']]
    else:
        parts = [(choice['message'], choice['finish_reason']) for choice in json.loads(text)['choices']]
    calls = sum(len(part.get('tool_calls') or []) for part, _ in parts)
    return f'{calls} calls, ' + ', '.join(reason for _, reason in parts if reason)


for attempt in range(600):
    try:
        urllib.request.urlopen(f'{server}/health', timeout=2)
        break
    except OSError:
        time.sleep(0.2)
plain = {'type': 'function', 'function': {name: function[name] for name in ('name', 'parameters')}}
seen = {
    'whole': ask(False),
    'streamed': ask(True),
    'without description': str(post(tools=[plain])[0]),
    'named choice': str(post(tool_choice={'type': 'function', 'function': {'name': 'look'}})[0]),
}
for name, words in seen.items():
    print(f'{name}: {words}')
sys.exit(0 if list(seen.values()) == ['1 calls, stop', '1 calls, stop', '422', '422'] else 1)
PY
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
setsid venv/bin/python serve.py "$port" >log 2>&1 &
pid=$!
timeout 150 python3 run.py "$port" || { status=$?; tail -5 log; exit $status; }
