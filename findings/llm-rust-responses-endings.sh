#!/bin/sh
# llm 1.3.8 (Rust), its OpenAI backend, which speaks Responses: how a stream ends is lost. One that ends with the event `error` ends like
# a whole answer, without an Err: half an answer looks complete. One that was cut off at its limit (`response.incomplete`) has no
# tokens, although the event has them, so that what a long answer cost is not counted. A refusal is an answer without text, streamed and
# whole. The schema of an answer goes up in the form of Chat Completions, inside `json_schema`; Responses wants `name` and `schema`
# in `text.format` itself.
#
# Seen: "failed: [Half] and no error", "cut off: [Half], no tokens", "completed: [Half], 11 tokens", "refused: []", and
# "text.format has json_schema, type". Exits with 1 when that changes. Needs cargo and python3.
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
llm = { version = "=1.3.8", default-features = false, features = ["openai"] }
futures = "0.3"
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
TOML
cat > src/main.rs <<'RS'
use futures::StreamExt;
use llm::LLMProvider;
use llm::builder::{LLMBackend, LLMBuilder};
use llm::chat::{ChatMessage, StructuredOutputFormat};

fn client(url: &str, model: &str) -> LLMBuilder {
    LLMBuilder::new().backend(LLMBackend::OpenAI).api_key("k").base_url(url).model(model)
}

fn question() -> [ChatMessage; 1] {
    [ChatMessage::user().content("Hi.").build()]
}

async fn stream(client: &dyn LLMProvider) -> (String, String, String) {
    let mut events = client.chat_stream_struct(&question()).await.unwrap();
    let (mut text, mut tokens, mut error) = (String::new(), "no tokens".to_string(), "no error".to_string());
    while let Some(event) = events.next().await {
        match event {
            Ok(chunk) => {
                text.extend(chunk.choices.into_iter().filter_map(|choice| choice.delta.content));
                tokens = chunk.usage.map_or(tokens, |usage| format!("{} tokens", usage.total_tokens));
            }
            Err(found) => error = found.to_string(),
        }
    }
    (text, tokens, error)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).unwrap();
    let schema = serde_json::json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let format = StructuredOutputFormat { name: "person".into(), description: None, schema: Some(schema), strict: Some(true) };
    let (failed, _, error) = stream(&*client(&url, "failed").build().unwrap()).await;
    let (cut, cut_tokens, _) = stream(&*client(&url, "incomplete").build().unwrap()).await;
    let (completed, tokens, _) = stream(&*client(&url, "completed").build().unwrap()).await;
    let refused = client(&url, "refused").build().unwrap().chat(&question()).await.unwrap().text();
    let sent = client(&url, "format").schema(format).build().unwrap().chat(&question()).await.unwrap().text();
    let seen = [
        format!("failed: [{failed}] and {error}"),
        format!("cut off: [{cut}], {cut_tokens}"),
        format!("completed: [{completed}], {tokens}"),
        format!("refused: [{}]", refused.unwrap_or_default()),
        format!("text.format has {}", sent.unwrap_or_default()),
    ];
    println!("{}", seen.join("\n"));
    let wanted = [
        "failed: [Half] and no error",
        "cut off: [Half], no tokens",
        "completed: [Half], 11 tokens",
        "refused: []",
        "text.format has json_schema, type",
    ];
    std::process::exit(if seen == wanted { 0 } else { 1 });
}
RS
cat > vendor.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

reasons = {'incomplete': {'reason': 'max_output_tokens'}}


def response(status, part):
    message = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': status, 'content': [part]}
    return {
        'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'gpt-4o', 'status': status, 'error': None,
        'incomplete_details': reasons.get(status), 'output': [message],
        'usage': {
            'input_tokens': 5, 'input_tokens_details': {'cached_tokens': 0},
            'output_tokens': 6, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 11,
        },
    }  # fmt: skip


def text(words):
    return {'type': 'output_text', 'text': words, 'annotations': [], 'logprobs': []}


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        kind, place = body['model'], {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
        if kind == 'refused':
            return self.send('application/json', json.dumps(response('completed', {'type': 'refusal', 'refusal': 'I cannot.'})))
        if kind == 'format':
            return self.send('application/json', json.dumps(response('completed', text(', '.join(sorted(body['text']['format']))))))
        error = {'type': 'error', 'code': 'server_error', 'message': 'The server had an error', 'param': None}
        last = error if kind == 'failed' else {'type': f'response.{kind}', 'response': response(kind, text('Half'))}
        events = [
            {'type': 'response.created', 'response': {**response('in_progress', text('')), 'output': [], 'usage': None}},
            {'type': 'response.output_text.delta', **place, 'delta': 'Half', 'logprobs': []},
            last,
        ]
        numbered = [{**event, 'sequence_number': number} for number, event in enumerate(events)]
        self.send('text/event-stream', ''.join(f'event: {event["type"]}\ndata: {json.dumps(event)}\n\n' for event in numbered))

    def send(self, kind, words):
        encoded = words.encode()
        self.send_response(200)
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
target/debug/ask "http://127.0.0.1:$(cat port)/v1/"
