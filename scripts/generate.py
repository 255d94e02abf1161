#!/usr/bin/env python3
"""Writes what is made from the program's descriptions of settings: Python's keyword arguments, the comments of the C header, the page's
types and the tables of the docs; and from the C header, Python's declarations of its functions.

    scripts/generate.py            writes them
    scripts/generate.py --check    fails where what is there differs

The program is build/release/cli/synergraph, or what the environment's SYNERGRAPH_CLI names. Blocks between "settings: CALL" and "end of
settings" are replaced. Behind CALL, "-key" leaves a setting out, and the name of a group leaves out the others: "settings: heads
Measurement -convention".
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
    return json.loads(subprocess.run([program, "schema", name], check=True, capture_output=True, text=True).stdout)


def settings_of_calls():
    """By the call: its settings."""
    all_schemas = {name: schema(name) for name in schema("schema")["properties"]["name"]["enum"]}
    return {name: one["properties"] for name, one in all_schemas.items() if one.get("title", "").startswith("settings of ")}


def kind(setting):
    """What Python checks before the library does."""
    if "anyOf" in setting:
        first = setting["anyOf"][0]
        if first.get("type") == "integer" and len(setting["anyOf"]) == 3:
            return "tokens"
        if "const" in first:
            return "steps"
        return "names" if "enum" in first else {"integer": "integers", "number": "numbers", "string": "names"}[first["type"]]
    return "name" if "enum" in setting else setting["type"]


TYPES = {
    "steps": "Union[int, str, None] = None",
    "names": "Union[str, Sequence[str], None] = None",
    "tokens": "Union[int, str, Sequence[int], None] = None",
    "numbers": "Union[float, Sequence[float], None] = None",
    "integers": "Union[int, Sequence[int], None] = None",
    "name": "Optional[str] = None",
    "string": "Optional[str] = None",
    "integer": "Optional[int] = None",
    "number": "Optional[float] = None",
}
# What Python takes in more forms than the program.
OWN_TYPES = {"promote": "Promote = None", "axes": "Axes = None", "lengths": "Any = None", "padding": 'str = "right"', "sink": "Any = None"}


def python_type(key, setting):
    if key == "layers" and kind(setting) == "string":
        return "LayerNumbers = None"
    if kind(setting) == "boolean":
        return "bool = False" if "default" in setting else "Optional[bool] = None"
    return OWN_TYPES.get(key) or TYPES[kind(setting)]


def offered(settings, face):
    return {key: setting for key, setting in settings.items() if face in setting["faces"]}


def shown_default(setting):
    value = setting.get("default")
    return "" if value is None or value is False else f" (default: {json.dumps(value).strip('[]')})"


def described(setting):
    """What the setting is, and its default, unless the text says the default already."""
    text = setting["description"]
    return text if "(default: " in text else text + shown_default(setting)


def python_module(schemas):
    lines = ['"""The settings of the library\'s calls. Made by scripts/generate.py: do not edit."""', "",
             "from typing import Dict, Tuple", "", "# By the call: the key of each setting, its kind, whether the call of the C interface takes it, and what it is.",
             "SETTINGS: Dict[str, Dict[str, Tuple[str, bool, str]]] = {"]
    texts = "".join(path.read_text() for path in PACKAGE.glob("*.py"))
    for name, settings in schemas.items():
        of_python = offered(settings, "python")
        if f"# settings: {name}" not in texts:
            continue
        lines.append(f'    "{name}": {{')
        for key, setting in of_python.items():
            text = described(setting)
            parts = textwrap.wrap(text, WIDTH - 14, drop_whitespace=False)
            lines.append(f'        "{key}": ("{kind(setting)}", {"c" in setting["faces"]}, (')
            lines += [f"            {json.dumps(part)}" for part in parts]
            lines[-1] += ")),"
        lines.append("    },")
    return "\n".join(lines + ["}", ""])


def parameters(settings, indent):
    """Every setting but the convention, which functions have in a place of its own."""
    return [f"{indent}{key}: {python_type(key, setting)},\n" for key, setting in offered(settings, "python").items() if key != "convention"]


def c_comment(settings, _indent):
    """The lines of a comment."""
    lines = []
    for key, setting in offered(settings, "c").items():
        text = described(setting)
        name = f' *   "{key}" '.ljust(22)
        lines += textwrap.wrap(text, 99, initial_indent=name, subsequent_indent=" *" + " " * 20, break_long_words=False, break_on_hyphens=False)
    return [line + "\n" for line in lines]


def prototype_type(declared, handles):
    """The name in Python of a C type: "handle", "text", "int64_t", "int64_t*"."""
    base, stars = re.sub(r"\bconst\b|[*]", "", declared).strip(), declared.count("*")
    if base in handles or base == "void" and stars:
        base, stars = "handle", stars - 1
    elif base == "char":
        base, stars = ("text" if declared.startswith("const") else "handle"), stars - 1
    return re.sub(r" +", " ", base) + "*" * stars


def prototypes(header, version):
    """Python's declarations of the functions of the C interface, and of the version that they are of."""
    handles = set(re.findall(r"typedef struct (\w+) \1;", header))
    lines = ['"""The functions of the C interface. Made by scripts/generate.py: do not edit."""', "", "from typing import Dict, Tuple", "", f"VERSION = \"{version}\"", f"LIBRARY = \"libsynergraph.so.{version.split('.')[0]}\"", "",
             "# By the function: the type of what it returns, then of its arguments.", "PROTOTYPES: Dict[str, Tuple[str, ...]] = {"]
    for result, name, arguments in re.findall(r"^SG_API ([\w* ]+?)(\w+)\(([^)]*)\);", header, re.MULTILINE):
        types = [result]
        if arguments != "void":
            types += [re.sub(r"\w+\[\d*\]$", "*", argument.strip()) for argument in arguments.split(",")]
            types[1:] = [re.sub(r"\s*\w+$", "", type_) for type_ in types[1:]]
        names = [json.dumps(prototype_type(type_, handles)) for type_ in types]
        lines.append(f'    "{name}": ({", ".join(names)}{"," if len(names) == 1 else ""}),')
    return "\n".join(lines + ["}", ""])


def script_type(setting):
    of = kind(setting)
    if of == "steps":
        return "number | 'certified'"
    if of == "tokens":
        return "number | number[] | string"
    if of in ("names", "numbers", "integers"):
        return script_type(setting["anyOf"][0]) + " | " + script_type(setting["anyOf"][0]) + "[]"
    if of == "name":
        return " | ".join(f"'{name}'" for name in setting["enum"])
    return {"integer": "number", "string": "string"}.get(of, of)


def script_module(schemas):
    settings = offered(schemas["system"], "c")
    edges = ", ".join(f"'{name}'" for name in settings["edges"]["enum"])
    lines = ["/** How to measure: the options of the C interface, by its names. Made by scripts/generate.py: do not edit. */", "",
             f"export const EDGES = [{edges}] as const;", "export type EdgeKind = (typeof EDGES)[number];", "",
             "export interface MeasureOptions {"]
    for key, setting in settings.items():
        if key not in ("weights", "head_names", "node_names"):
            lines += [f"  /** {described(setting)} */", f"  {key}?: {script_type(setting)};"]
    return "\n".join(lines + ["}", ""])


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
    if setting["type"] in ("string", "array"):
        return {"string": "text", "array": "begin and end"}[setting["type"]]
    least = setting.get("minimum", setting.get("exclusiveMinimum"))
    least = "" if least is None else f" {'above' if 'exclusiveMinimum' in setting else 'from'} {least:g}"
    most = f" to {setting['maximum']:.10g}" if "maximum" in setting else ""
    return f"{'whole number' if setting['type'] == 'integer' else 'number'}{least}{most}"


def name_of(setting):
    """The program's option, where it is not the key's."""
    return f" (`{setting['option']}`)" if "option" in setting else ""


def table(settings, _indent):
    names = {"program": "program", "c": "C", "python": "Python"}
    rows = []
    for key, setting in settings.items():
        shown = setting.get("argument") or (f"--{key.replace('_', '-')}" if setting["faces"] == ["program"] else key)
        faces = "" if len(setting["faces"]) == 3 else ", ".join(names[face] for face in setting["faces"])
        rows.append(f"| `{shown}`{name_of(setting) if shown == key else ''} | {value_text(setting)} | {shown_default(setting)[11:-1]} | {setting['description']} | {faces} |\n")
    return ["| setting | values | default | meaning | only in |\n", "|---|---|---|---|---|\n", *rows]


def chosen(settings, words):
    """The settings that a block is about."""
    groups = [word.replace("_", " ") for word in words if not word.startswith("-")]
    return {key: setting for key, setting in settings.items()
            if "-" + key not in words and (not groups or setting["group"] in groups)}


def replaced(text, schemas, make):
    """The text with its blocks made anew."""
    lines, into, skipping = [], None, False
    for line in text.splitlines(keepends=True):
        if re.search(r"\bend of settings\b", line):
            skipping = False
        if not skipping:
            lines.append(line)
        into = re.fullmatch(r"(\s*)(?:# |<!-- |\* )settings: (\w+)([ \w-]*?)(?: -->)?\n", line)
        if into:
            lines += make(chosen(schemas[into[2]], into[3].split()), into[1])
            skipping = True
    if skipping:
        raise SystemExit("generate: a block has no end")
    return "".join(lines)


def delivered(files, check, script):
    """Writes the texts that differ from what is there, or says so: the exit status."""
    different = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in different:
        if check:
            print(f"{path.relative_to(ROOT)} is not what the program describes: run {script}", file=sys.stderr)
        else:
            path.write_text(files[path])
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and different else 0


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit("usage: scripts/generate.py [--check]")
    schemas = settings_of_calls()
    files = {PACKAGE / "_settings.py": python_module(schemas)}
    for path in sorted(PACKAGE.glob("*.py")):
        if path.name != "_settings.py":
            files[path] = replaced(path.read_text(), schemas, parameters)
    for path in sorted((ROOT / "docs").glob("*.md")):
        files[path] = replaced(path.read_text(), schemas, table)
    header = ROOT / "capi" / "synergraph.h"
    files[header] = replaced(header.read_text(), schemas, c_comment)
    files[PACKAGE / "_prototypes.py"] = prototypes(files[header], re.search(r"^project\(\w+ VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1])
    files[ROOT / "web" / "src" / "core" / "settings.ts"] = script_module(schemas)
    return delivered(files, check, "scripts/generate.py")


if __name__ == "__main__":
    sys.exit(main())
