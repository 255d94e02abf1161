#!/usr/bin/env python3
"""Counts the lines that people maintain: without blank lines, whole-line comments, includes and imports, and what scripts make.

    scripts/count_lines.py [COMMIT...]            of the checkout, or of commits beside it
    scripts/count_lines.py --files [COMMIT]       each file of the first column, the longest last
"""

import io
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Rows of the table: a name and the folders whose lines it sums.
ROWS = {"synergraph, capi, cli": ("synergraph/", "capi/", "cli/"), "web": ("web/",), "python/synergraph": ("python/synergraph/",)}
LINE_COMMENT = {".py": "#"}
INCLUDE = {".py": r"(import|from) ", ".ts": r"import ", ".mjs": r"import "}
SUFFIXES = {".h", ".c", ".cpp", ".cu", ".cuh", ".ts", ".mjs", ".css", ".html", ".py"}
MADE = re.compile(r"\bMade by scripts/\S+: do not edit")


def lines_by_hand(text, suffix):
    """Lines of a file that count. A block that scripts/generate.py fills is made, but for its two marks."""
    lines = text.splitlines()
    if any(MADE.search(line) for line in lines[:3]):
        return 0
    hash_comment, include = LINE_COMMENT.get(suffix, "//"), re.compile(INCLUDE.get(suffix, r"#\s*include\b"))
    count, in_comment, in_made = 0, False, False
    for line in map(str.strip, lines):
        if in_made or in_comment or line.startswith("/*"):
            in_comment = (in_comment or line.startswith("/*")) and "*/" not in line
            in_made = in_made and not re.search(r"\bend of settings\b", line)
        elif line and not line.startswith(hash_comment) and not include.match(line):
            count += 1
        in_made = in_made or bool(re.search(r"\bsettings: \w", line) and suffix == ".py" and line.startswith("#"))
    return count


def sources(commit):
    """Name and text of every file that git tracks: in the checkout, or in a commit."""
    if commit is None:
        names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
        for name in filter(None, names):
            if wanted(name) and (ROOT / name).is_file():
                yield name, (ROOT / name).read_text(errors="replace")
        return
    bytes_of = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(bytes_of)) as archive:
        for member in archive:
            if member.isfile() and wanted(member.name):
                yield member.name, archive.extractfile(member).read().decode(errors="replace")


def wanted(name):
    return pathlib.PurePath(name).suffix in SUFFIXES and any(name.startswith(folder) for folders in ROWS.values() for folder in folders)


def count(commit):
    return {name: lines_by_hand(text, pathlib.PurePath(name).suffix) for name, text in sources(commit)}


def main(arguments):
    of_files = "--files" in arguments
    commits = [argument for argument in arguments if argument != "--files"] or [None]
    if commits != [None] and not of_files:
        commits.append(None)
    counts = [count(commit) for commit in commits]
    if of_files:
        for name, lines in sorted(counts[0].items(), key=lambda item: item[1]):
            print(f"{lines:6} {name}")
        return
    print(f"{'':24}" + "".join(f"{(commit or 'checkout')[:10]:>12}" for commit in commits))
    for row, folders in ROWS.items():
        sums = [sum(lines for name, lines in one.items() if name.startswith(folders)) for one in counts]
        print(f"{row:24}" + "".join(f"{lines:12}" for lines in sums))


if __name__ == "__main__":
    main(sys.argv[1:])
