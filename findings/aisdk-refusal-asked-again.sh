#!/bin/sh
# aisdk 0.5.2 (Rust), stream_text() with OpenAI, that is Responses: a refusal (a part of type `refusal`) and the event `error` are no end to
# it. It sends the same request again at once, without a limit or a pause, until another answer or a status of 400 or more comes, and
# the stream gives no chunk meanwhile. Each request costs. Not streamed, a refusal is an answer without text, asked for once.
#
# The stub refuses five times, or sends the event five times, and then answers 429. Seen: "refused: 6 requests, then 429",
# "error event: 6 requests, then 429", "whole: 1 request, no text". Exits with 1 when that changes. Needs cargo and python3.
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
aisdk = { version = "=0.5.2", features = ["openai"] }
futures = "0.3"
tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }
TOML
cat > src/main.rs <<'RS'
use aisdk::core::{DynamicModel, LanguageModelRequest, LanguageModelStreamChunkType};
use aisdk::providers::OpenAI;
use futures::StreamExt;
use std::time::Duration;

fn model(url: &str, name: &str) -> OpenAI<DynamicModel> {
    OpenAI::<DynamicModel>::builder().base_url(url).api_key("k").model_name(name).build().unwrap()
}

fn requests(name: &str) -> usize {
    std::fs::read_to_string("requests").unwrap().lines().filter(|line| *line == name).count()
}

async fn stream(url: &str, name: &str) -> String {
    let mut request = LanguageModelRequest::builder().model(model(url, name)).prompt("Hi.").build();
    let mut chunks = request.stream_text().await.unwrap().stream;
    let mut end = "nothing".to_string();
    while let Ok(Some(chunk)) = tokio::time::timeout(Duration::from_secs(30), chunks.next()).await {
        match chunk {
            LanguageModelStreamChunkType::Start => {}
            LanguageModelStreamChunkType::Failed(message) if message.contains("429") => end = "429".into(),
            other => end = format!("{other:?}"),
        }
    }
    format!("{} requests, then {end}", requests(name))
}

#[tokio::main]
async fn main() {
    let url = std::env::args().nth(1).unwrap();
    let refused = stream(&url, "refused").await;
    let error = stream(&url, "error").await;
    let mut request = LanguageModelRequest::builder().model(model(&url, "whole")).prompt("Hi.").build();
    let whole = request.generate_text().await.unwrap().text();
    let seen = [
        format!("refused: {refused}"),
        format!("error event: {error}"),
        format!("whole: {} request, {}", requests("whole"), whole.unwrap_or("no text".into())),
    ];
    println!("{}", seen.join("\n"));
    let wanted = ["refused: 6 requests, then 429", "error event: 6 requests, then 429", "whole: 1 request, no text"];
    std::process::exit(if seen == wanted { 0 } else { 1 });
}
RS
cat > vendor.py <<'PY'
import json
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer

counts = Counter()
part = {'type': 'refusal', 'refusal': 'I cannot help with that.'}
message = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'completed', 'content': [part]}
usage = {
    'input_tokens': 5, 'input_tokens_details': {'cached_tokens': 0},
    'output_tokens': 6, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 11,
}  # fmt: skip
response = {
    'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'm', 'status': 'completed', 'error': None, 'incomplete_details': None,
    'output': [message], 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'temperature': 1.0, 'top_p': 1.0,
    'metadata': {}, 'text': {'format': {'type': 'text'}}, 'usage': usage,
}  # fmt: skip
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
refused = [
    {'type': 'response.refusal.delta', **place, 'delta': 'I cannot help with that.'},
    {'type': 'response.refusal.done', **place, 'refusal': 'I cannot help with that.'},
    {'type': 'response.completed', 'response': response},
]
error = [{'type': 'error', 'code': 'server_error', 'message': 'The server had an error', 'param': None}]


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        kind = json.loads(self.rfile.read(int(self.headers['content-length'])))['model']
        counts[kind] += 1
        with open('requests', 'a') as file:
            file.write(kind + '\n')
        if counts[kind] > 5:
            self.send(429, 'application/json', json.dumps({'error': {'message': 'Rate limit reached', 'type': 'requests'}}))
        elif kind == 'whole':
            self.send(200, 'application/json', json.dumps(response))
        else:
            events = [{**event, 'sequence_number': number} for number, event in enumerate(refused if kind == 'refused' else error)]
            self.send(200, 'text/event-stream', ''.join(f'event: {event["type"]}\ndata: {json.dumps(event)}\n\n' for event in events))

    def send(self, status, kind, words):
        encoded = words.encode()
        self.send_response(status)
        self.send_header('content-type', kind)
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
target/debug/ask "http://127.0.0.1:$(cat port)"
