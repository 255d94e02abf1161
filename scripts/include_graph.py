#!/usr/bin/env python3
"""Checks what the library and the program include: the order of the folders, that nothing goes round in a circle, that what is
installed needs nothing else and is in synergraph.h, and that the table in CONTRIBUTING.md says what each folder includes.

A component is a header and the source of the same name; it depends on what either of them includes. Prints every violation and
exits with status 1 if there is one.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"(?:synergraph/|(?=cli/|capi/))([^"]+)"', re.MULTILINE)
EVERYTHING = ROOT / "synergraph" / "synergraph.h"

# A folder may include what stands before it in this list and nothing after.
ORDER = ["core", "graph", "chain", "diffusion", "heads", "subsets", "io", "cluster", "model", "train",
         "statistics", "analysis", "study", "report", "capi", "cli"]
# Some may include even less than that.
ONLY = {"io": {"core"}, "cluster": {"core", "io"}, "statistics": {"core"}, "cli": set(ORDER) - {"capi"}}
# For sources of these folders only.
KERNELS = "core/kernels/"
KERNELS_ARE_FOR = {"core", "chain", "model", "train"}


def includes():
    """{file: the files of ours that it includes}, "chain/walk.cpp" for synergraph/chain/walk.cpp."""
    files = {}
    for base, folder in ((ROOT / "synergraph", ROOT / "synergraph"), (ROOT, ROOT / "capi"), (ROOT, ROOT / "cli")):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cpp") and path != EVERYTHING:
                files[path.relative_to(base).as_posix()] = INCLUDE.findall(path.read_text())
    return files


def room(file):
    return file.split("/")[0]


def component(file):
    return file.rsplit(".", 1)[0]


def public_headers():
    """Those that a folder's CMakeLists.txt names: they are installed."""
    for lists in (ROOT / "synergraph").glob("*/CMakeLists.txt"):
        for names in re.findall(r"\bHEADERS\s+([^)]*)", lists.read_text()):
            yield from (f"{lists.parent.name}/{name}" for name in names.split())


def wrong_includes(files):
    public = {"core/version.h", *public_headers()}
    for other in sorted(public.symmetric_difference(INCLUDE.findall(EVERYTHING.read_text()))):
        yield f"synergraph.h includes what is installed, and no more: not so with {other}"
    for file, included in files.items():
        for other in included:
            here, there = room(file), room(other)
            if here not in ORDER or there not in ORDER:
                yield f"{file} includes {other}: {here if here not in ORDER else there} is not in the order of the folders"
            elif ORDER.index(there) > ORDER.index(here):
                yield f"{file} includes {other}: {there} stands after {here}"
            elif here != there and there not in ONLY.get(here, ORDER):
                yield f"{file} includes {other}: {here} includes {' and '.join(sorted(ONLY[here]))} only"
            elif file in public and other not in public:
                yield f"{file} is installed and includes {other}, which is not"
            elif other.startswith(KERNELS) and here not in KERNELS_ARE_FOR:
                yield f"{file} includes {other}: the kernels are for {', '.join(sorted(KERNELS_ARE_FOR))}"


def circles(files):
    """The sets of components that include each other, directly or not (Tarjan's algorithm)."""
    graph = {component(file): set() for file in files}
    for file, included in files.items():
        graph[component(file)] |= {component(other) for other in included} & graph.keys() - {component(file)}
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) > at + 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return found


def wrong_rows(files):
    """The rows of CONTRIBUTING.md's table, "| `chain` | subject | core, graph |", that do not say what is included."""
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))
    for here in [folder for folder in ORDER if folder not in ("capi", "cli") and any(room(file) == folder for file in files)]:
        used = {room(other) for file, included in files.items() if room(file) == here for other in included} - {here}
        row = ", ".join(there for there in ORDER if there in used) or "nothing"
        if rows.get(here) != row:
            yield f"CONTRIBUTING.md: the row of `{here}` should end in | {row} |"


def main():
    files = includes()
    wrong = list(wrong_includes(files))
    wrong += [f"a circle: {', '.join(circle)}" for circle in circles(files)]
    wrong += wrong_rows(files)
    print("\n".join(wrong) or f"{len(files)} files, no circle, all in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
