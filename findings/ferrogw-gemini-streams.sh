#!/bin/sh
# Ferro Labs AI Gateway 1.5.10 (`ferrogw`, Go) before Gemini, serving Chat Completions: an error that Google reports inside a stream, as a chunk
# with `error`, is dropped, and `[DONE]` follows as after a whole answer; no chunk has a finish reason. A streamed call ends with the reason
# `stop` where Google sends the reason in a chunk of its own, and with `tool_calls` where it is not streamed. The thought signature of a
# call is lost, and every turn's calls have the same ids, so that neither the client nor the gateway can send it back: Gemini 3 refuses
# the result of a call without its signature.
#
# Seen: "error, streamed: 'It rains', no error, no reason, [DONE]", "call, whole: call_0_0, tool_calls", "call, streamed: call_0_0, stop" and
# "results: signatures 0 of 1". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install ferrogw==1.5.10
cat > run.py <<'PY'
import json, sys, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

counts = {'promptTokenCount': 5, 'candidatesTokenCount': 3, 'totalTokenCount': 8}
call = {'functionCall': {'name': 'look', 'args': {'place': 'Bern'}}, 'thoughtSignature': 'c2lnbmF0dXJl'}
failure = {'error': {'code': 503, 'message': 'The model is overloaded.', 'status': 'UNAVAILABLE'}}
tool = {'type': 'function', 'function': {'name': 'look', 'parameters': {'type': 'object', 'properties': {'place': {'type': 'string'}}}}}
arrived = []


def piece(parts, reason=None):
    candidate = {'content': {'role': 'model', 'parts': parts}, 'index': 0, **({'finishReason': reason} if reason else {})}
    return {'candidates': [candidate], 'usageMetadata': counts, 'modelVersion': 'm', 'responseId': 'r'}


class Google(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        arrived.append(body)
        streamed = 'stream' in self.path
        if body['contents'][0]['parts'][0]['text'] == 'error':
            pieces = [piece([{'text': 'It rains'}]), failure]
        elif len(body['contents']) > 1:
            pieces = [piece([{'text': 'Rain.'}], 'STOP')]
        else:
            pieces = [piece([call]), piece([{'text': ''}], 'STOP')] if streamed else [piece([call], 'STOP')]
        text = ''.join(f'data: {json.dumps(one)}\n\n' for one in pieces) if streamed else json.dumps(pieces[0])
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if streamed else 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def ask(messages, stream):
    body = json.dumps({'model': 'gemini-3-pro-preview', 'messages': messages, 'tools': [tool], 'stream': stream}).encode()
    headers = {'content-type': 'application/json', 'authorization': 'Bearer fgw_k'}
    request = urllib.request.Request(f'{gateway}/v1/chat/completions', body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read().decode()


def chunks(text):
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]


def wait():
    for _ in range(600):
        try:
            urllib.request.urlopen(f'{gateway}/livez', timeout=2)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)


server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Google)
threading.Thread(target=server.serve_forever, daemon=True).start()
gateway = f'http://127.0.0.1:{sys.argv[2]}'
wait()

text = ask([{'role': 'user', 'content': 'error'}], True)
found = chunks(text)
choices = [choice for chunk in found for choice in chunk.get('choices', [])]
said = ''.join(choice['delta'].get('content') or '' for choice in choices)
reported = 'error' if any('error' in chunk for chunk in found) else 'no error'
reason = next((choice['finish_reason'] for choice in choices if choice.get('finish_reason')), 'no reason')
seen = [f"error, streamed: '{said}', {reported}, {reason}, {text.strip().splitlines()[-1].removeprefix('data: ')}"]

question = {'role': 'user', 'content': 'call'}
[whole] = json.loads(ask([question], False))['choices']
seen.append(f"call, whole: {whole['message']['tool_calls'][0]['id']}, {whole['finish_reason']}")
streamed = [choice for chunk in chunks(ask([question], True)) for choice in chunk['choices']]
first = next(choice['delta']['tool_calls'][0] for choice in streamed if choice['delta'].get('tool_calls'))
seen.append(f"call, streamed: {first['id']}, {streamed[-1]['finish_reason']}")

# The assistant message goes back as it came, with all its members.
ask([question, whole['message'], {'role': 'tool', 'tool_call_id': first['id'], 'content': 'rain'}], False)
parts = [part for content in arrived[-1]['contents'] for part in content['parts'] if 'functionCall' in part]
seen.append(f"results: signatures {sum('thoughtSignature' in part for part in parts)} of {len(parts)}")
print('\n'.join(seen))
expected = [
    "error, streamed: 'It rains', no error, no reason, [DONE]",
    'call, whole: call_0_0, tool_calls',
    'call, streamed: call_0_0, stop',
    'results: signatures 0 of 1',
]
sys.exit(0 if seen == expected else 1)
PY
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
work=$(free) own=$(free)
printf 'strategy:\n  mode: fallback\ntargets:\n  - virtual_key: gemini\n' > config.yaml
MASTER_KEY=fgw_k GEMINI_API_KEY=k GEMINI_BASE_URL="http://127.0.0.1:$work" PORT=$own GATEWAY_CONFIG=config.yaml \
  venv/bin/ferrogw serve >log 2>&1 &
pid=$!
timeout 120 python3 run.py "$work" "$own" || { status=$?; tail -5 log; exit $status; }
