#!/bin/sh
# LMDeploy 0.18.0, its API server (before an engine that is written here, which stops at the ids of tokens that it is given, as its engines
# do): stop sequences become ids of tokens. A sequence of several tokens is ignored without an error. A sequence that longer tokens contain
# stops at each of them, and all letters of that token vanish: with the stop `;` the answer `f(a); g(b);` ends before the `)`.
#
# Seen: "Chat, none: 'f(a); g(b); END rest' (stop)", the same text for "Chat, END", and "Chat, ;: 'f(a' (stop)"; in Messages the same texts with
# `end_turn`. Exits with 1 when that changes. Needs python3 (3.11 to 3.13) and 6 GB, most of it for PyTorch.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv uv
uv/bin/pip -q --disable-pip-version-check install uv
uv/bin/uv venv -q --python python3 venv
uv/bin/uv pip install -q --python venv/bin/python --no-deps lmdeploy==0.18.0
uv/bin/uv pip install -q --python venv/bin/python \
  torch==2.15.0 transformers==5.24.0 tokenizers==0.23.3 fastapi==0.165.0 uvicorn==0.54.0 pydantic==2.14.4 aiohttp==3.14.5 \
  requests==2.34.2 openai==3.57.0 openai-harmony==0.0.8 partial-json-parser==0.2.1.1.post7 mmengine-lite==0.10.7 \
  prometheus-client==0.26.0 pybase64==1.5.1 pyzmq==27.3.0 pillow==13.0.0 psutil==7.2.2 sentencepiece==0.2.3 \
  shortuuid==1.0.13 tiktoken==0.14.0 einops==0.8.2 fire==0.7.1 numpy==2.3.5 jsonschema==4.26.0
mkdir model
cat > model.py <<'PY'
import json
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
vocabulary = {'<s>': 0, '</s>': 1} | {letter: at + 2 for at, letter in enumerate(letters)} | {');': 258}
tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[(')', ';')]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens(['<s>', '</s>'])
tokenizer.save('model/tokenizer.json')
template = '{%- for m in messages -%}[{{ m.role }}]{{ m.content }}{%- endfor -%}'
settings = {'tokenizer_class': 'PreTrainedTokenizerFast', 'bos_token': '<s>', 'eos_token': '</s>', 'chat_template': template}
json.dump(settings, open('model/tokenizer_config.json', 'w'))
config = {'architectures': ['LlamaForCausalLM'], 'model_type': 'llama', 'bos_token_id': 0, 'eos_token_id': 1, 'vocab_size': 259}
config |= {'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 2, 'num_key_value_heads': 2, 'max_position_embeddings': 4096}
json.dump(config, open('model/config.json', 'w'))
json.dump({'eos_token_id': 1, 'bos_token_id': 0}, open('model/generation_config.json', 'w'))
PY
cat > engine.py <<'PY'
import sys
from lmdeploy.messages import EngineOutput, PytorchEngineConfig, ResponseType
from lmdeploy.serve.core import async_engine
from lmdeploy.serve.openai.api_server import serve
from tokenizers import Tokenizer

answer = Tokenizer.from_file('model/tokenizer.json').encode('f(a); g(b); END rest').ids


class Instance:
    async def async_stream_infer(self, session_id, gen_config=None, **_):
        for token in [*answer, 1]:
            stops = token in [1, *(gen_config.stop_token_ids or [])]
            yield EngineOutput(ResponseType.FINISH if stops else ResponseType.SUCCESS, [token])
            if stops:
                return

    async def async_cancel(self, session_id):
        pass

    async_end = async_cancel


class Engine:
    def __init__(self, config):
        self.engine_config = config

    def create_instance(self, *_):
        return Instance()

    def start_loop(self):
        pass

    def close(self):
        pass

    def end_session(self, *_):
        return True

    def get_schedule_metrics(self):
        return None

    async def get_health_status(self):
        return {}


async_engine.AsyncEngine._build_pytorch = lambda self, model_path, backend_config=None, **_: Engine(backend_config)
config = PytorchEngineConfig(session_len=4096, max_batch_size=4, enable_metrics=False)
serve('model', model_name='m', backend='pytorch', backend_config=config, server_name='127.0.0.1', server_port=int(sys.argv[1]))
PY
cat > run.py <<'PY'
import json, sys, time, urllib.request

server = f'http://127.0.0.1:{sys.argv[1]}/v1'
messages = [{'role': 'user', 'content': 'go'}]


def ask(path, **members):
    headers = {'content-type': 'application/json', 'anthropic-version': '2023-06-01'}
    body = json.dumps({'model': 'm', 'messages': messages, 'max_tokens': 100, **members}).encode()
    with urllib.request.urlopen(urllib.request.Request(f'{server}/{path}', body, headers), timeout=60) as response:
        return json.loads(response.read())


def chat(stop):
    [choice] = ask('chat/completions', **({'stop': stop} if stop else {}))['choices']
    return choice['message']['content'], choice['finish_reason']


def anthropic(stop):
    reply = ask('messages', **({'stop_sequences': stop} if stop else {}))
    return reply['content'][0]['text'], reply['stop_reason']


def wait():
    for _ in range(900):
        try:
            return urllib.request.urlopen(f'{server}/models', timeout=5).close()
        except OSError:
            time.sleep(0.2)


wait()
seen = []
for name, endpoint in (('Chat', chat), ('Messages', anthropic)):
    for stop in ([], ['END'], [';']):
        text, reason = endpoint(stop)
        seen.append(f"{name}, {stop[0] if stop else 'none'}: {text!r} ({reason})")
print('\n'.join(seen))
texts = {'none': 'f(a); g(b); END rest', 'END': 'f(a); g(b); END rest', ';': 'f(a'}
reasons = {'Chat': 'stop', 'Messages': 'end_turn'}
expected = [f'{name}, {stop}: {text!r} ({reason})' for name, reason in reasons.items() for stop, text in texts.items()]
sys.exit(0 if seen == expected else 1)
PY
venv/bin/python model.py
own=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
HF_HUB_OFFLINE=1 venv/bin/python engine.py "$own" >log 2>&1 &
pid=$!
timeout 300 python3 run.py "$own" || { status=$?; tail -5 log; exit $status; }
