#!/bin/sh
# langchain-google-genai 4.4.3 (Python, with langchain-core 1.8.3): when a call has the id of a call of an earlier turn, as models that
# number their calls anew in each turn give them, Gemini gets the result of the earlier call for both. The later result is not sent at all.
# Of two calls of one turn with the same id, the second result is missing. The results that it finds for an assistant message are looked
# up by id among all tool messages of the conversation, from its beginning. No id is sent, so that Gemini cannot notice.
#
# Seen: "ids a, b: rain | sun", "ids a, a: rain | rain". Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install langchain-google-genai==4.4.3 langchain-core==1.8.3 google-genai==3.6.1
cat > run.py <<'PY'
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_google_genai import ChatGoogleGenerativeAI

bodies = []


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers['content-length']))))
        candidate = {'content': {'role': 'model', 'parts': [{'text': 'Done.'}]}, 'finishReason': 'STOP', 'index': 0}
        data = json.dumps({'candidates': [candidate]}).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def turn(id, city, weather):
    call = {'name': 'weather', 'args': {'city': city}, 'id': id, 'type': 'tool_call'}
    return [AIMessage('', tool_calls=[call]), ToolMessage(weather, tool_call_id=id)]


def results(first, second):
    """The results that arrive, of a history in which it rains in Paris, and then the sun shines in Oslo."""
    llm.invoke([HumanMessage('Go.'), *turn(first, 'Paris', 'rain'), *turn(second, 'Oslo', 'sun')])
    parts = [part for content in bodies.pop()['contents'] for part in content['parts']]
    found = [part['functionResponse']['response']['output'] for part in parts if 'functionResponse' in part]
    return f"ids {first}, {second}: {' | '.join(found)}"


server = ThreadingHTTPServer(('127.0.0.1', 0), Vendor)
threading.Thread(target=server.serve_forever, daemon=True).start()
llm = ChatGoogleGenerativeAI(model='gemini-2.5-flash', google_api_key='k', base_url=f'http://127.0.0.1:{server.server_port}')
seen = [results('a', 'b'), results('a', 'a')]
print(*seen, sep='\n')
sys.exit(0 if seen == ['ids a, b: rain | sun', 'ids a, a: rain | rain'] else 1)
PY
timeout 60 venv/bin/python run.py
