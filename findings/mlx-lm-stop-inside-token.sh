#!/bin/sh
# mlx-lm 0.32.2 (`mlx_lm.server`, here on Linux with mlx-cpu 0.32.4): a stop sequence ends an answer only where the model writes it with
# the tokens that the tokenizer makes of it alone. Where it is a part of a longer token, as `STOP` is of ` STOP` in most vocabularies,
# the server takes its letters out of the text and goes on: the client gets what should never have been written, without the words
# that would show it, and pays for it. `finish_reason` is `stop`, as if the sequence had ended it.
#
# Seen for the answer "before STOP after": with `stop: ["STOP"]` "before  after (stop, 4 tokens)", with `stop: [" STOP"]` "before (stop,
# 2 tokens)". The model is made here: each token is followed by one other. Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid" || true; }; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install mlx-lm==0.32.2 'mlx[cpu]==0.32.4'
cat > model.py <<'PY'
import json
from pathlib import Path

import numpy
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

folder = Path('model')
folder.mkdir()
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(['<s>', '</s>', *letters])}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
chain = ['[go]', 'before', ' STOP', ' after', '</s>']
tokenizer.add_tokens([AddedToken(word, special=False, normalized=False) for word in chain[:-1]])
tokenizer.save(str(folder / 'tokenizer.json'))
template = '{% for m in messages %}{{ m.content }}{% endfor %}[go]'
names = {'tokenizer_class': 'PreTrainedTokenizerFast', 'bos_token': '<s>', 'eos_token': '</s>', 'chat_template': template}
(folder / 'tokenizer_config.json').write_text(json.dumps(names))
size, width = tokenizer.get_vocab_size(), 64
config = {
    'model_type': 'llama', 'vocab_size': size, 'hidden_size': width, 'intermediate_size': width, 'num_hidden_layers': 1,
    'num_attention_heads': 1, 'num_key_value_heads': 1, 'rms_norm_eps': 1e-5, 'max_position_embeddings': 512,
    'tie_word_embeddings': False, 'bos_token_id': 0, 'eos_token_id': 1,
}
(folder / 'config.json').write_text(json.dumps(config))
random = numpy.random.default_rng(1)
embedding = random.choice([-1.0, 1.0], (size, width)).astype('float32')
head = numpy.zeros((size, width), 'float32')
ids = [tokenizer.token_to_id(word) for word in chain]
for before, after in zip(ids, ids[1:]):
    head[after] = embedding[before]
zeros, ones = numpy.zeros((width, width), 'float32'), numpy.ones(width, 'float32')
layer = {f'self_attn.{part}_proj': zeros for part in 'qkvo'} | {f'mlp.{part}_proj': zeros for part in ('gate', 'up', 'down')}
layer |= {'input_layernorm': ones, 'post_attention_layernorm': ones}
weights = {f'model.layers.0.{name}.weight': value for name, value in layer.items()}
weights |= {'model.embed_tokens.weight': embedding, 'model.norm.weight': ones, 'lm_head.weight': head}
save_file(weights, folder / 'model.safetensors')
PY
cat > run.py <<'PY'
import json, sys, time, urllib.request

url = f'http://127.0.0.1:{sys.argv[1]}/v1/chat/completions'


def ask(stop):
    body = {'model': 'model', 'messages': [{'role': 'user', 'content': 'hi'}], 'max_tokens': 20, 'temperature': 0, 'stop': stop}
    request = urllib.request.Request(url, json.dumps(body).encode(), {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=30) as response:
        answer = json.load(response)
    choice = answer['choices'][0]
    return f"{choice['message']['content']} ({choice['finish_reason']}, {answer['usage']['completion_tokens']} tokens)"


for attempt in range(300):
    try:
        urllib.request.urlopen(url.replace('chat/completions', 'models'), timeout=5)
        break
    except OSError:
        time.sleep(0.2)
seen = {stop: ask([stop]) for stop in ('STOP', ' STOP')}
for stop, words in seen.items():
    print(f'stop {stop!r}: {words}')
expected = {'STOP': 'before  after (stop, 4 tokens)', ' STOP': 'before (stop, 2 tokens)'}
sys.exit(0 if seen == expected else 1)
PY
venv/bin/python model.py
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
HF_HUB_OFFLINE=1 venv/bin/mlx_lm.server --model model --host 127.0.0.1 --port "$port" >log 2>&1 &
pid=$!
timeout 120 python3 run.py "$port" || { status=$?; tail -5 log; exit $status; }
