#!/usr/bin/env python3
"""Measures every head of a language model over many texts and lengths. docs/atlas.md shows what six models gave.

    python3 examples/atlas.py measure gpt2 --out atlas                        # a model of transformers: a name or a folder
    python3 examples/atlas.py measure stories=stories260K.bin --tokenizer tok512.bin --lengths 64:52,256:52 --out atlas
    python3 examples/atlas.py report --out atlas --results tables             # tables (CSV) of all models in the folder
    python3 examples/atlas.py page --results tables --page atlas.md           # the page and its figures

`measure` reads models of transformers, llama2.c (.bin, .data), GGUF (.gguf), 8-bit ONNX folders of Llama models and of Whisper, and
attention in JSON (.json: a list of texts with `soft`). It writes one file of numbers for each text and length. If the command is
stopped, the same command goes on where it was. Weights and attention are never written, except weights with --store.

The script needs PyTorch, NumPy and the package synergraph (SYNERGRAPH_LIBRARY names a built library). Debian's bible-kjv has the Bible.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts"))
try:
    import synergraph as sg
    import torch
    from study import atlas, readers, texts
except ImportError as problem:
    sys.exit(f"atlas: {problem} (Debian: python3-torch and python3-numpy, which are for /usr/bin/python3)")

READ_HERE = (".bin", ".data", ".onnx", ".gguf")


def plan_of(text):
    """Lengths and numbers of texts: "64:52,128" with 52 texts where no number stands."""
    plan = {}
    for part in text.split(","):
        tokens, _, count = part.partition(":")
        if not tokens.isdigit() or not (count or "52").isdigit() or int(tokens) < 8 or int(count or 52) < 1:
            raise argparse.ArgumentTypeError(f"{part!r} is no length; expected TOKENS or TOKENS:TEXTS with at least 8 tokens, such as 64:52,128:20")
        plan[int(tokens)] = int(count or 52)
    return plan


def sources_of(text):
    chosen = text.split(",")
    if not set(chosen) <= set(atlas.SOURCES) or len(set(chosen)) < len(chosen):
        raise argparse.ArgumentTypeError(f"{text!r}: expected some of {', '.join(atlas.SOURCES)}")
    return chosen


def open_model(path, arguments):
    """The model behind a path, by its ending; a folder with ONNX files or stored weights is read here, other names by transformers."""
    if path.endswith(".json"):
        return atlas.GivenAttention(path)
    here = path.endswith(READ_HERE) or any(os.path.exists(os.path.join(path, name)) for name in (readers.STORED, *readers.ONNX_FILES))
    if not here:
        return atlas.HuggingFace(path)
    model = readers.read_model(path)
    if arguments.store:
        readers.store(model, arguments.store)
        model = readers.read_model(arguments.store)
    return atlas.FileModel(model, texts.tokenizer_for(path, model.vocabulary, arguments.tokenizer))


def measure(arguments):
    name, _, path = arguments.model.partition("=")
    path = path or name
    name = name if "=" in arguments.model else os.path.basename(os.path.normpath(path)).partition(".")[0]
    if not name or "/" in name or name.startswith("."):
        raise readers.InputError(f"{arguments.model}: expected NAME=PATH, with a name that can be a folder")
    model = open_model(path, arguments)
    sources = arguments.sources or (["own"] if model.tokenizer is None else list(atlas.SOURCES))
    if model.tokenizer is None and sources != ["own"]:
        raise readers.InputError(f"{path}: no tokenizer; name one with --tokenizer, or let the model write its texts with --sources own")
    atlas.measure(model, name, arguments.lengths, sources, arguments.out, arguments.seed, arguments.controls, arguments.contribution, arguments.bible,
                  said=lambda line: print(line, file=sys.stderr, flush=True))


def report(arguments):
    from study import atlas_tables
    atlas_tables.write(arguments.out, arguments.results, arguments.draws)


def page(arguments):
    from study import atlas_text
    atlas_text.write(arguments.results, arguments.page)


def parse(given):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    some = commands.add_parser("measure", help="measure a model, text by text")
    some.add_argument("model", metavar="[NAME=]MODEL", help="file or folder of a model, or a model of transformers; NAME is its name in tables")
    some.add_argument("--out", required=True, metavar="DIR", help="folder for the numbers of every text")
    some.add_argument("--lengths", type=plan_of, default=plan_of("64,128,256"), metavar="TOKENS[:TEXTS],...",
                      help="lengths, and the number of texts of each (default: 64,128,256 with 52 texts)")
    some.add_argument("--sources", type=sources_of, metavar="NAMES", help="sources of texts, in turn: own, bible, documents (default: all)")
    some.add_argument("--tokenizer", metavar="FILE", help="tokenizer.bin of llama2.c or tokenizer.json, for a file that has no tokenizer")
    some.add_argument("--bible", metavar="DIR", help="folder into which Debian's bible-kjv and bible-kjv-text were unpacked (default: the installed program)")
    some.add_argument("--controls", type=int, default=256, metavar="TOKENS", help="longest texts whose controls are measured (default: 256)")
    some.add_argument("--contribution", type=int, default=256, metavar="TOKENS", help="longest texts whose contribution edges are measured (default: 256)")
    some.add_argument("--store", metavar="DIR", help="folder for the weights of a GGUF file, dequantised; later runs name this folder as the model")
    some.add_argument("--seed", type=int, default=1, help="seed of texts and controls (default: 1)")
    some.set_defaults(run=measure)
    some = commands.add_parser("report", help="write the tables of all measured models")
    some.add_argument("--out", required=True, metavar="DIR", help="folder with the numbers of every text")
    some.add_argument("--results", required=True, metavar="DIR", help="folder for the tables")
    some.add_argument("--draws", type=int, default=400, help="number of bootstrap draws over texts (default: 400)")
    some.set_defaults(run=report)
    some = commands.add_parser("page", help="write the page and its figures from the tables")
    some.add_argument("--results", required=True, metavar="DIR", help="folder with the tables")
    some.add_argument("--page", required=True, metavar="FILE", help="page to write; figures go into figures/atlas beside the page")
    some.set_defaults(run=page)
    return parser.parse_args(given)


def main(given=None):
    arguments = parse(given)
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    try:
        arguments.run(arguments)
    except (readers.InputError, sg.Error) as error:
        sys.exit(f"atlas: {error}")
    except OSError as error:
        sys.exit(f"atlas: {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
