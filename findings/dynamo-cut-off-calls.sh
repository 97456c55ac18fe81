#!/bin/sh
# NVIDIA Dynamo 1.6.1 (its frontend, with the tool parser `hermes`, before a worker that is written here): a call that the limit of tokens
# cuts off is closed so that its arguments parse. A model that was writing `{"path": "a.txt", "text": "The first line of many"}` has called the
# tool with half of the text, in a call that looks whole; only the finish reason `length` beside it tells. Its Chat endpoint also refuses
# members of OpenAI's with 400 that its Responses endpoint takes: `verbosity`, `safety_identifier` and `prompt_cache_retention`.
#
# Seen: "cut off: write {"path": "a.txt", "text": "The first line"} (length)", the same streamed, "verbosity, Chat: 400 Validation: Unsupported
# parameter(s): `verbosity`" and the like for the two others, and "all three, Responses: 200". Exits with 1 when that changes. Needs python3
# (3.10 or later). ai-dynamo's dependency aisimulate, whose wheel is not on PyPI, is not needed here and left out.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pids" ] || kill -9 $pids; rm -rf "$folder"' EXIT
pids=
cd "$folder"
python3 -m venv uv
uv/bin/pip -q --disable-pip-version-check install uv
uv/bin/uv venv -q --python python3 venv
echo aisimulate >left-out
uv/bin/uv pip install -q --excludes left-out --python venv/bin/python ai-dynamo==1.6.1
mkdir model
cat > model.py <<'PY'
import json
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={'<s>': 0, '</s>': 1} | {letter: at + 2 for at, letter in enumerate(letters)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens(['<s>', '</s>'])
tokenizer.save('model/tokenizer.json')
template = '{%- for m in messages -%}[{{ m.role }}]{{ m.content }}{%- endfor -%}{%- if tools -%}{{ tools | tojson }}{%- endif -%}'
settings = {'tokenizer_class': 'PreTrainedTokenizerFast', 'bos_token': '<s>', 'eos_token': '</s>', 'chat_template': template}
json.dump(settings, open('model/tokenizer_config.json', 'w'))
config = {'architectures': ['LlamaForCausalLM'], 'model_type': 'llama', 'bos_token_id': 0, 'eos_token_id': 1, 'vocab_size': 258}
config |= {'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 2, 'num_key_value_heads': 2, 'max_position_embeddings': 4096}
json.dump(config, open('model/config.json', 'w'))
json.dump({'eos_token_id': 1, 'bos_token_id': 0}, open('model/generation_config.json', 'w'))
PY
cat > worker.py <<'PY'
import asyncio
from tokenizers import Tokenizer
from dynamo.llm import ModelInput, ModelRuntimeConfig, ModelType, WorkerType, register_model
from dynamo.runtime import DistributedRuntime

tokenizer = Tokenizer.from_file('model/tokenizer.json')
call = '<tool_call>\n{"name": "write", "arguments": {"path": "a.txt", "text": "The first line of many"}}\n</tool_call>'


async def generate(request, context):
    tokens = tokenizer.encode(call, add_special_tokens=False).ids
    limit = (request.get('stop_conditions') or {}).get('max_tokens') or len(tokens)
    for at, token in enumerate(tokens[:limit]):
        yield {'token_ids': [token], **({'finish_reason': 'length'} if at + 1 == limit < len(tokens) else {})}
    if limit >= len(tokens):
        yield {'token_ids': [1], 'finish_reason': 'stop'}


async def main():
    endpoint = DistributedRuntime(asyncio.get_running_loop(), 'file', 'tcp').endpoint('dynamo.backend.generate')
    settings = ModelRuntimeConfig()
    settings.tool_call_parser = 'hermes'
    await register_model(
        ModelInput.Tokens, ModelType.Chat, endpoint, 'model', 'm', worker_type=WorkerType.Aggregated, runtime_config=settings
    )
    await endpoint.serve_endpoint(generate)


asyncio.run(main())
PY
cat > run.py <<'PY'
import json, sys, time, urllib.error, urllib.request

server = f'http://127.0.0.1:{sys.argv[1]}'
properties = {'path': {'type': 'string'}, 'text': {'type': 'string'}}
tool = {'type': 'function', 'function': {'name': 'write', 'parameters': {'type': 'object', 'properties': properties}}}


def ask(path, **members):
    request = urllib.request.Request(f'{server}/v1/{path}', json.dumps({'model': 'm', **members}).encode(), {'content-type': 'application/json'})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait():
    for _ in range(900):
        try:
            with urllib.request.urlopen(f'{server}/v1/models', timeout=2) as response:
                if '"m"' in response.read().decode():
                    return
        except OSError:
            pass
        time.sleep(0.1)


def describe(choices, member):
    calls = [call['function'] for choice in choices for call in choice[member].get('tool_calls') or []]
    reason = next(choice['finish_reason'] for choice in choices if choice.get('finish_reason'))
    return ', '.join(f"{call['name']} {call['arguments']}" for call in calls) + f' ({reason})'


wait()
messages = [{'role': 'user', 'content': 'go'}]
cut = {'messages': messages, 'tools': [tool], 'max_tokens': 85}
seen = ['cut off: ' + describe(json.loads(ask('chat/completions', **cut)[1])['choices'], 'message')]
lines = [line for line in ask('chat/completions', **cut, stream=True)[1].splitlines() if line.startswith('data: {')]
seen.append('cut off, streamed: ' + describe([choice for line in lines for choice in json.loads(line[6:])['choices']], 'delta'))
refused = {'verbosity': 'low', 'safety_identifier': 's', 'prompt_cache_retention': '24h'}
for name, value in refused.items():
    status, text = ask('chat/completions', messages=messages, **{name: value})
    seen.append(f"{name}, Chat: {status} {json.loads(text).get('message')}")
members = {'text': {'verbosity': 'low'}, 'safety_identifier': 's', 'prompt_cache_retention': '24h'}
seen.append(f"all three, Responses: {ask('responses', input='go', **members)[0]}")
print('\n'.join(seen))
expected = [
    'cut off: write {"path": "a.txt", "text": "The first line"} (length)',
    'cut off, streamed: write {"path": "a.txt", "text": "The first line"} (length)',
    *[f'{name}, Chat: 400 Validation: Unsupported parameter(s): `{name}`' for name in refused],
    'all three, Responses: 200',
]
sys.exit(0 if seen == expected else 1)
PY
venv/bin/python model.py
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
own=$(free)
export DYN_FILE_KV="$folder/kv" HF_HUB_OFFLINE=1
mkdir kv
venv/bin/python -m dynamo.frontend --http-host 127.0.0.1 --http-port "$own" --discovery-backend file --request-plane tcp >log 2>&1 &
pids=$!
venv/bin/python worker.py >>log 2>&1 &
pids="$pids $!"
timeout 180 python3 run.py "$own" || { status=$?; tail -5 log; exit $status; }
