#!/bin/sh
# BAML 0.226.3 (baml-py, its runtime in Rust): a Responses stream that reports an error after its first words, by the event `error` that OpenAI
# documents, is taken for whole: the function returns half of the text and nothing is raised. The same error in a stream of Chat
# Completions raises. A streamed answer of Claude's format is counted with the output tokens of `message_start`, those of its first piece
# (1), where `message_delta` has the output tokens alone (30), as in Anthropic's description; where that event repeats the prompt's too,
# and not streamed, it has all of them.
#
# Seen: "responses, broken off: 'It rains '", "chat, broken off: BamlClientHttpError", "claude, whole: 30 tokens", "claude, streamed: 1 tokens",
# "claude, streamed with all counts: 30 tokens". Exits with 1 when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install baml-py==0.226.3 pydantic==2.13.4 typing_extensions==4.16.0
mkdir baml_src
cat > baml_src/main.baml <<'BAML'
generator python {
  output_type "python/pydantic"
  default_client_mode sync
  output_dir "../"
  version "0.226.3"
}
client<llm> Responses {
  provider openai-responses
  options {
    base_url env.VENDOR_URL
    api_key env.VENDOR_KEY
    model "m"
  }
}
client<llm> Chat {
  provider openai-generic
  options {
    base_url env.VENDOR_URL
    api_key env.VENDOR_KEY
    model "m"
  }
}
client<llm> Claude {
  provider anthropic
  options {
    base_url env.CLAUDE_URL
    api_key env.VENDOR_KEY
    model "m"
    max_tokens 50
  }
}
function AskResponses(question: string) -> string {
  client Responses
  prompt #"{{ _.role("user") }}{{ question }}"#
}
function AskChat(question: string) -> string {
  client Chat
  prompt #"{{ _.role("user") }}{{ question }}"#
}
function AskClaude(question: string) -> string {
  client Claude
  prompt #"{{ _.role("user") }}{{ question }}"#
}
BAML
venv/bin/baml-cli generate >log 2>&1
cat > run.py <<'PY'
import json, os, signal, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

error = {'message': 'The server had an error.', 'type': 'server_error', 'code': 'server_error', 'param': None}
prompt = {'input_tokens': 20, 'cache_creation_input_tokens': 0, 'cache_read_input_tokens': 0}
head = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'stop_sequence': None}
options = {'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'metadata': {}, 'error': None, 'instructions': None}
options |= {'incomplete_details': None, 'temperature': 1, 'top_p': 1, 'usage': None}
response = {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'status': 'in_progress', 'model': 'm', 'output': [], **options}
item = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'in_progress', 'content': []}
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}


def responses():
    yield {'type': 'response.created', 'response': response}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': item}
    yield {'type': 'response.content_part.added', **place, 'part': {'type': 'output_text', 'text': '', 'annotations': []}}
    yield {'type': 'response.output_text.delta', **place, 'delta': 'It rains ', 'logprobs': []}
    yield {'type': 'error', 'code': error['code'], 'message': error['message'], 'param': None}


def chat():
    choice = {'index': 0, 'delta': {'role': 'assistant', 'content': 'It rains '}, 'finish_reason': None}
    yield {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [choice]}
    yield {'error': error}


def claude(all_counts):
    last = {**(prompt if all_counts else {}), 'output_tokens': 30}
    start = {**head, 'content': [], 'stop_reason': None, 'usage': {**prompt, 'output_tokens': 1}}
    yield {'type': 'message_start', 'message': start}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'It rains.'}}
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': 'end_turn', 'stop_sequence': None}, 'usage': last}
    yield {'type': 'message_stop'}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        kind = self.path.split('/')[-1]
        if kind == 'messages':
            events = claude('with all counts' in json.dumps(body['messages']))
        else:
            events = responses() if kind == 'responses' else chat()
        content = [{'type': 'text', 'text': 'It rains.'}]
        whole = {**head, 'content': content, 'stop_reason': 'end_turn', 'usage': {**prompt, 'output_tokens': 30}}
        lines = []
        for number, event in enumerate(events):
            numbered = {**event, 'sequence_number': number} if kind == 'responses' else event
            name = f"event: {event['type']}\n" if 'type' in event else ''
            lines.append(f'{name}data: {json.dumps(numbered)}\n\n')
        text = ''.join(lines) if body.get('stream') else json.dumps(whole)
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream' if body.get('stream') else 'application/json')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


# In a process of its own, because BAML keeps Python's lock while it waits.
server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
vendor = os.fork()
if vendor == 0:
    server.serve_forever()
url = f'http://127.0.0.1:{server.server_port}'
os.environ.update(VENDOR_URL=f'{url}/v1', CLAUDE_URL=url, VENDOR_KEY='k', BAML_LOG='off')
from baml_client.sync_client import b
from baml_py import Collector


def broken_off(ask):
    try:
        return repr(ask('How is Bern?').get_final_response())
    except Exception as error:
        return type(error).__name__


def counted(ask, question='How is Bern?'):
    collector = Collector(name='counts')
    answer = ask(question, baml_options={'collector': collector})
    if not isinstance(answer, str):
        answer.get_final_response()
    return f'{collector.last.usage.output_tokens} tokens'


seen = [
    f'responses, broken off: {broken_off(b.stream.AskResponses)}',
    f'chat, broken off: {broken_off(b.stream.AskChat)}',
    f'claude, whole: {counted(b.AskClaude)}',
    f'claude, streamed: {counted(b.stream.AskClaude)}',
    f"claude, streamed with all counts: {counted(b.stream.AskClaude, 'with all counts')}",
]
os.kill(vendor, signal.SIGKILL)
print('\n'.join(seen))
expected = [
    "responses, broken off: 'It rains '",
    'chat, broken off: BamlClientHttpError',
    'claude, whole: 30 tokens',
    'claude, streamed: 1 tokens',
    'claude, streamed with all counts: 30 tokens',
]
sys.exit(0 if seen == expected else 1)
PY
timeout 60 venv/bin/python run.py 2>>log || { status=$?; tail -5 log; exit $status; }
