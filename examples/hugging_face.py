"""How fast, and how faithfully, a language model's layers move information to the last token of a text.

    python3 examples/hugging_face.py MODEL [TEXT]     # a model of transformers: "gpt2", a folder
    python3 examples/hugging_face.py --random         # a small one with random weights: nothing is downloaded
"""

import argparse

import torch
import transformers

import synergraph as sg

parser = argparse.ArgumentParser()
parser.add_argument("model", nargs="?", default="gpt2")
parser.add_argument("text", nargs="?", default="When Mary and John went to the store, John gave a drink to")
parser.add_argument("--random", action="store_true")
arguments = parser.parse_args()

if arguments.random:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=8,
                                      num_key_value_heads=2)
    model = transformers.LlamaForCausalLM(config).eval()
    words = list(arguments.text)
    inputs = {"input_ids": torch.tensor([list(arguments.text.encode())])}
else:
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(arguments.model).eval()
    inputs = tokenizer(arguments.text, return_tensors="pt")
    words = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])

with sg.watch(model) as watch, torch.no_grad():
    model(**inputs)
result = watch.result(weights="learned", per_node=True)
print(result)

signal = result["node_fidelity"][:, 0]  # (layers, tokens)
for layer, name in enumerate(result.layers):
    order = signal[layer, :-1].argsort()
    weakest, strongest = order[0] - signal.shape[1], order[-1] - signal.shape[1]  # from the end: a learned sink is a node before the first
    print(f"{name}: {words[strongest]!r} reaches {words[-1]!r} best ({signal[layer, strongest]:.2f}), "
          f"{words[weakest]!r} worst ({signal[layer, weakest]:.2g})")
