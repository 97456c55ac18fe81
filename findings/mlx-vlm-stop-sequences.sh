#!/bin/sh
# mlx-vlm 0.7.10 (its server, here on Linux with mlx on the CPU): Chat ignores `stop`, and `max_completion_tokens`, the name that OpenAI gives
# the limit today: the model goes on to the server's own limit. A Messages stream goes on past a stop sequence, and ends with `stop_reason`
# `stop_sequence` all the same; the same request without stream is cut. A streamed call that the limit cuts off is an error in the stream,
# and its markup part of the text; without stream it ends with `length`.
#
# The model is written here: after the question `text` it says "The answer is yes.", after `call` a tool call, after `long` one word for ever.
# Seen: "stop, Chat: The answer is yes. (stop)", "max_completion_tokens 2: 40 tokens (length)", "stop, Messages: The  (stop_sequence)", "stop,
# Messages streamed: The answer is yes. (stop_sequence)", "cut call: length" and "cut call, streamed: Generation ended with an incomplete tool
# call." Exits with 1 when that changes. Needs python3 (3.10 or later).
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || kill -9 "$pid"; rm -rf "$folder"' EXIT
pid=
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install mlx-vlm==0.7.10 'mlx[cpu]==0.32.4'
cat > model.py <<'PY'
"""A Llama without attention: a token has one successor, so that a question's last token decides the whole answer."""
import json, os
import mlx.core as mx, numpy
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={'<s>': 0, '</s>': 1} | {letter: at + 2 for at, letter in enumerate(letters)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens(['<s>', '</s>'])
answers = {
    'text': ['The answer', ' is yes.'],
    'call': ['<tool_call>', '\n{"name": "look", ', '"arguments": {"a": "x"}}\n', '</tool_call>'],
    'long': ['word '],
}
successors = {}


def token(text):
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False)])
    return tokenizer.token_to_id(text)


for question, pieces in answers.items():
    chain = [token(f'<<{question}>>'), *map(token, pieces)]
    successors |= dict(zip(chain, chain[1:])) | {chain[-1]: chain[-1] if question == 'long' else 1}
size, width = tokenizer.get_vocab_size(), 320
os.mkdir('model')
tokenizer.save('model/tokenizer.json')
template = (
    "{%- for m in messages -%}[{{ m.role }}]{{ m.content }}{%- endfor -%}{%- if tools -%}{{ tools | tojson }}<tool_call>"
    "{#- tool_call.name #}</tool_call>{%- endif -%}<<{{ messages[-1].content }}>>"
)
settings = {'tokenizer_class': 'PreTrainedTokenizerFast', 'bos_token': '<s>', 'eos_token': '</s>', 'pad_token': '</s>', 'chat_template': template}
json.dump(settings, open('model/tokenizer_config.json', 'w'))
config = {'architectures': ['LlamaForCausalLM'], 'model_type': 'llama', 'bos_token_id': 0, 'eos_token_id': 1, 'vocab_size': size}
config |= {'hidden_size': width, 'intermediate_size': 64, 'num_hidden_layers': 1, 'num_attention_heads': 4, 'num_key_value_heads': 4}
config |= {'head_dim': 80, 'rms_norm_eps': 1e-5, 'rope_theta': 10000.0, 'tie_word_embeddings': False, 'max_position_embeddings': 2048}
json.dump(config, open('model/config.json', 'w'))
one, head = numpy.ones(width, numpy.float32), numpy.zeros((size, width), numpy.float32)
for at in range(size):
    head[successors.get(at, 1), at] = 1
layer = 'model.layers.0.'
weights = {'model.embed_tokens.weight': numpy.eye(size, width, dtype=numpy.float32), 'lm_head.weight': head, 'model.norm.weight': one}
weights |= {f'{layer}{name}_layernorm.weight': one for name in ('input', 'post_attention')}
weights |= {f'{layer}self_attn.{name}_proj.weight': numpy.zeros((width, width), numpy.float32) for name in 'qkvo'}
shapes = {'gate': (64, width), 'up': (64, width), 'down': (width, 64)}
weights |= {f'{layer}mlp.{name}_proj.weight': numpy.zeros(shape, numpy.float32) for name, shape in shapes.items()}
mx.save_safetensors('model/model.safetensors', {name: mx.array(value) for name, value in weights.items()}, metadata={'format': 'mlx'})
PY
cat > run.py <<'PY'
import json, sys, time, urllib.request

server, model = f'http://127.0.0.1:{sys.argv[1]}', sys.argv[2]
tool = {'type': 'function', 'function': {'name': 'look', 'parameters': {'type': 'object', 'properties': {'a': {'type': 'string'}}}}}


def ask(path, question, **members):
    body = {'model': model, 'messages': [{'role': 'user', 'content': question}], **members}
    request = urllib.request.Request(f'{server}/v1/{path}', json.dumps(body).encode(), {'content-type': 'application/json'})
    with urllib.request.urlopen(request, timeout=120) as response:
        text = response.read().decode()
    if not members.get('stream'):
        return json.loads(text)
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {')]


def wait():
    for _ in range(1800):
        try:
            urllib.request.urlopen(f'{server}/health', timeout=5)
            return
        except OSError:
            time.sleep(0.1)


wait()
[choice] = ask('chat/completions', 'text', stop=['answer'])['choices']
seen = [f"stop, Chat: {choice['message']['content']} ({choice['finish_reason']})"]
answer = ask('chat/completions', 'long', max_completion_tokens=2)
seen.append(f"max_completion_tokens 2: {answer['usage']['completion_tokens']} tokens ({answer['choices'][0]['finish_reason']})")
limits = {'max_tokens': 50, 'stop_sequences': ['answer']}
answer = ask('messages', 'text', **limits)
seen.append(f"stop, Messages: {answer['content'][0]['text']} ({answer['stop_reason']})")
events = ask('messages', 'text', stream=True, **limits)
text = ''.join(event['delta'].get('text', '') for event in events if event['type'] == 'content_block_delta')
[reason] = [event['delta']['stop_reason'] for event in events if event['type'] == 'message_delta']
seen.append(f'stop, Messages streamed: {text} ({reason})')
seen.append('cut call: ' + ask('chat/completions', 'call', max_tokens=3, tools=[tool])['choices'][0]['finish_reason'])
last = ask('chat/completions', 'call', max_tokens=3, tools=[tool], stream=True)[-1]
seen.append(f"cut call, streamed: {last.get('error')}")
print('\n'.join(seen))
expected = [
    'stop, Chat: The answer is yes. (stop)',
    'max_completion_tokens 2: 40 tokens (length)',
    'stop, Messages: The  (stop_sequence)',
    'stop, Messages streamed: The answer is yes. (stop_sequence)',
    'cut call: length',
    'cut call, streamed: Generation ended with an incomplete tool call.',
]
sys.exit(0 if seen == expected else 1)
PY
venv/bin/python model.py
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
own=$(free)
HF_HUB_OFFLINE=1 venv/bin/python -m mlx_vlm.server --host 127.0.0.1 --port "$own" --model "$folder/model" --max-tokens 40 >log 2>&1 &
pid=$!
timeout 240 python3 run.py "$own" "$folder/model" || { status=$?; tail -5 log; exit $status; }
