#!/bin/sh
# gemini-rust 2.1.0, GenerationStream: every member of a chunk is optional to it, and `error` is none of them. A stream in which Gemini
# reports an error ({"error": {"code": 503, ...}} in place of a chunk) gives an empty chunk and ends like a whole answer, without an Err:
# half an answer looks complete, and nothing says that a retry would help. An error with a status is raised.
#
# Seen: "streamed: [Half] Ok, 2 chunks", "with a status: code 503". Exits with 1 when that changes. Needs cargo and python3.
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
gemini-rust = "=2.1.0"
futures = "0.3"
tokio = { version = "1", features = ["macros", "rt"] }
TOML
cat > src/main.rs <<'RS'
#![allow(deprecated)]
use futures::TryStreamExt;
use gemini_rust::{Gemini, Model};

fn client(url: &str, model: &str) -> Gemini {
    Gemini::with_model_and_base_url("k", Model::Custom(format!("models/{model}")), url.parse().unwrap()).unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let url = std::env::args().nth(1).unwrap();
    let mut stream = client(&url, "streamed").generate_content().with_user_message("Hi.").execute_stream().await.unwrap();
    let (mut text, mut chunks) = (String::new(), 0);
    let end = loop {
        match stream.try_next().await {
            Ok(Some(chunk)) => {
                text += &chunk.text();
                chunks += 1;
            }
            Ok(None) => break "Ok".to_string(),
            Err(error) => break error.to_string(),
        }
    };
    let refused = client(&url, "refused").generate_content().with_user_message("Hi.").execute().await.unwrap_err().to_string();
    let code = refused.split("code ").nth(1).unwrap_or_default().split(';').next().unwrap_or_default().to_string();
    let seen = [format!("streamed: [{text}] {end}, {chunks} chunks"), format!("with a status: code {code}")];
    println!("{}", seen.join("\n"));
    let wanted = ["streamed: [Half] Ok, 2 chunks", "with a status: code 503"];
    std::process::exit(if seen == wanted { 0 } else { 1 });
}
RS
cat > vendor.py <<'PY'
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

error = {'error': {'code': 503, 'message': 'The model is overloaded. Please try again later.', 'status': 'UNAVAILABLE'}}
half = {
    'candidates': [{'content': {'role': 'model', 'parts': [{'text': 'Half'}]}, 'index': 0}],
    'usageMetadata': {'promptTokenCount': 5, 'candidatesTokenCount': 1, 'totalTokenCount': 6}, 'modelVersion': 'm', 'responseId': 'r',
}  # fmt: skip


class Vendor(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        if 'streamed' in self.path:
            self.send(200, 'text/event-stream', ''.join(f'data: {json.dumps(chunk)}\r\n\r\n' for chunk in [half, error]))
        else:
            self.send(503, 'application/json', json.dumps(error))

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
target/debug/ask "http://127.0.0.1:$(cat port)/v1beta/"
