#!/usr/bin/env python3
"""Writes what is made from the program's descriptions of quantities, formats of files and documents: the page's types, schemas and
rows of quantities, Python's rows, and the tables of the docs.

    scripts/generate_documents.py            writes them
    scripts/generate_documents.py --check    fails where what is there differs

The program is build/release/cli/synergraph, or what the environment's SYNERGRAPH_CLI names. In the docs, blocks between "quantities", "formats" or
"fields: PART" and "end of table" are replaced.
"""

import collections
import itertools
import json
import re
import sys
import textwrap

from generate import ROOT, delivered, schema

WEB = ROOT / "web" / "src"
PAGE = ("synergraph.analyze", "synergraph.heads", "synergraph.graph", "synergraph.reproduce", "synergraph.page")
REFERENCE = "#/$defs/"


# ---- TypeScript ----------------------------------------------------------------------------------


def comment(text, indent):
    line = f"{indent}/** {text} */\n"
    if len(line) <= 131:
        return line
    return "".join([f"{indent}/**\n", *(f"{indent} * {part}\n" for part in textwrap.wrap(text, 126 - len(indent))), f"{indent} */\n"])


def union(types):
    return " | ".join(dict.fromkeys(types))


def list_of(item):
    return f"({item})[]" if " | " in item and not item.startswith("{") else f"{item}[]"


def fields(type_, indent):
    """The body of an object's type. Fields of quantities, which may be missing, are under one index."""
    open_keys = "patternProperties" in type_
    required = type_["required"]
    lines, shown = [], []
    for key, property_ in type_["properties"].items():
        text = typescript(property_, indent + "  ")
        shown.append(text)
        if open_keys and key not in required:
            continue
        if "description" in property_:
            lines.append(comment(property_["description"], indent + "  "))
        lines.append(f"{indent}  {key}{'' if key in required else '?'}: {text};\n")
    if open_keys:
        shown += [typescript(property_, indent) for property_ in type_["patternProperties"].values()]
        lines.append(f"{indent}  [quantity: string]: {union(shown)};\n")
    return "{\n" + "".join(lines) + indent + "}"


def typescript(type_, indent=""):
    if "$ref" in type_:
        return type_["$ref"].removeprefix(REFERENCE)
    if "const" in type_:
        return json.dumps(type_["const"]).replace('"', "'")
    if "enum" in type_:
        return union(json.dumps(value).replace('"', "'") for value in type_["enum"])
    if "anyOf" in type_:
        return union(typescript(each, indent) for each in type_["anyOf"])
    kind = type_["type"]
    if isinstance(kind, list):
        return "Maybe" if kind == ["number", "null"] else union(typescript({"type": each}) for each in kind)
    if kind == "array":
        item = typescript(type_["items"], indent)
        least, most = type_.get("minItems"), type_.get("maxItems")
        return f"[{', '.join([item] * most)}]" if least is not None and least == most else list_of(item)
    if kind == "object":
        if "properties" in type_:
            return fields(type_, indent)
        return f"Record<string, {typescript(type_['additionalProperties'])}>" if "additionalProperties" in type_ else "object"
    return {"integer": "number"}.get(kind, kind)


def types(documents, formats):
    endings = [row["endings"][0] for row in formats if row["in_page"]]
    parts = ["/** What the documents of the program are (docs/formats.md). Made by scripts/generate_documents.py: do not edit. */\n",
             "/** `null`: a time that is never reached, or a number that does not exist. */\nexport type Maybe = number | null;\n",
             "/** The tensor files that the page reads, in the order of texts. */\n"
             f"export const TENSOR_ENDINGS = {json.dumps(endings)};\n".replace('"', "'")]
    for name, type_ in documents["$defs"].items():
        of_fields = "properties" in type_
        body = fields(type_, "") if of_fields else typescript(type_) + ";"
        parts.append(comment(type_["description"], "") + (f"export interface {name} {body}\n" if of_fields else f"export type {name} = {body}\n"))
    return "\n".join(parts)


def bare(type_):
    """A type without what only people read, and open: the page takes documents with fields that it does not know. Of an object's fields it
    names those that may be absent."""
    if isinstance(type_, list):
        return [bare(each) for each in type_]
    if not isinstance(type_, dict):
        return type_
    result = {key: bare(value) for key, value in type_.items()
              if key not in ("description", "$comment", "required", "properties", "patternProperties") and value is not False and value != "object"}
    optional = [key for key in type_.get("properties", ()) if key not in type_["required"]]
    if optional:
        result["optional"] = optional
    for key in ("properties", "patternProperties"):
        if key in type_:
            result[key] = {name: bare(property_) for name, property_ in type_[key].items()}
    return result


def references(type_):
    return set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(type_)))


def types_in(type_):
    """The types inside a type."""
    inner = [*type_.get("anyOf", []), *type_.get("properties", {}).values(), *type_.get("patternProperties", {}).values()]
    inner += [type_[key] for key in ("items", "additionalProperties") if isinstance(type_.get(key), dict)]
    for each in inner:
        yield each
        yield from types_in(each)


def short(type_):
    return json.dumps(type_, separators=(",", ":"))


def share_types(parts):
    """Gives types that occur several times a name, since the page holds the schemas as they are."""
    for number in itertools.count():
        counts = collections.Counter(short(each) for part in parts.values() for each in types_in(part) if "$ref" not in each)
        gain = {text: count * (len(text) - 13) - len(text) for text, count in counts.items()}
        best = max(gain, key=gain.get)
        if gain[best] < 20:
            return
        name = f"${number}"
        shared = json.loads(best)
        for part in parts.values():
            for each in list(types_in(part)):
                if short(each) == best:
                    each.clear()
                    each["$ref"] = name
        parts[name] = shared


def page_schemas(documents):
    """The schemas of the documents that the page opens, a part a line."""
    named = {name: documents["documents"][name] for name in PAGE}
    wanted, new = set(), set(named.values())
    while new:
        wanted |= new
        new = set().union(*(references(documents["$defs"][name]) for name in wanted)) - wanted
    parts = {name: json.loads(short(bare(type_)).replace(REFERENCE, "")) for name, type_ in documents["$defs"].items() if name in wanted}
    share_types(parts)
    lines = [f'    "{name}": {short(type_)}' for name, type_ in parts.items()]
    return '{\n  "documents": ' + json.dumps(named) + ',\n  "parts": {\n' + ",\n".join(lines) + "\n  }\n}\n"


# ---- Quantities ----------------------------------------------------------------------------------


def page_rows(rows):
    wanted = ("key", "heading", "label", "about", "unit", "better", "owner", "summarised", "wide")
    return "[\n" + ",\n".join("  " + json.dumps({key: row[key] for key in wanted}, ensure_ascii=False) for row in rows) + "\n]\n"


def python_rows(rows):
    def value(row, key):
        return json.dumps(row[key], ensure_ascii=False) if isinstance(row[key], str) else str(row[key])

    wanted = ("heading", "label", "unit", "owner", "column")
    lines = ['"""The quantities that the library measures. Made by scripts/generate_documents.py: do not edit."""', "",
             "from typing import Dict, NamedTuple", "", "", "class Quantity(NamedTuple):", '    """In texts EPS and CUTOFF stand for numbers."""', "",
             *(f"    {key}: {'bool' if key == 'column' else 'str'}" for key in wanted), "", "", "QUANTITIES: Dict[str, Quantity] = {"]
    lines += [f"    {json.dumps(row['key'])}: Quantity({', '.join(value(row, key) for key in wanted)})," for row in rows]
    return "\n".join(lines + ["}", ""])


BETTER = {"less": "less", "more": "more", "neither": ""}


def quantity_table(rows):
    lines = [f"| [`{row['key']}`]({row['definition']}) | {row['heading']} | {row['symbol'].replace('|', chr(92) + '|')} | {row['owner']} | "
             f"{row['unit']} | {BETTER[row['better']]} | {row['about']} |\n" for row in rows]
    return ["| key | heading | symbol | of | unit | better | meaning |\n", "|---|---|---|---|---|---|---|\n", *lines]


def format_table(formats):
    lines = [f"| {row['name']} | {', '.join(f'`{ending}`' for ending in row['endings'])} | {'yes' if row['written'] else 'no'} | {row['about']} |\n"
             for row in formats]
    return ["| format | endings | written | details |\n", "|---|---|---|---|\n", *lines]


# ---- Fields --------------------------------------------------------------------------------------


class Fields:
    """Tables of the fields of the documents' parts."""

    def __init__(self, parts, rows):
        self.parts = parts
        self.quantities = {row["key"] for row in rows}

    def shown(self, type_):
        """The type of a field, for a table."""
        if "$ref" in type_:
            name = type_["$ref"].removeprefix(REFERENCE)
            return f"[{name}](#{name.lower()})" if "properties" in self.parts[name] else self.shown(self.parts[name])
        if "const" in type_:
            return f"`{json.dumps(type_['const'])}`"
        if "enum" in type_:
            return ", ".join(f"`{json.dumps(value)}`" for value in type_["enum"])
        if "anyOf" in type_:
            return " or ".join(self.shown(each) for each in type_["anyOf"])
        kind = type_["type"]
        if isinstance(kind, list):
            return " or ".join(self.shown({"type": each}) for each in kind)
        if kind == "array":
            size = f"{type_['maxItems']} of " if "maxItems" in type_ else ""
            return f"list of {size}{self.shown(type_['items'])}"
        return {"integer": "whole number", "string": "text", "boolean": "`true` or `false`", "null": "`null`"}.get(kind, kind)

    def rows(self, type_, prefix=""):
        """Name, type and meaning of every field; no meaning: a quantity over samples."""
        for key, property_ in {**type_["properties"], **type_.get("patternProperties", {})}.items():
            key = re.sub(r"^\^(\w+_)\[.*", r"\1EPS", key)
            inner, depth = property_, ""
            while inner.get("type") == "array" and "maxItems" not in inner:
                inner, depth = inner["items"], depth + "[]"
            absent = "; may be absent" if key not in type_["required"] and "$comment" not in property_ else ""
            shown = self.shown(inner) + absent
            summary = key in self.quantities and shown.startswith("[Summary]")
            yield f"{prefix}{key}{depth}", shown, None if summary else property_.get("description", "")
            for each in inner.get("anyOf", [inner]):
                more = depth
                while each.get("type") == "array":
                    each, more = each["items"], more + "[]"
                if "properties" in each:
                    yield from self.rows(each, f"{prefix}{key}{more}.")

    def table(self, name):
        type_ = self.parts[name]
        while type_.get("type") == "array":
            type_ = type_["items"]
        rows = list(self.rows(type_))
        lines = ["| field | value | meaning |\n", "|---|---|---|\n"]
        for kind, same in itertools.groupby(rows, lambda row: row[1] if row[2] is None else id(row)):
            same = list(same)
            names = ", ".join(f"`{row[0]}`" for row in same)
            meaning = "see [quantities](#quantities)" if same[0][2] is None else same[0][2]
            lines.append(f"| {names} | {same[0][1]} | {meaning} |\n")
        return lines


def replaced(text, documents, rows, formats):
    """The text with its blocks made anew."""
    lines, skipping = [], False
    for line in text.splitlines(keepends=True):
        if line == "<!-- end of table -->\n":
            skipping = False
        if not skipping:
            lines.append(line)
        begin = re.fullmatch(r"<!-- (quantities|formats|fields: (\w+)) -->\n", line)
        if begin:
            made = {"quantities": lambda: quantity_table(rows), "formats": lambda: format_table(formats)}
            lines += made.get(begin[1], lambda part=begin[2]: Fields(documents["$defs"], rows).table(part))()
            skipping = True
    if skipping:
        raise SystemExit("generate_documents: a block has no end")
    return "".join(lines)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit("usage: scripts/generate_documents.py [--check]")
    documents, rows, formats = schema("documents"), schema("quantities")["quantities"], schema("formats")["formats"]
    files = {WEB / "core" / "documents.ts": types(documents, formats),
             WEB / "data" / "schemas.json": page_schemas(documents),
             WEB / "quantities.json": page_rows(rows),
             ROOT / "python" / "synergraph" / "_quantities.py": python_rows(rows)}
    for path in sorted((ROOT / "docs").glob("*.md")):
        files[path] = replaced(path.read_text(), documents, rows, formats)
    return delivered(files, check, "scripts/generate_documents.py")


if __name__ == "__main__":
    sys.exit(main())
