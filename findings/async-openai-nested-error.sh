#!/bin/sh
# async-openai 0.43.0 (Rust), Responses: the error event of a stream has the members `code` and `message` in OpenAI's description, and so in
# the type ResponseError. OpenAI sends them inside `error`. The stream gives no ResponseError then but a failed deserialization, which is
# what a program logs as a bug of its own, and not as a fault of the vendor that it could repeat; `response.failed` follows.
#
# Seen: "OutputTextDelta, JSONDeserialize, ResponseFailed"; with the members as described "OutputTextDelta, ResponseError, ResponseFailed".
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
async-openai = { version = "=0.43.0", features = ["responses"] }
futures = "0.3"
tokio = { version = "1", features = ["macros", "rt"] }
TOML
cat > src/main.rs <<'RS'
use async_openai::types::responses::{CreateResponseArgs, ResponseStreamEvent};
use async_openai::{Client, config::OpenAIConfig, error::OpenAIError};
use futures::StreamExt;

async fn ask(url: &str, model: &str) -> String {
    let client = Client::with_config(OpenAIConfig::new().with_api_base(url).with_api_key("k"));
    let request = CreateResponseArgs::default().model(model).input("Hi.").stream(true).build().unwrap();
    let mut stream = client.responses().create_stream(request).await.unwrap();
    let mut seen = vec![];
    while let Some(event) = stream.next().await {
        seen.push(match event {
            Ok(ResponseStreamEvent::ResponseOutputTextDelta(_)) => "OutputTextDelta",
            Ok(ResponseStreamEvent::ResponseError(_)) => "ResponseError",
            Ok(ResponseStreamEvent::ResponseFailed(_)) => "ResponseFailed",
            Ok(_) => "another event",
            Err(OpenAIError::JSONDeserialize(_, _)) => "JSONDeserialize",
            Err(_) => "another error",
        });
    }
    seen.join(", ")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).unwrap();
    let seen = [ask(&url, "nested").await, ask(&url, "flat").await];
    println!("as sent: {}\nas described: {}", seen[0], seen[1]);
    let wanted = ["OutputTextDelta, JSONDeserialize, ResponseFailed", "OutputTextDelta, ResponseError, ResponseFailed"];
    std::process::exit(if seen == wanted { 0 } else { 1 });
}
RS
cat > vendor.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

error = {'code': 'server_error', 'message': 'The server had an error', 'param': None}
failed = {
    'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'gpt-4o', 'status': 'failed', 'output': [],
    'error': {'code': 'server_error', 'message': 'The server had an error'}, 'incomplete_details': None, 'instructions': None,
    'metadata': {}, 'parallel_tool_calls': True, 'temperature': 1, 'tool_choice': 'auto', 'tools': [], 'top_p': 1,
}  # fmt: skip
delta = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0, 'delta': 'Half', 'logprobs': []}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        events = [
            {'type': 'response.output_text.delta', 'sequence_number': 1, **delta},
            {'type': 'error', 'sequence_number': 2, **({'error': {'type': 'server_error', **error}} if body['model'] == 'nested' else error)},
            {'type': 'response.failed', 'sequence_number': 3, 'response': failed},
        ]
        text = ''.join(f'event: {event["type"]}\ndata: {json.dumps(event)}\n\n' for event in events).encode()
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('content-length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


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
target/debug/ask "http://127.0.0.1:$(cat port)/v1"
