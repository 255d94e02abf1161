"""The command `synergraph` of the wheel: the program, with its own arguments and exit status.

It stands beside the package: importing the package would load NumPy and the library first, and the program needs neither.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = "synergraph-program"


def program() -> str:
    """The program in the package, unless the environment's SYNERGRAPH_CLI names another one."""
    beside = Path(__file__).parent / "synergraph" / PROGRAM
    path = os.environ.get("SYNERGRAPH_CLI") or (str(beside) if beside.exists() else "")
    if not path:
        sys.exit("synergraph: this package was built around a library alone, without the program. Build both with pip install ., or name a "
                 "program in the environment's SYNERGRAPH_CLI")
    return path


def main() -> NoReturn:
    """Runs the program in place of this process: signals, standard streams and exit status are its own."""
    path = program()
    try:
        os.execv(path, ["synergraph", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"synergraph: {path} cannot be run: {error.strerror}")


if __name__ == "__main__":
    main()
