"""check_wheel.py REPOSITORY LIBRARY TESTS...: builds a wheel around the library, installs it into an empty folder, and runs the
package's tests from there."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

repository, library, *tests = sys.argv[1:]
pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
with tempfile.TemporaryDirectory() as folder:
    # From a copy: building writes beside the sources.
    source = Path(folder) / "source"
    shutil.copytree(Path(repository) / "python" / "synergraph", source / "python" / "synergraph",
                    ignore=shutil.ignore_patterns("__pycache__", "lib*.so*"))
    for name in ("CMakeLists.txt", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(Path(repository) / name, source)
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", folder, source], check=True,
                   env=dict(os.environ, SYNERGRAPH_LIBRARY=library))
    (wheel,) = Path(folder).glob("*.whl")
    assert wheel.name.split("-")[2:4] == ["py3", "none"], wheel.name
    installed = Path(folder) / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", installed, wheel], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "SYNERGRAPH_LIBRARY"}
    environment["PYTHONPATH"] = str(installed)
    subprocess.run([sys.executable, "-c", "import synergraph; print(synergraph.__version__, synergraph.__file__)"], check=True,
                   env=environment, cwd=folder)
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], env=environment, cwd=folder).returncode)
