#!/bin/sh
# llama.cpp's HTTP server b11549 (as xllamacpp 2026.10.11549 ships it) answers an embeddings input that is longer than its batch with status
# 500 and type `server_error`, as if the server had failed, although it answers a chat prompt that is longer than its window with 400
# and `exceed_context_size_error`. A client, or a load balancer, that retries a 5xx or ejects the server repeats what cannot succeed.
#
# Seen: chat 400 exceed_context_size_error, embeddings 500 server_error "input (N tokens) is too large to process. increase the physical
# batch size (current batch size: 512)". Exits with 1 when that changes.
set -eu
scripts=$(cd "$(dirname "$0")/../test/servers/python" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 gguf==0.19.0 numpy
"$folder/venv/bin/python" "$scripts/gguf_model.py" "$folder/tiny.gguf"
cat > "$folder/run.py" <<'PY'
import json
import sys
import urllib.error
import urllib.request

import xllamacpp


def serve(**options):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.port = 0
    parameters.n_ctx, parameters.n_parallel, parameters.n_batch, parameters.n_ubatch = 1024, 1, 512, 512
    for name, value in options.items():
        setattr(parameters, name, value)
    return xllamacpp.Server(parameters)


def ask(server, path, body):
    request = urllib.request.Request(server.listening_address + path, json.dumps(body).encode())
    try:
        return urllib.request.urlopen(request, timeout=60).status, {}
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["error"]


text = "hi " * 600
chat = ask(serve(), "/v1/chat/completions", {"messages": [{"role": "user", "content": text}]})
mean = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
vector = ask(serve(embedding=True, pooling_type=mean), "/v1/embeddings", {"input": text})
for name, (status, error) in (("chat", chat), ("embeddings", vector)):
    print(f"{name}: {status} {error.get('type')}: {error.get('message')}")
seen = [(status, error.get("type")) for status, error in (chat, vector)]
sys.exit(0 if seen == [(400, "exceed_context_size_error"), (500, "server_error")] else 1)
PY
"$folder/venv/bin/python" "$folder/run.py" "$folder/tiny.gguf" 2>"$folder/log" || { status=$?; tail -5 "$folder/log"; exit $status; }
