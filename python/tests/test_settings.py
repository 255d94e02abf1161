"""Every face takes the settings that the program describes, and no others."""

import inspect
import json
import pathlib
import re

import numpy as np
import pytest

import synergraph as sg
from synergraph import _library
from synergraph._settings import SETTINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]

# By the schema: the functions that take its settings, with those that each leaves out.
READING = {"axes", "layers", "lengths", "padding", "sink"}
ROWS = {"row_tolerance", "missing_mass"}
FACES = {
    "ablate": {sg.ablate: set()},
    "compare": {sg.compare: set()},
    "design": {sg.design: set()},
    "families": {sg.families: set()},
    "graph": {sg.Graph.measure: set(), sg.Mixer: set()},
    "heads": {sg.heads: set(), sg.Model.value_heads: READING | ROWS, sg.Watch.heads: READING},
    "measure": {sg.measure: set(), sg.Model.measure: READING | ROWS, sg.Watch.result: READING},
    "model_attention": {sg.Model.measure: set(), sg.Model.value_heads: set()},
    "model_open": {sg.load_model: set()},
    "reproduce": {sg.reproduce: set()},
    "train": {sg.train: set()},
    "write_page": {sg.Measurement.page: set(), sg.HeadValues.page: set()},
}
WITHIN = {"attention_stack", "attention_create", "attention_open", "system"}  # functions make these calls for others
COMMANDS = {"measure": "analyze"}
NOT_COMMANDS = {"ablate", "agreement", "attention_stack", "attention_create", "attention_open", "gradient", "model_open", "model_attention", "system", "system_curves", "system_steps", "write_page"}
# The same key has another meaning in these commands, so it has another description.
TWO_MEANINGS = {
    "directory", "file", "heads", "horizon", "in", "json", "layers", "out", "precision", "samples", "seed", "steps", "task", "weights", "csv", "eps", "step_limit",
    "exact_heads", "loss", "orders", "tokens", "device", "memory", "verbose", "nodes", "edges", "sinks", "graphs", "gallery",
}


@pytest.fixture(scope="module")
def schemas(program):
    names = json.loads(program("schema", "schema"))["properties"]["name"]["enum"]
    every = {name: json.loads(program("schema", name)) for name in names}
    return {name: one["properties"] for name, one in every.items() if one.get("title", "").startswith("settings of ")}


def offered(settings, face):
    return {key: setting for key, setting in settings.items() if face in setting["faces"]}


def refusal(call, directory):
    """What the C interface says of a key that it does not know: it lists those that it does."""
    options = _library.encoded({"no such key": 1})
    graph = sg.Graph.example(1)
    with pytest.raises(sg.UsageError) as error:
        if call in ("train", "reproduce"):
            out = _library.path_bytes(directory / "run", "out")
            if call == "train":
                _library.run_text("sg_train", (out, options, None, None))
            else:
                _library.run_made("result", "sg_reproduce", (out, options))
        elif call == "compare":
            _library.make("result", "sg_compare", options, b"", b"")
        elif call == "write_page":
            _library.text("sg_write_page", b"nowhere.html", options, b'{"schema": "synergraph.heads"}', None, None)
        elif call == "graph":
            _library.run_made("result", "sg_graph_measure", (graph._handle.pointer, options), keep=graph)
        elif call == "attention_create":
            _library.make("attention", "sg_attention_create", options)
        elif call in ("attention_open", "model_open"):
            _library.make(call.split("_")[0], f"sg_{call}", b"nowhere", options)
        else:
            graph.as_attention().run(f"sg_{call}", {"no such key": 1}, threads=None, memory=None, progress=None)
    return set(re.search(r"is not one of (.*)", str(error.value))[1].split(", "))


@pytest.mark.parametrize("call", ["attention_create", "attention_open", "compare", "graph", "heads", "measure", "model_open", "reproduce", "train", "write_page"])
def test_the_c_interface_takes_them(call, schemas, tmp_path):
    assert refusal(call, tmp_path) == set(offered(schemas[call], "c"))


def test_python_takes_them(schemas):
    assert {name for name, settings in schemas.items() if offered(settings, "python")} - WITHIN == set(FACES)
    for call, functions in FACES.items():
        settings = offered(schemas[call], "python")
        assert list(SETTINGS.get(call, settings)) == list(settings)
        for function, without in functions.items():
            names = list(inspect.signature(function).parameters)
            missing = set(settings) - set(names) - without
            assert not missing, (function, missing)


def test_functions_explain_them(schemas):
    for function, call in ((sg.measure, "measure"), (sg.heads, "heads"), (sg.train, "train"), (sg.reproduce, "reproduce"), (sg.compare, "compare"), (sg.families, "families")):
        words = " ".join(inspect.getdoc(function).split())
        assert "(settings)" not in words
        for key in offered(schemas[call], "python"):
            assert key == "convention" or f"`{key}`" in words, (function, key)


def option_of(key, setting):
    return setting.get("option", f"--{key.replace('_', '-')}")


def test_the_program_takes_them_and_no_others(schemas, program):
    for call, settings in schemas.items():
        if call in NOT_COMMANDS:
            continue
        page = program(COMMANDS.get(call, call), "--help")
        words = " ".join(page.split())
        for key, setting in offered(settings, "program").items():
            assert setting.get("argument", option_of(key, setting)) in words, (call, key)
            assert setting["description"] in words, (call, key)
        shown = set(re.findall(r"^ +(?:-\w,)?--([a-z][a-z0-9-]*)", page, re.MULTILINE))
        assert shown - {option_of(key, setting)[2:] for key, setting in offered(settings, "program").items()} <= {"help"}, call


def test_an_option_is_described_in_the_same_words_everywhere(schemas):
    words = {}
    for call, settings in schemas.items():
        for key, setting in settings.items():
            words.setdefault(key, {}).setdefault(setting["description"], []).append(call)
    different = {key for key, texts in words.items() if len(texts) > 1}
    assert different <= TWO_MEANINGS, different - TWO_MEANINGS


def test_no_face_declares_an_option_by_hand():
    """Options are made where descriptions are visited: cli/setting_option.* and capi/take_settings.*."""
    by_hand = re.compile(r"\badd_(?:option|flag|number)\w*\(|\b(?:given|options)_?\.take\(|\bhelp_of_\w+\(")
    allowed = {"cli/setting_option.h", "cli/setting_option.cpp", "cli/number_option.h", "capi/take_settings.h", "capi/options.h", "capi/options.cpp"}
    if not (ROOT / "cli").is_dir():
        pytest.skip("the sources are not here")
    for folder in ("cli", "capi"):
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in (".h", ".cpp") and f"{folder}/{path.name}" not in allowed:
                assert not by_hand.search(path.read_text()), path


@pytest.mark.parametrize("call", ["graph", "heads", "measure"])
def test_defaults_are_what_is_used(call, schemas):
    given = {key: setting["default"] for key, setting in schemas[call].items()
             if "default" in setting and {"c", "python"} <= set(setting["faces"])}
    heads = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.5, 0.25]], [[1, 0, 0], [1, 0, 0], [0, 1, 0]]])
    if call == "graph":
        assert sg.Graph.example(1).measure(**given).to_json() == sg.Graph.example(1).measure().to_json()
    else:
        assert getattr(sg, call)(heads, **given).to_json() == getattr(sg, call)(heads).to_json()


def test_errors_spell_options_as_their_door_does(program_error, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.tril(np.full((1, 3, 3), 0.5)))
    with pytest.raises(sg.InputError, match=r"[^-]row_tolerance allows more; missing_mass node"):
        sg.measure(path)
    assert re.search(r" --row-tolerance allows more; --missing-mass node", program_error("analyze", path))
    with pytest.raises(sg.UsageError, match=r"^axes: 'time' is no axis"):
        sg.measure(path, axes="time")
    assert "synergraph: --axes: 'time' is no axis" in program_error("analyze", path, "--axes", "time")


def test_documents_say_the_step_limit():
    chain = sg.Graph().add_generated("chain:40")
    limited = chain.measure(step_limit=3).to_dict()["settings"]
    assert limited["step_limit"] == 3
    assert chain.measure().to_dict()["settings"]["step_limit"] == 0
