"""check_wheel.py REPOSITORY LIBRARY TESTS...: builds a wheel around the library, installs it into an empty folder, and runs the
package's tests from there."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

repository, library, *tests = sys.argv[1:]
pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
with tempfile.TemporaryDirectory() as folder:
    # From a copy: building writes beside the sources.
    source = Path(folder) / "source"
    shutil.copytree(Path(repository) / "python" / "synergraph", source / "python" / "synergraph",
                    ignore=shutil.ignore_patterns("__pycache__", "lib*.so*"))
    shutil.copy(Path(repository) / "python" / "synergraph_program.py", source / "python")
    (source / "scripts").mkdir()
    shutil.copy(Path(repository) / "scripts" / "build_backend.py", source / "scripts")
    (source / "cmake").mkdir()
    shutil.copy(Path(repository) / "cmake" / "BundleLibrary.cmake", source / "cmake")
    for name in ("CMakeLists.txt", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(Path(repository) / name, source)
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", folder, source], check=True,
                   env=dict(os.environ, SYNERGRAPH_LIBRARY=library))
    (wheel,) = Path(folder).glob("*.whl")
    assert wheel.name.split("-")[2:4] == ["py3", "none"], wheel.name
    # Libraries that others in the process may ask for are not there under the names by which they ask.
    with zipfile.ZipFile(wheel) as content:
        libraries = [Path(name).name for name in content.namelist() if ".so" in name]
        assert not re.search(rb"\$ORIGIN[^\0]", content.read("synergraph/libsynergraph.so.0")), "looks in other folders than its own"
        assert b"\0$ORIGIN\0" in content.read("synergraph/libsynergraph.so.0"), "does not look in its own folder"
    ours = {name for name in libraries if name.startswith("lib")} - {"libsynergraph_cuda.so"}  # for GPUs, where it was built
    assert ours == {"libsynergraph.so.0"} and len(libraries) > 1, libraries
    installed = Path(folder) / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", installed, wheel], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("SYNERGRAPH_LIBRARY", "SYNERGRAPH_CLI")}
    environment["PYTHONPATH"] = str(installed)
    if "SYNERGRAPH_CLI" in os.environ:  # the program, with the libraries beside it, as a module and as a command
        for command in ([sys.executable, "-m", "synergraph"], [installed / "bin" / "synergraph"]):
            said = subprocess.run([*command, "graph", "--example", "1"], check=True, env=environment, cwd=folder, capture_output=True, text=True)
            assert "combined" in said.stdout, said
            assert subprocess.run([*command, "no-such-command"], env=environment, cwd=folder, capture_output=True).returncode == 2
        needed = subprocess.run(["ldd", installed / "synergraph" / "synergraph-program"], check=True, capture_output=True, text=True).stdout
        assert "not found" not in needed and "libzip" not in needed, needed
    subprocess.run([sys.executable, "-c", "import synergraph, ssl, zlib; print(synergraph.__version__, synergraph.__file__)"], check=True,
                   env=environment, cwd=folder)
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], env=environment, cwd=folder).returncode)
