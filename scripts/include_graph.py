#!/usr/bin/env python3
"""Checks what the library and the program include: the order of the folders, that nothing goes round in a circle, that what is
installed needs nothing else and is in synergraph.h, that other libraries' headers are included where these are linked, and that
CONTRIBUTING.md says what each folder includes and what each component links.

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
ORDER = ["core", "graph", "chain", "diffusion", "heads", "weights", "gradients", "subsets", "device", "io", "cluster", "model", "train",
         "statistics", "analysis", "study", "report", "capi", "cli"]
# Some may include even less than that.
ONLY = {"io": {"core"}, "cluster": {"core", "io"}, "statistics": {"core"}, "analysis": set(ORDER) - {"train"},
        "cli": set(ORDER) - {"capi"}}
# For sources of these folders only.
KERNELS = "core/kernels/"
KERNELS_ARE_FOR = {"core", "chain", "model", "train"}
# Headers of other libraries, as CMake calls these; all components have fmt, and the system's threads come with metrics.
LIBRARIES = {"nlohmann/": "nlohmann_json", "zip.h": "LibZip", "Random123/": "Random123", "CLI/": "CLI11", "cuda": "CUDA"}


def includes():
    """{file: the files of ours that it includes}, "chain/walk.cpp" for synergraph/chain/walk.cpp."""
    files = {}
    for base, folder in ((ROOT / "synergraph", ROOT / "synergraph"), (ROOT, ROOT / "capi"), (ROOT, ROOT / "cli")):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh") and path != EVERYTHING:
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


def links():
    """{component: what CMake links it to}; capi and cli are components, too."""
    linked = {}
    for lists in [ROOT / "synergraph/CMakeLists.txt", *(ROOT / "synergraph").glob("*/CMakeLists.txt"),
                  ROOT / "capi/CMakeLists.txt", ROOT / "cli/CMakeLists.txt"]:
        text = lists.read_text()
        for names, body in re.findall(r"^foreach\(component ([^)]*)\)\n(.*?)^endforeach", text, re.MULTILINE | re.DOTALL):
            text += "".join(body.replace("${component}", name) for name in names.split())
        for name, needed in re.findall(r"^synergraph_component\((\w+) ?([\w ]*)\)", text, re.MULTILINE):
            linked.setdefault(name, []).extend(needed.split())
        for name, what in re.findall(r"target_(?:link_libraries|include_directories)\(synergraph_(\w+) ([^)]*)\)", text):
            found = re.findall(r"synergraph::(\w+)|\b(?!synergraph|fmt)(\w+)::\w+|\{(RANDOM123)_", what)
            names = ["Random123" if random else ours or other for ours, other, random in found]
            linked.setdefault({"c": "capi"}.get(name, name), []).extend(names)
    return linked


def wrong_links(files):
    linked = links()
    rooms = {lists.parent.name: re.search(r"synergraph_room\((\w+)", lists.read_text())[1]
             for lists in (ROOT / "synergraph").glob("*/CMakeLists.txt")}
    for file in files:
        here = rooms.get(room(file), room(file))
        text = (ROOT / ("synergraph" if room(file) in rooms else "") / file).read_text()
        for header in re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.MULTILINE):
            for begin, library in LIBRARIES.items():
                if header.startswith(begin) and library not in linked[here]:
                    yield f"{file} includes <{header}>: {here} does not link {library}"
    web = re.search(r"^foreach\(room ([^)]*)\)", (ROOT / "web/core/CMakeLists.txt").read_text(), re.MULTILINE)[1]
    graph = "".join(f"  {name} --> {' & '.join(what)}\n" for name, what in linked.items())
    graph += f'  web["web/core: sources of {", ".join(web.split())}, capi"] --> nlohmann_json & Random123\n'
    if f"```mermaid\ngraph LR\n{graph}```" not in (ROOT / "CONTRIBUTING.md").read_text():
        yield f"CONTRIBUTING.md: the graph of what is linked should be\n{graph}"


def main():
    files = includes()
    wrong = list(wrong_includes(files))
    wrong += [f"a circle: {', '.join(circle)}" for circle in circles(files)]
    wrong += [*wrong_rows(files), *wrong_links(files)]
    print("\n".join(wrong) or f"{len(files)} files, no circle, all in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
