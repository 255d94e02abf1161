"""Every quantity that the program describes has a definition in the docs, and every array of a result is described."""

import json
import pathlib
import re

import numpy as np
import pytest

import synergraph as sg
from test_docs import anchors

THEORY = pathlib.Path(__file__).resolve().parents[2] / "docs" / "theory.md"


@pytest.fixture
def rows(program):
    return json.loads(program("schema", "quantities"))["quantities"]


def test_definitions_are_in_the_docs(rows):
    known = anchors(THEORY.read_text())
    missing = [row["key"] for row in rows if row["definition"].removeprefix("theory.md#") not in known]
    assert not missing


def test_keys_and_labels_are_unique(rows):
    assert len({row["key"] for row in rows}) == len(rows)
    assert len({row["label"] for row in rows}) == len(rows)


def test_arrays_of_a_result_are_described(rows):
    keys = {row["key"] for row in rows}
    attention = np.tril(np.ones((2, 3, 2, 5, 5)))
    attention /= attention.sum(-1, keepdims=True)
    result = sg.measure(attention, per_head=True, per_node=True, backward=True, eps=[0.25, 0.1])
    named = {re.sub(r"(mixing_time|_tv)_[0-9.]+$", r"\1_EPS", name.rsplit("/", 1)[-1]) for name in result}
    assert "averaged_mixing_time_tv_EPS" in named
    assert named and named <= keys
