"""Sphinx's settings for the documentation site; scripts/site.py calls Sphinx."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "synergraph"
author = "the synergraph authors"
release = re.search(r"project\(synergraph VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
extensions = ["myst_parser", "breathe"]
breathe_default_project = "synergraph"
breathe_projects = {}
myst_heading_anchors = 5
suppress_warnings = ["myst.header", "myst.strikethrough"]  # pages of ours begin sections below their first heading
html_theme = "furo"
html_title = f"synergraph {release}"
html_extra_path = []
html_copy_source = False
html_show_sphinx = False
html_baseurl = ""
pygments_style = "friendly"
