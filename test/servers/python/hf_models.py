"""Writes tiny models with random weights in the format of Hugging Face: a chat model, an embedding model, a reranker.

Usage: hf_models.py FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

# Prints the messages and the tools. A name in brackets stands for a role.
TEMPLATE = (
    "{%- for m in messages -%}[{{ m.role }}]"
    "{%- if m.content is string -%}{{ m.content }}"
    "{%- elif m.content -%}{%- for p in m.content -%}{{ p.text | default('') }}{%- endfor -%}{%- endif -%}"
    "{%- for c in m.tool_calls | default([]) -%}{{ c | tojson }}{%- endfor -%}\n{% endfor -%}"
    "{%- if tools -%}{{ tools | tojson }}\n{% endif -%}"
    "{%- if add_generation_prompt -%}[assistant]{%- endif -%}"
)

LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())


def save(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Under the name of the class that older versions know as well."""
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"tokenizer_class": "PreTrainedTokenizerFast"}))


def chat_model(folder: Path) -> None:
    """A Llama whose tokens are bytes. Only printable ones are likely in its answers."""
    vocabulary = {"<s>": 0, "</s>": 1} | {letter: index + 2 for index, letter in enumerate(LETTERS)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    wrapped.chat_template = TEMPLATE
    save(wrapped, folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        # A logit of zero is far below those of random rows.
        model.lm_head.weight.normal_(0, 1)
        for letter, index in vocabulary.items():
            if len(letter) > 1 or not letter.isascii():
                model.lm_head.weight[index] = 0
    model.save_pretrained(folder)


def bert(folder: Path, model_class: type) -> None:
    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789":
        vocabulary |= {letter: len(vocabulary), f"##{letter}": len(vocabulary) + 1}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=128,
    )
    save(wrapped, folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        num_labels=1,
    )
    model_class(config).save_pretrained(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    torch.manual_seed(1)
    chat_model(target / "tiny-chat")
    bert(target / "tiny-embed", BertModel)
    bert(target / "tiny-rerank", BertForSequenceClassification)
