"""`python -m synergraph` is the program."""

import os
import pathlib
import subprocess
import sys

import pytest


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "synergraph", *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def test_arguments_output_and_exit_status_are_the_programs(program):
    assert run("graph", "--example", "1").stdout == program("graph", "--example", "1")
    wrong = run("analyze", "no such file.npy")
    assert wrong.returncode == 1 and "no such file.npy" in wrong.stderr and "Traceback" not in wrong.stderr
    assert run("--no-such-option").returncode == 2


@pytest.mark.parametrize("path, why", [("", "without the program"), ("/nowhere/synergraph", "cannot be run: No such file")])
def test_what_is_missing_is_said(path, why):
    if not path:
        import synergraph_program

        if (pathlib.Path(synergraph_program.__file__).parent / "synergraph" / synergraph_program.PROGRAM).exists():
            pytest.skip("this package has the program")
    missing = run("--version", SYNERGRAPH_CLI=path)
    assert missing.returncode == 1 and why in missing.stderr and "Traceback" not in missing.stderr
