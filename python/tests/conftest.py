"""What tests share: random attention, and the program whose documents the package must give."""

import os
import subprocess

import numpy as np
import pytest

import schemas
from synergraph import _library


def random_attention(*shape, seed=0, scale=2.0):
    """Causal softmax rows, (..., n, n)."""
    values = np.tril(np.exp(scale * np.random.default_rng(seed).normal(size=shape)))
    return values / values.sum(axis=-1, keepdims=True)


@pytest.fixture
def attention():
    """(layers, samples, heads, n, n) in float32."""
    return random_attention(2, 3, 4, 12, 12).astype(np.float32)


@pytest.fixture(scope="session")
def program():
    """Runs the program and returns what it prints."""
    path = os.environ.get("SYNERGRAPH_CLI")
    if not path:
        pytest.skip("SYNERGRAPH_CLI does not name the program")

    def run(*arguments):
        return subprocess.run([path, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="session")
def program_error():
    """Runs the program, which must fail, and returns what it says."""
    path = os.environ.get("SYNERGRAPH_CLI")
    if not path:
        pytest.skip("SYNERGRAPH_CLI does not name the program")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode != 0
        return done.stderr

    return run


@pytest.fixture
def document(program, tmp_path):
    """The document of a command ("analyze", "heads") for an array."""

    def run(command, array, *options):
        np.save(tmp_path / "attention.npy", array)
        return program(command, tmp_path / "attention.npy", "--json", "-", "--quiet", *options)

    return run


@pytest.fixture(scope="session")
def checkpoint(program, tmp_path_factory):
    """A small model."""
    folder = tmp_path_factory.mktemp("run")
    program("train", "--task", "copy", "--heads", 2, "--layers", 2, "--width", 8, "--hidden", 8, "--vocabulary", 9, "--length", 6,
            "--epochs", 1, "--sequences", 50, "--device", "cpu", "--quiet", "--out", folder)
    return folder / "model.safetensors"


@pytest.fixture(scope="session", autouse=True)
def described():
    """Holds every document that the library gives against its schema."""
    known = schemas.load()
    if known is None:
        yield None
        return
    text, run_text = _library.text, _library.run_text

    def checked_text(function, *arguments):
        answer = text(function, *arguments)
        known.check_answer(function, answer, arguments)
        return answer

    def checked_run_text(function, arguments, **options):
        answer = run_text(function, arguments, **options)
        known.check_answer(function, answer, arguments)
        return answer

    _library.text, _library.run_text = checked_text, checked_run_text
    yield known
    _library.text, _library.run_text = text, run_text
