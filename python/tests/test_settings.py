"""Every face takes the settings that the program describes, and no others."""

import inspect
import json
import re

import numpy as np
import pytest

import synergraph as sg
from synergraph import _library
from synergraph._settings import SETTINGS

FACES = {
    "graph": [sg.Graph.measure],
    "heads": [sg.heads, sg.Model.value_heads, sg.Watch.heads],
    "measure": [sg.measure, sg.Model.measure, sg.Watch.result],
}
# Keys of the C interface that say what is kept, not how it is measured.
OWN = {"graph": {"weights"}, "heads": set(), "measure": {"per_head", "per_node"}}
COMMANDS = {"graph": "graph", "heads": "heads", "measure": "analyze"}


@pytest.fixture(params=sorted(FACES))
def call(request):
    return request.param


@pytest.fixture
def schema(call, program):
    return json.loads(program("schema", call))["properties"]


def refusal(call):
    """What the C interface says of a key that it does not know: it lists those that it does."""
    heads = np.eye(3)[np.newaxis]
    graph = sg.Graph.example(1)
    with pytest.raises(sg.UsageError) as error:
        options = _library.encoded({"no such key": 1})
        if call == "graph":
            _library.run_made("result", "sg_graph_measure", (graph._handle.pointer, options), keep=graph)
        else:
            from synergraph._measure import open_attention

            attention = open_attention(heads, axes=None, layers=None, lengths=None, padding="right", sink=None,
                                       row_tolerance=None, missing_mass=None)
            attention.run(f"sg_{call}", {"no such key": 1}, threads=None, memory=None, progress=None)
    return set(re.search(r"is not one of (.*)", str(error.value))[1].split(", "))


def test_the_c_interface_takes_them(call, schema):
    assert refusal(call) == set(schema) | OWN[call]


def test_python_takes_them_in_their_order(call, schema):
    assert list(SETTINGS[call]) == list(schema)
    for face in FACES[call]:
        names = [name for name in inspect.signature(face).parameters if name in schema and name != "convention"]
        assert names == [key for key in schema if key != "convention"], face


def test_functions_explain_them(call, schema):
    for face in (sg.measure, sg.heads):
        if face in FACES[call]:
            words = " ".join(inspect.getdoc(face).split())
            assert "(settings)" not in words
            for key, setting in schema.items():
                assert key == "convention" or f"- `{key}`: {setting['description']}" in words


def test_the_program_takes_them(call, schema, program):
    words = " ".join(program(COMMANDS[call], "--help").split())
    for key, setting in schema.items():
        assert re.search(setting.get("option", f"--{key.replace('_', '-')}") + r"\b", words), key
        assert setting["description"] in words, key


def test_defaults_are_what_is_used(call, schema):
    given = {key: setting["default"] for key, setting in schema.items() if "default" in setting}
    heads = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.5, 0.25]], [[1, 0, 0], [1, 0, 0], [0, 1, 0]]])
    if call == "graph":
        assert sg.Graph.example(1).measure(**given).to_json() == sg.Graph.example(1).measure().to_json()
    else:
        assert getattr(sg, call)(heads, **given).to_json() == getattr(sg, call)(heads).to_json()


def test_documents_say_the_step_limit():
    chain = sg.Graph().add_generated("chain:40")
    limited = chain.measure(step_limit=3).to_dict()["settings"]
    assert limited["step_limit"] == 3
    assert chain.measure().to_dict()["settings"]["step_limit"] == 0
