"""Compares the binary interface that a header declares with a stored one: check_abi.py COMPILER HEADER STORED [--update]

libabigail describes functions by debugging information, which the shared library has none of. So the header's functions are defined anew, with empty
bodies, and compiled with that information: what callers see is the same. capi.exports checks that the library exports these functions. Each constant
becomes the size of an array: a constant that changes changes a type.

Exit status 1: a program that was compiled for the stored interface would not run with this one. More functions are no such change. 77: abidiff is
missing.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

UPDATE = "python3 tests/capi/check_abi.py cc capi/synergraph.h tests/capi/abi.xml --update"


def definitions(header):
    """C that defines what the header declares."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    functions = re.findall(r"^SG_API ([^;{]*\));", text, re.MULTILINE)
    constants = [name for block in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", text) for name in re.findall(r"\b(SG_\w+)\b\s*=", block)]
    if len(functions) < 50 or len(constants) < 8:
        sys.exit(f"check_abi: found {len(functions)} functions and {len(constants)} constants; the header is written in another way than before")
    lines = ['#include "synergraph.h"', *(f"{function} {{ __builtin_trap(); }}" for function in functions)]
    return "\n".join(lines + [f"SG_API char value_of_{name}[({name}) + 1];" for name in constants]) + "\n"


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def main():
    compiler, header, stored = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if not shutil.which("abidiff") or not shutil.which("abidw"):
        print("abidiff is missing (scripts/setup.sh test)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        source, library, described = (pathlib.Path(folder) / name for name in ("interface.c", "libsynergraph.so", "abi.xml"))
        source.write_text(definitions(header.read_text()))
        compiled = run(compiler, "-std=c99", "-g", "-O0", "-shared", "-fPIC", "-w", "-Wl,-soname,libsynergraph.so", f"-I{header.parent}", source, "-o", library)
        if compiled.returncode:
            sys.exit(f"check_abi: {header} cannot be compiled: {compiled.stderr}")
        told = run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--type-id-style", "hash", library, "--out-file", described)
        if told.returncode:
            sys.exit(f"check_abi: abidw failed: {told.stdout}{told.stderr}")
        if sys.argv[4:] == ["--update"]:
            stored.write_text(re.sub(r" path='[^']*'", " path='interface.c'", described.read_text()))  # without this run's folder
            return 0
        compared = run("abidiff", "--no-added-syms", stored, library)
    if compared.returncode & 3:  # an error of the tool or of its use
        sys.exit(f"check_abi: abidiff failed: {compared.stdout}{compared.stderr}")
    if compared.returncode:
        print(compared.stdout)
        print(f"The interface of the last release and this one differ: programs that use it would break. Before version 1.0, and with a new major version, say "
              f"so in CHANGELOG.md and store the new one: {UPDATE}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
