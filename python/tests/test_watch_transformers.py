"""Watching models of transformers, where that is installed: randomly initialised ones against their own eager attention, and a real
one, which the environment's SYNERGRAPH_STORIES names (stories260K of llama2.c).

On the GPU, if there is one, too. `python/tests/gpu_watch.sh` runs these and the benchmark.
"""

import os
import struct

import numpy as np
import pytest

import synergraph as sg

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
SIZES = {"vocab_size": 96, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 8,
         "num_key_value_heads": 2, "max_position_embeddings": 128}


def configuration(kind):
    if kind == "gpt2":
        return transformers.GPT2Config(vocab_size=96, n_embd=64, n_layer=3, n_head=8, n_positions=128)
    if kind == "gpt2 inverse":
        return transformers.GPT2Config(vocab_size=96, n_embd=64, n_layer=3, n_head=8, n_positions=128, scale_attn_by_inverse_layer_idx=True)
    if kind == "llama":
        return transformers.LlamaConfig(**SIZES)
    if kind == "qwen2":
        return transformers.Qwen2Config(**SIZES)
    if kind == "mistral":
        return transformers.MistralConfig(**SIZES, sliding_window=7)
    if kind == "gemma2":
        return transformers.Gemma2Config(**SIZES, head_dim=16, sliding_window=7, attn_logit_softcapping=2.0)
    if kind == "gpt-oss":
        return transformers.GptOssConfig(**SIZES, head_dim=16, sliding_window=7, num_local_experts=4, num_experts_per_tok=2)
    raise ValueError(kind)


KINDS = ["gpt2", "gpt2 inverse", "llama", "qwen2", "mistral", "gemma2", "gpt-oss"]


def make(kind, implementation=None, dtype=torch.float32, device="cpu"):
    if kind == "gpt-oss" and not hasattr(transformers, "GptOssConfig"):
        pytest.skip("this transformers has no GPT-OSS")
    torch.manual_seed(0)
    if kind in ("gemma2", "gpt-oss") and implementation is None:
        implementation = "eager"  # others leave soft caps and sinks out
    options = {} if implementation is None else {"attn_implementation": implementation}
    model = transformers.AutoModelForCausalLM.from_config(configuration(kind), **options).eval()
    if kind == "gpt-oss" and hasattr(model, "set_experts_implementation"):  # of transformers 5: its default refuses float64
        model.set_experts_implementation("eager")
    with torch.no_grad():  # sharper attention than that of a new model
        for name, parameter in model.named_parameters():
            if any(part in name for part in ("q_proj.weight", "k_proj.weight", "c_attn.weight")):
                parameter.mul_(12)
            if name.endswith("sinks"):
                parameter.normal_()
    return model.to(device=device, dtype=dtype)


def eager_of(model, kind):
    other = make(kind, "eager", next(model.parameters()).dtype, next(model.parameters()).device)
    other.load_state_dict(model.state_dict())
    return other


def batch(device, padding):
    tokens = torch.randint(1, 96, (3, 24), generator=torch.Generator().manual_seed(1)).to(device)
    mask = torch.ones_like(tokens)
    spans = [(0, 24)] * 3
    if padding == "left":
        mask[1, :9] = mask[2, :1] = 0
        spans = [(0, 24), (9, 24), (1, 24)]
    if padding == "right":
        mask[1, 20:] = mask[2, 5:] = 0
        spans = [(0, 24), (0, 20), (0, 5)]
    return {"input_ids": tokens} if padding is None else {"input_ids": tokens, "attention_mask": mask}, spans


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("padding", [None, "left", "right"])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_eager_attention(kind, padding, device):
    model = make(kind, device=device)
    inputs, spans = batch(device, padding)
    with torch.no_grad():
        expected = model(**inputs).logits
        with sg.watch(model) as seen:
            logits = model(**inputs).logits
        attentions = eager_of(model, kind)(**inputs, output_attentions=True).attentions
    assert torch.equal(logits, expected)
    assert len(seen.layers) == len(attentions) == 3 and seen.refused == {}
    for layer, of_layer in enumerate(attentions):
        for sample, (begin, end) in enumerate(spans):
            # Scores of up to some tens in float32; kernels of different devices add in different orders.
            np.testing.assert_allclose(seen.attention(layer, sample), of_layer[sample, :, begin:end, begin:end].cpu(), rtol=1e-4, atol=2e-6)
    measured = seen.result()
    for sample, (begin, end) in enumerate(spans):
        alone = sg.measure([one[sample:sample + 1, :, begin:end, begin:end].cpu().contiguous() for one in attentions],
                           missing_mass="node" if kind == "gpt-oss" else None)
        np.testing.assert_allclose(measured.fidelity[:, sample], alone.fidelity[:, 0], rtol=1e-3)
    assert np.isfinite(seen.result(weights="learned").weights).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("implementation", ["eager", "sdpa", "flash_attention_2"])
@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral", "qwen2"])
def test_every_implementation(kind, implementation, device):
    dtype = torch.float32
    if implementation == "flash_attention_2":
        if device == "cpu" or not transformers.utils.is_flash_attn_2_available():
            pytest.skip("flash attention is not there")
        dtype = torch.bfloat16
    model = make(kind, implementation, dtype, device)
    inputs, spans = batch(device, "left")
    before = model.config._attn_implementation
    with torch.no_grad():
        expected = model(**inputs).logits
        with sg.watch(model) as seen:
            assert torch.equal(model(**inputs).logits, expected)
        attentions = eager_of(model, kind)(**inputs, output_attentions=True).attentions
    assert model.config._attn_implementation == before == implementation
    assert seen.layers[0].endswith(("self_attn", "attn")) and seen.refused == {}
    found = seen.attention(0, 1)
    np.testing.assert_allclose(found, attentions[0][1, :, 9:, 9:].float().cpu(), atol=2e-6 if dtype == torch.float32 else 2e-2)


def test_learned_weights():
    model = make("gpt2")
    with sg.watch(model) as seen, torch.no_grad():
        model(**batch("cpu", None)[0])
    columns = model.transformer.h[1].attn.c_proj.weight.detach().numpy().T  # outputs, inputs
    np.testing.assert_allclose(seen.learned_weights()[1], sg.learned_weights(np.ascontiguousarray(columns), 8), rtol=1e-6)
    model = make("llama")
    with sg.watch(model) as seen, torch.no_grad():
        model(**batch("cpu", None)[0])
    expected = sg.learned_weights(model.model.layers[2].self_attn.o_proj.weight.detach(), 8)
    np.testing.assert_allclose(seen.learned_weights()[2], expected, rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_generation(kind, device):
    model = make(kind, device=device)
    inputs, _ = batch(device, "left")
    options = {"max_new_tokens": 8, "min_new_tokens": 8, "do_sample": False, "pad_token_id": 0}
    expected = model.generate(**inputs, **options)
    with sg.watch(model) as seen:
        text = model.generate(**inputs, **options)
    assert torch.equal(text, expected)
    mask = torch.cat([inputs["attention_mask"], torch.ones_like(text[:, 24:])], 1)[:, :-1]
    with torch.no_grad():
        places = (mask.cumsum(-1) - 1).clamp(min=0)
        attentions = eager_of(model, kind)(input_ids=text[:, :-1], attention_mask=mask, position_ids=places,
                                           output_attentions=True).attentions
    for sample, begin in enumerate((0, 9, 1)):
        np.testing.assert_allclose(seen.attention(1, sample), attentions[1][sample, :, begin:, begin:].cpu(), rtol=1e-3, atol=1e-5)


def test_encoders_are_refused():
    model = transformers.BertModel(transformers.BertConfig(
        vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32)).eval()
    with sg.watch(model) as seen, torch.no_grad():
        model(**batch("cpu", "right")[0])
    with pytest.raises(sg.InputError, match="encoder|no attention was seen"):
        seen.result()


def test_gpt_oss_with_sdpa_is_measured_as_it_is_run():
    model = make("gpt-oss")
    model.config._attn_implementation = "sdpa"
    with sg.watch(model) as seen, torch.no_grad(), pytest.warns(UserWarning, match="learned sink logits"):
        model(**batch("cpu", None)[0])
    np.testing.assert_allclose(seen.attention(0).sum(-1), 1, rtol=1e-5)


def test_training_with_checkpoints():
    model = make("llama").train()
    model.gradient_checkpointing_enable()
    with sg.watch(model) as seen:
        model(**batch("cpu", None)[0], labels=batch("cpu", None)[0]["input_ids"]).loss.backward()
    assert seen.result().fidelity.shape == (3, 3)


def test_compiled_models_are_refused():
    with pytest.raises(sg.UsageError, match="compiled"):
        sg.watch(torch.compile(make("llama")))


@pytest.mark.parametrize("device", DEVICES)
def test_bfloat16_and_autocast(device):
    model = make("llama", dtype=torch.bfloat16, device=device)
    inputs, _ = batch(device, "left")
    with torch.no_grad(), sg.watch(model) as seen:
        model(**inputs)
    kept = seen._recorder.layers[seen.layers[0]].samples[0]
    assert kept.queries.dtype == torch.bfloat16 and kept.queries.device.type == "cpu"
    assert np.isfinite(seen.result().fidelity).all()
    model = make("llama", device=device)
    with torch.no_grad(), sg.watch(model) as seen, torch.autocast(device, dtype=torch.bfloat16):
        logits = model(**inputs).logits
    with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16):
        assert torch.equal(logits, model(**inputs).logits)
    assert np.isfinite(seen.result().fidelity).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_memory_of_the_gpu():
    model = make("llama", dtype=torch.bfloat16, device="cuda")
    heads = torch.randn(1, 32, 4096, 128, device="cuda", dtype=torch.bfloat16)
    del model
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    seen = sg.watch(heads=[0, 17])
    seen.record("one", heads, heads)
    seen.result()
    assert torch.cuda.max_memory_allocated() - before < 256 << 20


def stories(path):
    """The model of a llama2.c file, as a Llama model."""
    with open(path, "rb") as file:
        data = file.read()
    dim, hidden, layers, heads, kv_heads, vocab, seq = struct.unpack("<7i", data[:28])
    vocab = abs(vocab)
    values = torch.from_numpy(np.frombuffer(data, dtype="<f4", offset=28).copy())
    width = dim // heads
    at = 0

    def take(*shape):
        nonlocal at
        count = int(np.prod(shape))
        at += count
        return values[at - count:at].view(*shape)

    embedding, rms_att = take(vocab, dim), take(layers, dim)
    wq, wk, wv, wo = take(layers, dim, dim), take(layers, kv_heads * width, dim), take(layers, kv_heads * width, dim), take(layers, dim, dim)
    rms_ffn = take(layers, dim)
    w1, w2, w3 = take(layers, hidden, dim), take(layers, dim, hidden), take(layers, hidden, dim)
    rms_final = take(dim)

    def halves(matrix, count):
        """Pairs of neighbours, which the file rotates, as the two halves of a head, which transformers rotates."""
        return matrix.view(count, width // 2, 2, dim).transpose(1, 2).reshape(count * width, dim)

    config = transformers.LlamaConfig(
        vocab_size=vocab, hidden_size=dim, intermediate_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=kv_heads, max_position_embeddings=seq, rms_norm_eps=1e-5, tie_word_embeddings=True)
    model = transformers.LlamaForCausalLM(config).eval()
    state = {"model.embed_tokens.weight": embedding, "lm_head.weight": embedding, "model.norm.weight": rms_final}
    for layer in range(layers):
        name = f"model.layers.{layer}."
        state.update({
            name + "self_attn.q_proj.weight": halves(wq[layer], heads), name + "self_attn.k_proj.weight": halves(wk[layer], kv_heads),
            name + "self_attn.v_proj.weight": wv[layer], name + "self_attn.o_proj.weight": wo[layer],
            name + "mlp.gate_proj.weight": w1[layer], name + "mlp.down_proj.weight": w2[layer], name + "mlp.up_proj.weight": w3[layer],
            name + "input_layernorm.weight": rms_att[layer], name + "post_attention_layernorm.weight": rms_ffn[layer]})
    model.load_state_dict(state)
    return model


@pytest.mark.parametrize("device", DEVICES)
def test_a_real_model(device):
    path = os.environ.get("SYNERGRAPH_STORIES")
    if not path:
        pytest.skip("SYNERGRAPH_STORIES does not name the model")
    model = stories(path).to(device)
    with torch.no_grad():
        text = model.generate(torch.tensor([[1]], device=device), max_new_tokens=120, min_new_tokens=120, do_sample=False, pad_token_id=0)
        expected = model(text).logits
        with sg.watch(model) as seen:
            assert torch.equal(model(text).logits, expected)
        model.set_attn_implementation("eager") if hasattr(model, "set_attn_implementation") else setattr(
            model.config, "_attn_implementation", "eager")
        attentions = model(text, output_attentions=True).attentions
    # It has learned English: what it writes is likely to itself.
    likely = torch.log_softmax(expected[0, :-1], -1).gather(1, text[0, 1:, None]).mean()
    assert likely > -2
    for layer, of_layer in enumerate(attentions):
        np.testing.assert_allclose(seen.attention(layer), of_layer[0].cpu(), rtol=1e-4, atol=2e-6)
    measured = seen.result(weights="learned")
    assert measured.fidelity.shape == (len(attentions), 1) and (measured.fidelity > 0).all()
    print(measured)


def normed_configuration(kind):
    """Models that normalise what the heads bring before they add it."""
    if kind == "gemma2":
        return configuration("gemma2")
    if kind == "gemma3" and hasattr(transformers, "Gemma3TextConfig"):
        return transformers.Gemma3TextConfig(**SIZES, head_dim=16, sliding_window=7)
    if kind == "olmo2" and hasattr(transformers, "Olmo2Config"):
        return transformers.Olmo2Config(**SIZES)
    pytest.skip(f"this transformers has no {kind}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["gemma2", "gemma3", "olmo2"])
def test_norms_behind_the_heads(kind, device):
    """Contribution edges by their definition, with y = residual + norm(heads) and the norm linear at what it was given."""
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(normed_configuration(kind), attn_implementation="eager").eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "post_attention_layernorm" in name:
                parameter.uniform_(0.5, 1.5)
    model = model.to(device=device, dtype=torch.float64)
    tokens = torch.randint(0, 96, (2, 12), device=device)
    for number, layer in enumerate(model.model.layers):
        attention, norm = layer.self_attn, layer.post_attention_layernorm
        kept = {}
        hooks = [layer.register_forward_pre_hook(lambda _, given, options: kept.update(x=(*given, *options.values())[0]), with_kwargs=True),
                 attention.v_proj.register_forward_hook(lambda *call: kept.update(v=call[2])),
                 attention.o_proj.register_forward_hook(lambda *call: kept.update(out=call[2])),
                 norm.register_forward_hook(lambda *call: kept.update(normed=call[2]))]
        with sg.watch(model, layers=number, values=True) as seen, torch.no_grad():
            model(tokens, use_cache=False)
        for hook in hooks:
            hook.remove()
        stack = seen.heads(edges="contribution", stack=True, values="fidelity").stack
        means = []
        for sample in range(2):
            x, out, normed = (kept[name][sample].double() for name in ("x", "out", "normed"))
            values = kept["v"][sample].view(12, 2, -1).transpose(0, 1).repeat_interleave(4, 0)
            blocks = attention.o_proj.weight.view(64, 8, -1)
            weights = torch.as_tensor(seen.attention(0, sample), device=device).double()
            parts = torch.einsum("hj,hjd,ehd->hje", weights[:, -1], values, blocks)  # to the last token
            assert torch.allclose(parts.sum((0, 1)), out[-1], rtol=1e-5, atol=1e-8)
            parts = parts * (normed[-1] / out[-1])
            y = x[-1] + normed[-1]
            edges = (y.abs().sum() - (y - parts).abs().sum(-1)).clamp(min=0).sum(-1)
            beside = (y.abs().sum() - normed[-1].abs().sum()).clamp(min=0)
            means.append((edges / (edges.sum() + beside)).detach().cpu().numpy())
        np.testing.assert_allclose(stack["share_heads"][0], np.mean(means, 0), rtol=1e-4)
