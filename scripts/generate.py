#!/usr/bin/env python3
"""Writes what is made from the program's descriptions of settings: Python's keyword arguments and the tables of the docs.

    scripts/generate.py            writes them
    scripts/generate.py --check    fails where what is there differs

The program is build/release/cli/synergraph, or what the environment's SYNERGRAPH_CLI names. Blocks between "settings: NAME" and "end of
settings" are replaced.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "synergraph"
WIDTH = 139


def schema(name):
    program = os.environ.get("SYNERGRAPH_CLI") or ROOT / "build/release/cli/synergraph"
    return json.loads(subprocess.run([program, "schema", name], check=True, capture_output=True, text=True).stdout)["properties"]


def kind(setting):
    """What Python checks before the library does."""
    if "anyOf" in setting:
        first = setting["anyOf"][0]
        if first.get("type") == "integer":
            return "tokens"
        return "steps" if "const" in first else "names" if "enum" in first else "numbers"
    return "name" if "enum" in setting else setting["type"]


TYPES = {
    "steps": "Union[int, str, None] = None",
    "names": "Union[str, Sequence[str], None] = None",
    "tokens": "Union[int, str, Sequence[int], None] = None",
    "numbers": "Union[float, Sequence[float], None] = None",
    "name": "Optional[str] = None",
    "integer": "Optional[int] = None",
    "number": "Optional[float] = None",
    "boolean": "bool = False",
}


def shown_default(setting):
    value = setting.get("default")
    return "" if value is None or value is False else f" (default: {json.dumps(value).strip('[]')})"


def python_module(schemas):
    lines = ['"""The settings of the library\'s calls. Made by scripts/generate.py: do not edit."""', "",
             "from typing import Dict, Tuple", "", "# By the call: the key of each setting, its kind and what it is.",
             "SETTINGS: Dict[str, Dict[str, Tuple[str, str]]] = {"]
    for name, settings in schemas.items():
        lines.append(f'    "{name}": {{')
        for key, setting in settings.items():
            text = setting["description"] + shown_default(setting)
            parts = textwrap.wrap(text, WIDTH - 14, drop_whitespace=False)
            lines.append(f'        "{key}": ("{kind(setting)}", (')
            lines += [f"            {json.dumps(part)}" for part in parts]
            lines[-1] += ")),"
        lines.append("    },")
    return "\n".join(lines + ["}", ""])


def parameters(settings, indent):
    """Every setting but the convention, which functions have in a place of its own."""
    return [f"{indent}{key}: {TYPES[kind(setting)]},\n" for key, setting in settings.items() if key != "convention"]


def value_text(setting):
    """The values of a setting, for a table."""
    if "anyOf" in setting:
        first = setting["anyOf"][0]
        if kind(setting) == "tokens":
            return "token, text, or a list"
        return '`"certified"` or ' + value_text(setting["anyOf"][1]) if "const" in first else value_text(first) + ", or a list"
    if "enum" in setting:
        return ", ".join(f"`{name}`" for name in setting["enum"])
    if setting["type"] == "boolean":
        return "flag"
    least = setting.get("minimum", setting.get("exclusiveMinimum"))
    least = "" if least is None else f" {'above' if 'exclusiveMinimum' in setting else 'from'} {least:g}"
    most = f" to {setting['maximum']:.10g}" if "maximum" in setting else ""
    return f"{'whole number' if setting['type'] == 'integer' else 'number'}{least}{most}"


def name_of(setting):
    """The program's option, where it is not the key's."""
    return f" (`{setting['option']}`)" if "option" in setting else ""


def table(settings, _indent):
    rows = [f"| `{key}`{name_of(setting)} | {value_text(setting)} | {shown_default(setting)[11:-1]} | {setting['description']} |\n"
            for key, setting in settings.items()]
    return ["| setting | values | default | meaning |\n", "|---|---|---|---|\n", *rows]


def replaced(text, schemas, make):
    """The text with its blocks made anew."""
    lines, into, skipping = [], None, False
    for line in text.splitlines(keepends=True):
        if re.search(r"\bend of settings\b", line):
            skipping = False
        if not skipping:
            lines.append(line)
        into = re.fullmatch(r"(\s*)(?:# |<!-- )settings: (\w+)(?: -->)?\n", line)
        if into:
            lines += make(schemas[into[2]], into[1])
            skipping = True
    if skipping:
        raise SystemExit("generate: a block has no end")
    return "".join(lines)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit("usage: scripts/generate.py [--check]")
    schemas = {name: schema(name) for name in ("graph", "heads", "measure")}
    files = {PACKAGE / "_settings.py": python_module(schemas)}
    for path in sorted(PACKAGE.glob("*.py")):
        if path.name != "_settings.py":
            files[path] = replaced(path.read_text(), schemas, parameters)
    for path in sorted((ROOT / "docs").glob("*.md")):
        files[path] = replaced(path.read_text(), schemas, table)
    different = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in different:
        if check:
            print(f"{path.relative_to(ROOT)} is not what the program's settings give: run scripts/generate.py", file=sys.stderr)
        else:
            path.write_text(files[path])
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and different else 0


if __name__ == "__main__":
    sys.exit(main())
