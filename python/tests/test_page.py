"""Pages of results from Python: the document, attention, and names of tokens."""

import json
import pickle
import re

import numpy as np
import pytest

import synergraph as sg
from conftest import random_attention


def content(path):
    """What a page holds, but for its arrays."""
    text = path.read_text()
    found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.DOTALL)
    return text if found is None else found[1]


def labels_in(path):
    return [json.loads(one) for one in re.findall(r'"labels": (\[[^\]]*\]|null)', content(path))]


def test_a_page_has_the_document_attention_and_tokens(tmp_path, attention):
    result = sg.measure(attention, per_head=True)
    path = tmp_path / "page.html"
    names = [[f"s{sample}t{token}" for token in range(12)] for sample in range(3)]
    result.page(path, tokens=names, title="my page")
    assert "synergraph.analyze" in content(path) and "my page" in path.read_text()
    assert [one for one in labels_in(path) if one] == names
    result.page(path, tokens=names[0])
    assert [one for one in labels_in(path) if one] == names[:1]
    with pytest.warns(UserWarning, match=r"1 of 3 samples \(page_samples says"):
        result.page(path, page_samples=1)
    assert not any(labels_in(path))
    heads = sg.heads(attention[:, :1])
    with pytest.raises(sg.InputError, match="no longer in memory"):
        heads.page(path)  # attention[:, :1] is an array of its own that nobody keeps
    kept = attention[:, :1]
    sg.heads(kept).page(path, tokens=names[0])
    assert "synergraph.heads" in content(path)


def test_the_program_writes_the_same_page(tmp_path, program, attention):
    np.save(tmp_path / "attention.npy", attention)
    (tmp_path / "tokens.json").write_text(json.dumps([str(k) for k in range(12)]))
    program("analyze", tmp_path / "attention.npy", "--per-head", "--quiet", "--page", tmp_path / "a.html", "--page-tokens", tmp_path / "tokens.json")
    sg.measure(tmp_path / "attention.npy", per_head=True).page(tmp_path / "b.html", [str(k) for k in range(12)], title="attention.npy")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_where_the_attention_is(tmp_path, attention, checkpoint):
    path = tmp_path / "page.html"
    result = sg.measure([one.copy() for one in attention])
    with pytest.raises(sg.InputError, match="pass them again"):
        result.page(path)
    assert not path.exists()
    result.page(path, attention=attention)
    again = pickle.loads(pickle.dumps(result))
    with pytest.raises(sg.InputError, match="unpickled"):
        again.page(path)
    path.unlink()
    sg.load_model(checkpoint).measure(task="copy", samples=2).page(path)
    assert path.exists()


def test_a_page_neither_mixes_results_nor_replaces_its_input(tmp_path, attention):
    result = sg.measure(attention)
    with pytest.raises(sg.InputError, match="1 layer, but 2 were measured"):
        result.page(tmp_path / "page.html", attention=attention[:1])
    with pytest.raises(sg.InputError, match="layer 0: 2 heads of 12 tokens, but 4 of 12 were measured"):
        result.page(tmp_path / "page.html", attention=attention[:, :, :2])
    np.save(tmp_path / "attention.npy", attention)
    (tmp_path / "link.html").symlink_to("attention.npy")
    of_file = sg.measure(tmp_path / "attention.npy")
    before = (tmp_path / "attention.npy").read_bytes()
    for target in ("attention.npy", "link.html"):
        with pytest.raises(sg.UsageError, match="would overwrite"):
            of_file.page(tmp_path / target)
        with pytest.raises(sg.UsageError, match="would overwrite"):
            result.page(tmp_path / target, attention=tmp_path / "attention.npy")
    assert (tmp_path / "attention.npy").read_bytes() == before
    result.page(tmp_path / "page.html", tokens=["half \ud800", *"bcdefghijkl"])
    assert labels_in(tmp_path / "page.html")[0][0] == "half \ufffd"


def test_samples_of_different_lengths(tmp_path):
    texts = [random_attention(2, n, n, seed=n) for n in (5, 8)]
    result = sg.measure(texts, axes="sample head query key")
    path = tmp_path / "page.html"
    with pytest.warns(UserWarning, match="different lengths"):
        result.page(path, [list("abcde"), list("abcdefgh")])
    sinks = random_attention(2, 2, 6, 6)
    with pytest.warns(UserWarning, match="different lengths"):
        sg.measure(sinks, sink=[2, 5]).page(path, [list("abcdef"), list("ghijkl")])
    assert path.exists()


@pytest.mark.parametrize("tokens, why", [
    ("abc", "a list of names"), (7, "a list of names"), ([1, 2], "names"), ([["a", 1]], "name of a token"), (["a"], "1 names for 12 tokens"),
    ([["a"] * 12] * 2, "2 lists of names for 3 samples"), ([["a"] * 13] * 3, "13 names for 12"),
])
def test_tokens_that_do_not_fit(tmp_path, attention, tokens, why):
    result = sg.measure(attention)
    with pytest.raises((sg.InputError, sg.OptionError), match=why):
        result.page(tmp_path / "page.html", tokens=tokens)
    assert not list(tmp_path.glob("*.html"))


def test_edges_that_a_page_does_not_show(tmp_path):
    attention = random_attention(2, 2, 6, 6)
    moved = {"values": np.ones((2, 2, 6, 3)), "out_proj": np.ones((4, 6))}
    result = sg.measure(attention, edges="norm", moved=moved)
    with pytest.raises(sg.UsageError, match="without edges"):
        result.page(tmp_path / "page.html")


class Tokenizer:
    """As those of transformers are called."""

    def convert_ids_to_tokens(self, ids):
        return [f"\u0120w{one}" if one else "<pad>" for one in ids]


def test_tokens_of_a_watched_model(tmp_path):
    torch = pytest.importorskip("torch")
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(9, 8)
            self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, input_ids, padding=None):
            x = self.embed(input_ids)
            later = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
            return self.attention(x, x, x, attn_mask=later, key_padding_mask=padding)[0]

    model, ids = Model(), torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
    with torch.no_grad(), sg.watch(model, tokenizer=Tokenizer(), samples=[0, 1, 3]) as seen:
        model(ids)
        model(input_ids=ids.flip(0))
    names = [[f" w{one}" for one in row] for row in ([1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4])]
    assert seen.tokens == names
    path = tmp_path / "page.html"
    seen.result().page(path)
    assert [one for one in labels_in(path) if one] == names
    model.tokenizer = Tokenizer()  # found on the model
    padded = torch.tensor([[0, 0, 3, 4], [5, 6, 7, 8]])
    with torch.no_grad(), sg.watch(model) as seen:
        model(padded, padding=padded == 0)
    assert seen.tokens == [[" w3", " w4"], [f" w{one}" for one in (5, 6, 7, 8)]]
    result = seen.result()
    with pytest.warns(UserWarning, match="different lengths"):
        result.page(path)
    del seen
    with pytest.raises(sg.InputError, match="watch is gone"):
        result.page(path)


def test_names_by_tokenizers_of_all_kinds():
    from synergraph._live.texts import names_of

    class OfTokenizers:
        def id_to_token(self, one):
            return {0: "\u2581a", 1: "\u010a"}.get(one)

    class OfTiktoken:
        def decode(self, ids):
            return {0: " a", 1: "\n"}[ids[0]]

    assert names_of(OfTokenizers(), [0, 1, 2]) == [" a", "\\n", ""]
    assert names_of(OfTiktoken(), [0, 1, 2]) == [" a", "\n", ""]
    assert names_of(lambda ids: [f"t{one}" for one in ids], [3]) == ["t3"]
