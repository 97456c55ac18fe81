#!/bin/sh
# openai_dive 1.4.3 (Rust), responses().create_stream(): Responses streams end without `[DONE]`, and only that ends one here. After
# `response.completed` comes an Err, "Stream ended", and the client sends the same request again, and once more after each answer, until the
# stream is dropped: a program that logs errors and reads on gets and pays the answer again and again, and one that stops at the Err
# has the second request already under way. A streamed Chat Completions answer, which ends with `[DONE]`, is asked for once.
#
# Seen: "responses: Hello. completed, Stream ended, Hello. completed", "chat: Hello.", "requests: 2 or more, 1".
# Exits with 1 when that changes. Needs cargo and python3.
set -eu
folder=$(mktemp -d)
trap 'kill "$vendor" 2>/dev/null || true; rm -rf "$folder"' EXIT
vendor=
cd "$folder"
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "ask"
version = "0.1.0"
edition = "2024"

[profile.dev]
debug = false

[dependencies]
openai_dive = { version = "=1.4.3", features = ["stream"] }
futures = "0.3"
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt", "time"] }
TOML
cat > src/main.rs <<'RS'
use futures::StreamExt;
use openai_dive::v1::api::Client;
use openai_dive::v1::resources::response::response::ResponseStreamEvent;
use serde_json::{from_value, json};
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).unwrap();
    let mut client = Client::new("k".into());
    client.set_base_url(&url);
    let mut answers = client.responses().create_stream(from_value(json!({ "model": "m", "input": "Hi." })).unwrap()).await.unwrap();
    let mut seen: Vec<String> = vec![];
    while seen.iter().filter(|part| part.ends_with("completed")).count() < 2 {
        let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(20), answers.next()).await else { break };
        match event {
            Ok(ResponseStreamEvent::ResponseOutputTextDelta { delta, .. }) => seen.push(delta),
            Ok(ResponseStreamEvent::ResponseCompleted { .. }) => seen.last_mut().unwrap().push_str(" completed"),
            Ok(_) => {}
            Err(error) => seen.push(error.to_string()),
        }
    }
    drop(answers);
    let chat = json!({ "model": "m", "messages": [{ "role": "user", "content": "Hi." }] });
    let mut chunks = client.chat().create_stream(from_value(chat).unwrap()).await.unwrap();
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = serde_json::to_value(chunk.unwrap()).unwrap();
        text += chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default();
    }
    println!("responses: {}\nchat: {text}", seen.join(", "));
}
RS
cat > vendor.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

part = {'type': 'output_text', 'text': 'Hello.', 'annotations': [], 'logprobs': []}
message = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'completed', 'content': [part]}
usage = {
    'input_tokens': 5, 'input_tokens_details': {'cached_tokens': 0},
    'output_tokens': 6, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 11,
}  # fmt: skip
completed = {
    'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'm', 'status': 'completed', 'error': None, 'incomplete_details': None,
    'output': [message], 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'temperature': 1.0, 'top_p': 1.0,
    'metadata': {}, 'text': {'format': {'type': 'text'}}, 'usage': usage,
}  # fmt: skip
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
events = [
    {'type': 'response.output_text.delta', 'sequence_number': 1, **place, 'delta': 'Hello.', 'logprobs': []},
    {'type': 'response.completed', 'sequence_number': 2, 'response': completed},
]
choices = [{'index': 0, 'delta': {'role': 'assistant', 'content': 'Hello.'}, 'logprobs': None, 'finish_reason': 'stop'}]
chunk = {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': choices}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        with open('requests', 'a') as file:
            file.write(self.path + '\n')
        if self.path.endswith('/responses'):
            text = ''.join(f'event: {event["type"]}\ndata: {json.dumps(event)}\n\n' for event in events)
        else:
            text = f'data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n'
        encoded = text.encode()
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('content-length', str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)


server = HTTPServer(('127.0.0.1', 0), Vendor)
with open('port', 'w') as file:
    file.write(str(server.server_port))
server.serve_forever()
PY
cargo build --quiet
python3 vendor.py &
vendor=$!
tries=0
until [ -s port ] || [ "$tries" -ge 50 ]; do sleep 0.2; tries=$((tries + 1)); done
target/debug/ask "http://127.0.0.1:$(cat port)/v1" | tee seen
responses=$(grep -c '/responses' requests || true)
chats=$(grep -c '/chat/completions' requests || true)
echo "requests: $responses, $chats"
[ "$(head -1 seen)" = 'responses: Hello. completed, Stream ended, Hello. completed' ]
[ "$(tail -1 seen)" = 'chat: Hello.' ]
[ "$responses" -ge 2 ] && [ "$chats" = 1 ]
