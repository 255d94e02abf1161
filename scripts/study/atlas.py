"""Measures every head of a language model on many texts: the work behind examples/atlas.py and docs/atlas.md.

Each text of each length is one file of numbers in the folder of the model. A run that was stopped goes on with the files that are
missing. The same seed gives the same numbers.
"""

import json
import os
import zipfile

import numpy as np
import torch

import synergraph as sg

from . import head_types, structure, texts
from .model import next_tokens
from .readers import InputError
from .sinks import without_first

#: Numbers of a head, and of all heads of a layer together: names in synergraph, with eps 0.25.
SYSTEM = ("minimax_fidelity", "normalised_fidelity", "minimax_time", "backward_hitting_time", "fidelity_bound", "fidelity_tightness",
          "backward_mixing_time_0.25", "mixing_time_0.25", "averaged_mixing_time_0.25", "hitting_mean", "hitting_max",
          "truncated_hitting_mean", "forward_probability")
#: Numbers of a layer alone.
LAYER = (*SYSTEM, "synergy", "mixing_synergy", "cross_head_share", "effective_forward_probability", "best_head", "best_head_fidelity")
#: What is seen of a head without any of our quantities.
SEEN = ("sink", "previous", "itself", "entropy", "distance")
#: Attention as it is, two kinds of edges by what the heads move, and two controls.
KINDS = ("attention", "norm", "contribution", "permuted", "cut")
#: Of what reaches the last token through all layers: the shares of the first token, of the last, of the others; weakest share; number of tokens.
STACK = ("first", "last", "others", "weakest", "effective_tokens")
#: The length of tables of heads, if the model was measured there; else its longest.
REFERENCE = 128
#: Texts of which moved_through() is measured.
MOVED = 16
SOURCES = ("own", "bible", "documents")


def normalised(attention):
    """Rows of single precision that sum to 1 in double precision."""
    attention = np.asarray(attention, float)
    return attention / attention.sum(-1, keepdims=True)


def numbers_of(attention, weights=None, moved=None, edges=None):
    """Numbers of one layer's heads (heads, n, n): arrays (SYSTEM, heads) and (LAYER,)."""
    options = {} if edges is None else {"edges": edges, "moved": moved}
    result = sg.measure(attention[None], weights=None if edges else weights, axes="sample head query key", per_head=True, backward=True,
                        device="cpu", threads=1, **options)
    return np.stack([result.heads[name][0] for name in SYSTEM]), np.array([result[name][0] for name in LAYER])


def through(combined, residual=0.5):
    """What reaches the last token from each token through all layers' combined attention: numbers (STACK,)."""
    signal = np.zeros(combined[0].shape[-1])
    signal[-1] = 1.0
    for layer in reversed(combined):
        signal = residual * signal + (1 - residual) * (signal @ layer)
    positive = signal[signal > 0]
    return np.array([signal[0], signal[-1], signal[1:-1].sum(), signal[:-1].min(), np.exp(-(positive * np.log(positive)).sum())])


def moved_through(model, ids):
    """What reaches the last token through all layers by norm edges: numbers (2, STACK,), with and without the first token.

    A head's edge is attention times the length of what it moves; the residual's edge is the length of the token's state. The rows of a
    layer are normalised over both. NaN if the model does not show what its heads move.
    """
    layers = []
    for attention, _, moved in model.read(ids):
        if not isinstance(moved.get("norm"), dict):
            return np.full((2, len(STACK)), np.nan)
        edges = np.einsum("hij,hj->ij", attention, moved["norm"]["norms"][0])
        edges[np.diag_indices(len(edges))] += np.linalg.norm(np.asarray(moved["contribution"]["residual"][0], float), axis=-1)
        layers.append(edges / edges.sum(-1, keepdims=True))
    return np.stack([through(layers, 0.0), through([without_first(layer) for layer in layers], 0.0)])


class FileModel:
    """A model that study/readers.py reads."""

    def __init__(self, model, tokenizer=None):
        self.model, self.tokenizer = model, tokenizer
        self.begin = [model.begin] if isinstance(model.begin, int) else list(model.begin or [0])
        self.longest, self.vocabulary = model.longest, model.vocabulary
        self.layers, self.heads = len(model.blocks), model.shape.heads
        self._grams = None

    def encode(self, text):
        return self.tokenizer.encode(text)

    def sample(self, count, tokens, seed):
        return self.model.sample(count, tokens, seed)

    def grams(self):
        """Of every layer and head W_O^T W_O, (heads, width, width): lengths of moved values without the moved values."""
        if self._grams is None:
            self._grams = [(projection := block.projection().double()) @ projection.transpose(1, 2) for block in self.model.blocks]
        return self._grams

    def read(self, ids):
        """Layer by layer: attention, weights, what the heads move. Returns the mean loss of each position's next token."""
        x = self.model.embed(ids[None])
        for block, grams in zip(self.model.blocks, self.grams()):
            attention, values, (_, narrow) = block.attend(x)
            exact = values[0].double()
            norms = (torch.einsum("hnw,hwv->hnv", exact, grams) * exact).sum(-1).clamp(min=0).sqrt()
            moved = {"norm": {"norms": norms[None].numpy()},
                     "contribution": {"values": narrow.numpy(), "out_proj": block.wo.numpy(), "residual": x.numpy()}}
            if block.bo is not None:
                moved["contribution"]["out_proj_bias"] = block.bo.numpy()
            weights = torch.diagonal(grams, dim1=1, dim2=2).sum(-1).sqrt().numpy()
            yield normalised(attention[0].numpy()), weights, moved
            x = block.feed_forward(x + block.attention_output(attention, values))
        self.losses = self.model.losses(x, next_tokens(ids[None]))[0, :-1].double().numpy()


class GivenAttention:
    """Attention that somebody else computed: a JSON list of texts with `soft`, matrices layer by layer; equal weights."""

    def __init__(self, path):
        try:
            with open(path, encoding="utf-8") as file:
                given = json.load(file)
            self.texts = []
            for text in given:
                matrices = np.array(text["soft"], float)
                tokens = matrices.shape[-1]
                heads = int(text.get("heads", 12))
                if matrices.ndim != 3 or matrices.shape[1] != tokens or heads < 1 or len(matrices) % heads or tokens < 3:
                    raise ValueError(f"{matrices.shape} is not (layers x {heads} heads, tokens, tokens) with at least 3 tokens")
                if not np.isfinite(matrices).all() or (matrices < 0).any() or (abs(matrices.sum(-1) - 1) > 1e-3).any():
                    raise ValueError("rows must be probabilities")
                if np.triu(matrices, 1).any():
                    raise ValueError("a token attends to a later token")
                self.texts.append(matrices.reshape(-1, heads, tokens, tokens))
            if not self.texts or len({text.shape[:2] for text in self.texts}) > 1:
                raise ValueError("no texts, or texts of different models")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: not a list of texts with attention `soft` ({type(error).__name__}: {error})") from None
        self.layers, self.heads = self.texts[0].shape[:2]
        self.longest = max(text.shape[-1] for text in self.texts)
        self.tokenizer = None

    def read(self, ids):
        for layer in self.texts[int(ids[0])]:
            yield normalised(layer), np.ones(self.heads), {}
        self.losses = np.array([np.nan])


class HuggingFace:
    """A causal language model of transformers: a name or a folder."""

    def __init__(self, path, library=None):
        if library is None:
            try:
                import transformers as library
            except ImportError:
                raise InputError(f"{path}: reading a Hugging Face model needs the package transformers; install it with pip") from None
        try:
            self.model = library.AutoModelForCausalLM.from_pretrained(path).eval()
            self.tokenizer = library.AutoTokenizer.from_pretrained(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: {str(error).strip().splitlines()[0]}") from None
        config = self.model.config
        self.longest = getattr(config, "max_position_embeddings", None)
        self.vocabulary = config.vocab_size
        self.layers, self.heads = config.num_hidden_layers, config.num_attention_heads
        begin = next((token for token in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) if token is not None), 0)
        self.begin = [begin]

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)

    def sample(self, count, tokens, seed):
        torch.manual_seed(seed)
        ids = torch.tensor([self.begin]).repeat(count, 1)
        past = None
        while ids.shape[1] < tokens:
            out = self.model(ids if past is None else ids[:, -1:], past_key_values=past, use_cache=True)
            past = out.past_key_values
            ids = torch.cat([ids, torch.multinomial(out.logits[:, -1].double().softmax(-1), 1)], 1)
        return ids

    def read(self, ids):
        with sg.watch(self.model, values=True) as watch:
            logits = self.model(ids[None]).logits[0]
        try:
            weights, moved = watch.learned_weights(), {"norm": watch, "contribution": watch}
        except sg.Error:  # an output projection that the watch does not know: heads weigh the same, and what they move stays unknown
            weights, moved = [np.ones(self.heads)] * len(watch.layers), {}
        for layer in range(len(watch.layers)):
            yield normalised(watch.attention(layer)), weights[layer], moved
        self.losses = torch.nn.functional.cross_entropy(logits[:-1].double(), ids[1:], reduction="none").numpy()


def of_watch(watch, edges, layer):
    """numbers_of() of a layer that a watch saw."""
    result = watch.result(edges=edges, per_head=True, backward=True, device="cpu", threads=1)
    return np.stack([result.heads[name][layer, 0] for name in SYSTEM]), np.array([result[name][layer, 0] for name in LAYER])


def of_text(model, ids, kinds, seed):
    """All numbers of one text, by name: arrays over kinds, numbers, layers and heads."""
    found = {"heads": [], "layers": [], "seen": [], "norm_sink": []}
    combined = {kind: [] for kind in ("attention", "permuted", "cut")}
    for layer, (attention, weights, moved) in enumerate(model.read(ids)):
        weights = np.asarray(weights, float) / np.sum(weights)
        heads, together = [], []
        for kind in KINDS:
            matrices = attention
            if kind == "permuted" and kind in kinds:
                matrices = structure.permuted_rows(attention, [seed, layer])
            elif kind == "cut" and kind in kinds:
                matrices = without_first(attention)
            if kind not in kinds or (kind in ("norm", "contribution") and kind not in moved):
                one = np.full((len(SYSTEM), len(attention)), np.nan), np.full(len(LAYER), np.nan)
            elif kind in ("norm", "contribution"):
                given = moved[kind]
                one = numbers_of(matrices, moved=given, edges=kind) if isinstance(given, dict) else of_watch(given, kind, layer)
            else:
                one = numbers_of(matrices, weights)
                combined[kind].append(np.tensordot(weights, matrices, 1).astype(np.float32))
            heads.append(one[0])
            together.append(one[1])
        found["heads"].append(heads)
        found["layers"].append(together)
        found["seen"].append([getattr(head_types, name)(attention) for name in SEEN])
        norms = moved.get("norm", {}).get("norms") if isinstance(moved.get("norm", {}), dict) else None
        if norms is None:
            found["norm_sink"].append(np.full(len(attention), np.nan))
        else:
            edges = attention[:, 1:] * norms[0][:, None]
            found["norm_sink"].append((edges[..., 0] / edges.sum(-1)).mean(-1))
    stack = [through([layer.astype(float) for layer in combined[kind]]) if combined[kind] else np.full(len(STACK), np.nan) for kind in combined]
    return {"heads": np.moveaxis(np.array(found["heads"]), 0, 2).astype(np.float32), "layers": np.moveaxis(np.array(found["layers"]), 0, 2),
            "seen": np.moveaxis(np.array(found["seen"]), 0, 1).astype(np.float32), "norm_sink": np.array(found["norm_sink"], np.float32),
            "stack": np.array(stack), "loss": np.array(np.mean(model.losses))}


def of_repeated(model, count, period, seed):
    """Scores of repeated random tokens, (texts, 3, layers, heads), and the mean loss in the first and second copy, (texts, 2)."""
    rng = np.random.default_rng(seed)
    scores, losses = [], []
    begin = len(model.begin)
    for _ in range(count):
        once = rng.integers(min(259, model.vocabulary // 4), min(model.vocabulary, 50257), period)  # no bytes and no marks
        ids = torch.as_tensor(np.concatenate([model.begin, once, once]))
        found = [head_types.repeated(attention, begin, period) for attention, _, _ in model.read(ids)]
        scores.append([[layer[name] for layer in found] for name in ("induction", "duplicate", "chance")])
        losses.append([model.losses[begin - 1 : begin + period - 1].mean(), model.losses[begin + period :].mean()])
    return {"scores": np.array(scores, np.float32), "losses": np.array(losses)}


def needed(plan):
    """The length of each text: text k is read at all lengths that have more than k texts, from its begin."""
    return [max(tokens for tokens, count in plan.items() if count > k) for k in range(max(plan.values()))]


def chosen_texts(model, sources, lengths, seed, bible=None):
    """Texts of these lengths, filled up with -1, and the source of each, in turn."""
    order = [sources[k % len(sources)] for k in range(len(lengths))]
    ids = np.full((len(lengths), max(lengths)), -1)
    for source in sources:
        rng = np.random.default_rng([seed, SOURCES.index(source)])
        parts = None if source == "own" else texts.bible(bible) if source == "bible" else texts.paragraphs()
        for tokens in sorted(set(lengths), reverse=True):
            places = [k for k in range(len(lengths)) if order[k] == source and lengths[k] == tokens]
            if not places:
                continue
            if source == "own":
                found = model.sample(len(places), tokens, seed + tokens)
            else:
                found, parts = texts.pieces(parts, model.encode, len(places), tokens, model.begin, rng, rest=True)
            ids[places, :tokens] = found
    return ids, order


def save(path, **arrays):
    """A file that is there is whole."""
    with open(path + ".part", "wb") as file:
        np.savez(file, **arrays)
    os.replace(path + ".part", path)


def load(path):
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: damaged ({type(error).__name__}: {error}); remove the file and measure again") from None


def measure(model, name, plan, sources, folder, seed=1, controls=256, contribution=256, bible=None, periods=(16, 64), said=lambda line: None):
    """Measures a model by a plan, {tokens: texts}, into files of a folder. Controls and contribution edges stop at so many tokens."""
    folder = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    given = isinstance(model, GivenAttention)
    settings = {"name": name, "layers": model.layers, "heads": model.heads, "longest": model.longest, "sources": list(sources), "seed": seed,
                "controls": controls, "contribution": contribution}
    if given:
        ids, order = torch.arange(len(model.texts))[:, None], ["given"] * len(model.texts)
        plan = {model.longest: len(ids)}
    else:
        longest = max(plan)
        if model.longest is not None and longest > model.longest:
            raise InputError(f"{name}: {longest} tokens; the model reads at most {model.longest}")
        settings["plan"] = {str(tokens): plan[tokens] for tokens in sorted(plan)}
    keep_settings(os.path.join(folder, "settings.json"), settings)
    if not given:
        place = os.path.join(folder, "texts.npz")
        if not os.path.exists(place):
            ids, order = chosen_texts(model, sources, needed(plan), seed, bible)
            save(place, ids=ids, order=np.array(order))
        stored = load(place)
        ids, order = torch.as_tensor(stored["ids"]), stored["order"].tolist()
        place = os.path.join(folder, "repeated.npz")
        if not os.path.exists(place):
            said(f"{name}: {periods[0]} texts of {periods[1]} random tokens, twice")
            save(place, **of_repeated(model, *periods, seed), period=np.array(periods[1]))
        place = os.path.join(folder, "moved.npz")
        if not os.path.exists(place):
            tokens = REFERENCE if REFERENCE in plan else max(plan)
            said(f"{name}: what moves through all layers, {tokens} tokens")
            save(place, stack=np.stack([moved_through(model, text[:tokens]) for text in ids[: min(MOVED, plan[tokens])]]), tokens=np.array(tokens))
    work = sorted((k, tokens) for tokens, count in plan.items() for k in range(count))  # text by text: a stopped run has all lengths
    for done, (k, tokens) in enumerate(work):
        place = os.path.join(folder, f"{tokens}-{k}.npz")
        if not os.path.exists(place):
            kinds = [kind for kind in KINDS if tokens <= {"permuted": controls, "cut": controls, "contribution": contribution}.get(kind, tokens)]
            numbers = of_text(model, ids[k] if given else ids[k][:tokens], kinds, seed + 1000 * k + tokens)
            save(place, **numbers, source=np.array(order[k]))
            said(f"{name}: text {k}, {tokens} tokens; {done + 1} of {len(work)}")


def keep_settings(path, settings):
    """Settings of an earlier run must be the same: numbers of different runs do not mix."""
    text = json.dumps(settings, indent=1)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                raise InputError(f"{path}: the folder holds a run with other settings; name another folder with --out, or remove this one")
        return
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
