"""Writes a tiny Llama with random weights as GGUF, for llama.cpp.

Usage: gguf_model.py FILE
"""

import sys

import gguf
import numpy

TEMPLATE = (
    "{%- for m in messages -%}[{{ m.role }}] {{ m.content }}\n{% endfor -%}"
    "{%- if tools -%}{{ tools | tojson }}{%- endif -%}[assistant] "
)
DIMENSIONS, HIDDEN, HEADS, LAYERS, CONTEXT = 32, 64, 4, 2, 2048
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6

special = ["<unk>", "<s>", "</s>"]
in_bytes = [f"<0x{value:02X}>" for value in range(256)]
letters = [chr(value).replace(" ", "\u2581") for value in range(32, 127)]
tokens = special + in_bytes + letters
types = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * len(letters)

random = numpy.random.default_rng(1)
writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(DIMENSIONS)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(HIDDEN)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(DIMENSIONS // HEADS)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(types)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template(TEMPLATE)


def add(name: str, *shape: int, scale: float = 0.1) -> None:
    writer.add_tensor(name, (random.standard_normal(shape) * scale).astype(numpy.float32))


def add_ones(name: str) -> None:
    writer.add_tensor(name, numpy.ones(DIMENSIONS, numpy.float32))


add("token_embd.weight", len(tokens), DIMENSIONS)
for layer in range(LAYERS):
    add_ones(f"blk.{layer}.attn_norm.weight")
    add_ones(f"blk.{layer}.ffn_norm.weight")
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.{layer}.{part}.weight", DIMENSIONS, DIMENSIONS)
    add(f"blk.{layer}.ffn_gate.weight", HIDDEN, DIMENSIONS)
    add(f"blk.{layer}.ffn_up.weight", HIDDEN, DIMENSIONS)
    add(f"blk.{layer}.ffn_down.weight", DIMENSIONS, HIDDEN)
add_ones("output_norm.weight")
# A logit of zero is far below those of random rows: answers are letters and never end by themselves.
output = random.standard_normal((len(tokens), DIMENSIONS)).astype(numpy.float32)
output[: len(special) + len(in_bytes)] = 0
writer.add_tensor("output.weight", output)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
