#!/usr/bin/env python3
"""Builds the documentation site: the pages of docs/, the references of Python, C and C++ from docstrings and headers, and the page as playground.

    scripts/site.py [--out build/site] [--library build/release/capi/libsynergraph.so]

It needs Sphinx, MyST, Furo, Breathe and Doxygen (scripts/setup.sh docs). The reference of Python describes the package in python/, which loads the library
(--library, or SYNERGRAPH_LIBRARY). Every warning is an error: a broken link, a heading that a link expects, a comment that Doxygen cannot read.
The site is OUT/html; open OUT/html/index.html.
"""

import argparse
import functools
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
CHAPTERS = {
    "Guide": ["start", "python", "page", "heads", "compare", "gradients", "graphs", "training", "tasks", "clusters"],
    "Studies": ["reproduction", "validity", "atlas", "optimise", "sinks"],
    "Background": ["theory", "formats", "documents", "library", "c", "performance", "stability", "releasing", "no-gain"],
}
PLAYGROUND = """# Playground

<p><a href="page/index.html">Open the interactive page</a>. Drop a file with attention or a graph onto it. The page computes everything in your browser, and nothing leaves it.</p>

[page.md](docs/page.md) explains the page.
"""
LOCAL_LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?(\))")


def staged(source):
    """A tree of links to what the site is made from; README.md becomes its first page."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "docs").mkdir(parents=True)
    pages = sorted((ROOT / "docs").glob("*.md"))
    for page in pages:
        put(source, page.relative_to(ROOT))
    for name in ["CONTRIBUTING.md", "CHANGELOG.md"]:
        put(source, pathlib.Path(name))
    placed = [name for names in CHAPTERS.values() for name in names]
    rest = [page.stem for page in pages if page.stem not in placed]
    missing = [name for name in placed if not (ROOT / "docs" / f"{name}.md").exists()]
    if missing:
        sys.exit(f"site: {', '.join(missing)}: named in CHAPTERS (scripts/site.py), but docs/ has no such page")
    tables = "".join(contents(title, [f"docs/{name}" for name in names]) for title, names in {**CHAPTERS, "More": rest}.items() if names)
    tables += contents("Reference", ["reference/python", "reference/c", "reference/cpp"])
    tables += contents("Project", ["playground", "CONTRIBUTING", "CHANGELOG"])
    first = rewritten(pathlib.Path("README.md"), source)
    (source / "index.md").write_text(f"{first}\n{tables}", encoding="utf-8")
    (source / "playground.md").write_text(PLAYGROUND, encoding="utf-8")
    (source / "extra" / "page").mkdir(parents=True)
    shutil.copyfile(ROOT / "docs" / "index.html", source / "extra" / "page" / "index.html")


def contents(title, pages):
    """A hidden table of contents, which the side bar shows."""
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n"


def put(source, page):
    (source / page).parent.mkdir(parents=True, exist_ok=True)
    (source / page).write_text(rewritten(page, source), encoding="utf-8")


@functools.lru_cache(maxsize=None)
def targets():
    """What pages name by <a id="...">, beside their headings."""
    return {name for page in (ROOT / "docs").glob("*.md") for name in re.findall(r'^<a id="([^"]+)"></a>', page.read_text(encoding="utf-8"), re.MULTILINE)}


def rewritten(page, source):
    """The text of a page. Files that it links to come along; Markdown outside of the site is shown as a file."""
    def linked(link):
        before, target, anchor, after = link.groups()
        path = pathlib.Path(os.path.normpath(page.parent / target))
        if not (ROOT / path).exists():
            sys.exit(f"site: {page}: the link to {target} leads nowhere")
        if anchor and anchor[1:] in targets():
            return f"{before}{anchor[1:]}{after}"
        if path.as_posix() == "README.md":
            return f"{before}{os.path.relpath('index.md', page.parent)}{anchor or ''}{after}"
        if (ROOT / path).is_dir() or (path.suffix == ".md" and path.parent.as_posix() not in {".", "docs"}):
            return f"`{target}`"  # not on the site: named, not linked
        if path.suffix != ".md":
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            if not (source / path).exists():
                (source / path).symlink_to(ROOT / path)
        return link.group(0)

    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"\[([^\]]+)(\]\()([^)#\s]+/|[^)\s]*/README\.md)\)", lambda link: link.group(1) if not (ROOT / page.parent / link[3]).is_file()
                  or link[3].endswith("/README.md") else link.group(0), text)
    text = LOCAL_LINK.sub(linked, text)
    text = re.sub(r"\]\(#([^)\s]+)\)", lambda link: f"]({link[1]})" if link[1] in targets() else link[0], text)
    text = re.sub(r'^<a id="([^"]+)"></a>\n?', r"(\1)=\n", text, flags=re.MULTILINE)  # a target that MyST knows
    text = text.replace("```mermaid", "```text")  # drawn by others; Sphinx shows its text
    return re.sub(r"^```(\{?)dockerfile", "```text", text, flags=re.MULTILINE)


def python_reference(source):
    """Every public name with its signature and its docstring, which is Markdown."""
    import synergraph as sg
    out = ["# Python reference", "", "`import synergraph as sg`. [The guide](../docs/python.md) explains the package by examples.", ""]
    names = [name for name in sg.__all__ if not name.startswith("__")]
    calls = [name for name in names if inspect.isfunction(getattr(sg, name))]
    for title, chosen in {"Functions": calls, "Classes": [name for name in names if name not in calls]}.items():
        out += [f"## {title}", ""]
        for name in chosen:
            out += entry(name, getattr(sg, name))
    (source / "reference").mkdir(exist_ok=True)
    (source / "reference" / "python.md").write_text("\n".join(out) + "\n", encoding="utf-8")


def entry(name, value):
    if not inspect.isclass(value):
        return directive("py:function", f"synergraph.{name}{signature(value)}", value, 4)
    body = []
    for member, of in sorted(vars(value).items()):
        if member.startswith("_"):
            continue
        if isinstance(of, property):
            body += directive("py:property", member, of, 4)
        elif inspect.isfunction(of) or isinstance(of, (classmethod, staticmethod)):
            called = getattr(value, member)
            body += directive("py:method", f"{member}{signature(called)}", called, 4)
    return directive("py:class", f"synergraph.{name}", value, 5, body)


def signature(value):
    """Arguments and their defaults; types are long, and stand in the text where they matter."""
    try:
        arguments = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in arguments.parameters.values() if one.name != "self"]
    return str(arguments.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def directive(kind, header, value, fence, body=()):
    marks = "`" * fence
    return [f"{marks}{{{kind}}} {header}", "", markdown(inspect.getdoc(value) or ""), "", *body, marks, ""]


def markdown(text):
    """A docstring, its examples as blocks of code, its sections of arguments as lists."""
    text = re.sub(r"^(\w+)\n---+$", r"**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(\*?\*?\w[\w, ]*)\n(?= {4}\S)", r"- `\1`:\n", text, flags=re.MULTILINE)
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith(">>> ") and not inside:
            lines += ["```python"]
            inside = True
        if inside and not line.strip():
            lines += ["```"]
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


def headers_reference(source, out):
    """Doxygen reads the public headers; a page for C, and one for each folder of the library."""
    public = {}
    for listed in sorted((ROOT / "synergraph").glob("*/CMakeLists.txt")):
        found = re.search(r"\bHEADERS\b([^)]*)\)", listed.read_text(encoding="utf-8"))
        names = re.findall(r"\b[\w/]+\.h\b", found.group(1)) if found else []
        if names:
            public[listed.parent.name] = [listed.parent / name for name in names]
    inputs = [ROOT / "capi" / "synergraph.h", *(path for paths in public.values() for path in paths)]
    shutil.rmtree(out / "doxygen", ignore_errors=True)
    (out / "doxygen").mkdir(parents=True)
    settings = {
        "PROJECT_NAME": "synergraph", "OUTPUT_DIRECTORY": out / "doxygen", "GENERATE_HTML": "NO", "GENERATE_LATEX": "NO", "GENERATE_XML": "YES",
        "INPUT": " ".join(f'"{path}"' for path in inputs), "STRIP_FROM_PATH": ROOT, "QUIET": "YES", "WARN_IF_UNDOCUMENTED": "NO", "WARN_AS_ERROR": "NO",
        "WARN_IF_DOC_ERROR": "YES", "EXTRACT_ALL": "YES", "MARKDOWN_SUPPORT": "YES", "AUTOLINK_SUPPORT": "NO", "MACRO_EXPANSION": "YES", "ENABLE_PREPROCESSING": "YES",
        "EXPAND_ONLY_PREDEF": "YES", "PREDEFINED": "SG_API=", "XML_PROGRAMLISTING": "NO", "TYPEDEF_HIDES_STRUCT": "YES", "HIDE_UNDOC_RELATIONS": "YES", "SHOW_INCLUDE_FILES": "NO",
        "FILTER_PATTERNS": f'"*/capi/synergraph.h={sys.executable} {ROOT / "docs" / "site" / "c_comments.py"}"',
    }
    configuration = "".join(f"{key} = {value}\n" for key, value in settings.items())
    done = subprocess.run(["doxygen", "-"], input=configuration, text=True, capture_output=True, check=False)
    if done.returncode or "error:" in done.stderr:
        sys.exit(f"site: doxygen failed:\n{done.stderr}")
    for_breathe(out / "doxygen" / "xml")
    reference = source / "reference"
    reference.mkdir(exist_ok=True)
    reference.joinpath("c.md").write_text(
        "# C reference\n\n[The guide](../docs/c.md) has an example. The header is [synergraph.h](../capi/synergraph.h).\n\n" + file_entry("synergraph.h"), encoding="utf-8")
    link = source / "capi" / "synergraph.h"
    link.parent.mkdir(exist_ok=True)
    if not link.exists():
        link.symlink_to(ROOT / "capi" / "synergraph.h")
    folders = []
    for folder, paths in public.items():
        folders.append(f"cpp-{folder}")
        text = "".join(f"## {path.name}\n\n```cpp\n#include \"{path.relative_to(ROOT).as_posix()}\"\n```\n\n{file_entry(path.relative_to(ROOT).as_posix())}" for path in paths)
        reference.joinpath(f"cpp-{folder}.md").write_text(f"# {folder}/\n\n{text}", encoding="utf-8")
    reference.joinpath("cpp.md").write_text(
        "# C++ reference\n\n[The guide](../docs/library.md) says how to link the library. Each page has the public headers of one folder.\n\n```{toctree}\n:maxdepth: 1\n\n"
        + "\n".join(folders) + "\n```\n", encoding="utf-8")


def for_breathe(folder):
    """Brings Doxygen's output into a form that Breathe shows header by header: what a namespace has, in the headers that declare it; nothing private; no
    default values that Sphinx cannot read (designated initialisers, lambdas, strings in parts)."""
    files, spaces = {}, []
    for path in folder.glob("*.xml"):
        tree = xml.etree.ElementTree.parse(path)
        for compound in tree.findall("compounddef"):
            for section in compound.findall("sectiondef"):
                if section.get("kind", "").startswith("private"):
                    compound.remove(section)
            if compound.get("kind") == "file":
                files[compound.find("location").get("file")] = (path, tree, compound)
                for inner in compound.findall("innernamespace"):
                    compound.remove(inner)
            elif compound.get("kind") == "namespace":
                spaces.append(compound)
        for holder in tree.iter():
            for value in [*holder.findall("initializer"), *holder.findall("defval")]:
                if re.search(r'\{\s*\.|\[\]|\w\s*"\s*"\w', "".join(value.itertext())):
                    holder.remove(value)
        tree.write(path, encoding="utf-8", xml_declaration=True)
    for space in spaces:
        for section in space.findall("sectiondef"):
            for member in section.findall("memberdef"):
                place = member.find("location")
                if place is None or place.get("file") not in files:
                    continue
                compound = files[place.get("file")][2]
                into = next((one for one in compound.findall("sectiondef") if one.get("kind") == section.get("kind")), None)
                if into is None:
                    into = xml.etree.ElementTree.Element("sectiondef", kind=section.get("kind"))
                    compound.insert(list(compound).index(compound.find("location")), into)
                into.append(member)
    for path, tree, _ in files.values():
        tree.write(path, encoding="utf-8", xml_declaration=True)


def file_entry(path):
    return f"```{{doxygenfile}} {path}\n:project: synergraph\n```\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="Needs the packages of scripts/setup.sh docs.")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "site", help="folder of the site (default: build/site)")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build" / "release" / "capi" / "libsynergraph.so", help="the C library that the Python package loads")
    arguments = parser.parse_args()
    if arguments.library.exists():
        os.environ.setdefault("SYNERGRAPH_LIBRARY", str(arguments.library.resolve()))
    out = arguments.out.resolve()
    source = out / "source"
    staged(source)
    python_reference(source)
    headers_reference(source, out)
    shutil.rmtree(out / "html", ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-c", str(ROOT / "docs" / "site"), "-d", str(out / "doctrees"),
               "-D", f"breathe_projects.synergraph={out / 'doxygen' / 'xml'}", "-D", f"html_extra_path={source / 'extra'}", str(source), str(out / "html")]
    if subprocess.run(command, check=False).returncode:
        sys.exit("site: the pages above need a change")
    print(f"site: {out / 'html' / 'index.html'}, {len(list((out / 'html').rglob('*.html')))} pages")


if __name__ == "__main__":
    main()
