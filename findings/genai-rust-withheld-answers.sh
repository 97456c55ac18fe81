#!/bin/sh
# genai 0.7.2 (Rust): of what OpenAI withholds, nothing is left that a program could tell. A refusal (`refusal` in Chat Completions, a part
# of type `refusal` in Responses) comes back as an answer without text that ended regularly. A Responses answer that the content
# filter stopped has the reason MaxTokens, since every status `incomplete` has it, whatever `incomplete_details.reason` says: a
# program that asks again with a higher limit asks for the same to be filtered again.
#
# Seen: "chat, refused: [] Completed", "responses, refused: [] Completed", "responses, filtered: [I can] MaxTokens".
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
genai = "=0.7.2"
tokio = { version = "1", features = ["macros", "rt"] }
TOML
cat > src/main.rs <<'RS'
use genai::adapter::AdapterKind;
use genai::chat::{ChatRequest, StopReason};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};

async fn ask(kind: AdapterKind, url: String, model: &str) -> String {
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(url.clone()),
                auth: AuthData::from_single("k"),
                model: ModelIden::new(kind, target.model.model_name),
            })
        },
    );
    let client = Client::builder().with_service_target_resolver(resolver).build().unwrap();
    let answer = client.exec_chat(model, ChatRequest::from_user("Hi."), None).await.unwrap();
    let reason = match answer.stop_reason {
        Some(StopReason::Completed(_)) => "Completed",
        Some(StopReason::MaxTokens(_)) => "MaxTokens",
        Some(StopReason::ContentFilter(_)) => "ContentFilter",
        _ => "another",
    };
    format!("[{}] {reason}", answer.texts().concat())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).unwrap();
    let seen = [
        format!("chat, refused: {}", ask(AdapterKind::OpenAI, url.clone(), "refused").await),
        format!("responses, refused: {}", ask(AdapterKind::OpenAIResp, url.clone(), "refused").await),
        format!("responses, filtered: {}", ask(AdapterKind::OpenAIResp, url, "filtered").await),
    ];
    println!("{}", seen.join("\n"));
    let wanted = ["chat, refused: [] Completed", "responses, refused: [] Completed", "responses, filtered: [I can] MaxTokens"];
    std::process::exit(if seen == wanted { 0 } else { 1 });
}
RS
cat > vendor.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer


def chat():
    message = {'role': 'assistant', 'content': None, 'refusal': 'I cannot help with that.'}
    choices = [{'index': 0, 'message': message, 'finish_reason': 'stop', 'logprobs': None}]
    usage = {'prompt_tokens': 5, 'completion_tokens': 6, 'total_tokens': 11}
    return {'id': 'chatcmpl-1', 'object': 'chat.completion', 'created': 1, 'model': 'gpt-4o', 'choices': choices, 'usage': usage}


def response(is_refused):
    text = {'type': 'output_text', 'text': 'I can', 'annotations': [], 'logprobs': []}
    part = {'type': 'refusal', 'refusal': 'I cannot help with that.'} if is_refused else text
    status = 'completed' if is_refused else 'incomplete'
    message = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': status, 'content': [part]}
    return {
        'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': 'gpt-4o', 'status': status, 'error': None,
        'incomplete_details': None if is_refused else {'reason': 'content_filter'}, 'output': [message],
        'usage': {
            'input_tokens': 5, 'input_tokens_details': {'cached_tokens': 0},
            'output_tokens': 6, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 11,
        },
    }  # fmt: skip


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        answer = chat() if self.path.endswith('/chat/completions') else response(body['model'] == 'refused')
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
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
target/debug/ask "http://127.0.0.1:$(cat port)/v1/"
