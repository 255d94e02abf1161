"""The schemas of documents are schemas, and they notice a field more or less."""

import copy
import json

import numpy as np
import pytest

import schemas
import synergraph as sg

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def known(program):
    return schemas.load()


def test_schemas_are_schemas(program):
    for name in json.loads(program("schema", "documents"))["documents"]:
        schema = json.loads(program("schema", name))
        assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]
        jsonschema.Draft202012Validator.check_schema(schema)


def places(node, found=()):
    """The paths of all objects in a document."""
    if isinstance(node, dict):
        yield found
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(value, (*found, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def test_every_object_is_closed(known, attention):
    document = sg.heads(attention[:1, :1], stack=True).to_dict()
    known.check("synergraph.heads", document)
    for path in list(places(document)):
        changed = copy.deepcopy(document)
        at(changed, path)["another"] = 1
        with pytest.raises(AssertionError, match="another"):
            known.check("synergraph.heads", changed)


def test_every_number_of_a_summary_is_there(known, attention):
    document = sg.measure(attention).to_dict()
    summary = document["conventions"][0]["layers"][0]["combined"]["minimax_fidelity"]
    for key in list(summary):
        value = summary.pop(key)
        with pytest.raises(AssertionError, match=key):
            known.check("synergraph.analyze", document)
        summary[key] = value


def test_answers_of_the_library_are_described(described, attention, checkpoint, tmp_path):
    """conftest.py holds every answer against its schema."""
    mixer = sg.Mixer(attention[0, 0])
    mixer.subsets()
    mixer.best_weights()
    mixer.update([1, 2, 3, 4]).to_json()
    sg.heads(attention).to_json()
    sg.measure(attention).to_json()
    sg.load_model(checkpoint)
    sg.train(tmp_path / "run", task="copy", heads=2, layers=2, width=8, hidden=8, vocabulary=9, length=6, epochs=1, sequences=50)
    assert described.seen >= {"synergraph.heads", "synergraph.analyze", "synergraph.graph", "sg_mixer_subsets", "sg_mixer_best_weights",
                              "sg_model_json", "sg_train", "run.json", "metrics.jsonl"}
