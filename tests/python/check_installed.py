"""check_installed.py WHEEL: installs a wheel into a new virtual environment of this Python and uses it as a newcomer would.

Without NumPy, the program must run, and the import must say what is missing. With NumPy, numbers, files and errors are those of the documentation.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

USE = """
import numpy as np
import synergraph as sg
attention = np.array([[[1, 0, 0], [0, 1, 0], [0.75, 0.25, 0]], [[1, 0, 0], [0, 1, 0], [0.25, 0.75, 0]]])
result = sg.measure(attention)
assert result["minimax_fidelity"] == 0.5, result
assert sg.mixing_time(attention) == 4, sg.mixing_time(attention)
np.savez_compressed("attention.npz", a=attention[None])
assert sg.measure("attention.npz")["minimax_fidelity"] == 0.5
try:
    sg.measure(attention + 1)
    raise SystemExit("an array that is not attention was measured")
except sg.InputError as error:
    assert "\\n" not in str(error)
open("damaged.npz", "wb").write(open("attention.npz", "rb").read()[:200])
try:
    sg.measure("damaged.npz")
    raise SystemExit("a damaged file was measured")
except sg.InputError:
    pass
import ssl, zlib  # find their own libraries still
assert zlib.decompress(zlib.compress(b"ssl")) == b"ssl" and ssl.create_default_context()
print(sg.__version__, np.__version__)
"""


def run(command, folder, **options):
    """What a command prints; the check ends if the command fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SYNERGRAPH_", "PYTHON"))}
    done = subprocess.run([str(part) for part in command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          encoding="utf-8", **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


def main():
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        run([sys.executable, "-m", "venv", "--system-site-packages", folder], "/")
        python, program = Path(folder) / "bin" / "python", Path(folder) / "bin" / "synergraph"
        run([python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index", wheel], folder)
        installed = time.monotonic() - begun
        numpy = subprocess.run([str(python), "-c", "import numpy.typing"], cwd=folder, stderr=subprocess.DEVNULL).returncode == 0
        for command in [[program], *([[python, "-m", "synergraph"]] if numpy else [])]:
            assert "combined" in run([*command, "graph", "--example", "1"], folder), command
        if numpy:
            begun = time.monotonic()
            versions = run([python, "-c", USE], folder).split()
            how = f"NumPy {versions[1]}: program, numbers, files and errors in {time.monotonic() - begun:.1f} s"
        else:
            refused = subprocess.run([str(python), "-c", "import synergraph"], cwd=folder, stderr=subprocess.PIPE, text=True)
            last = refused.stderr.strip().splitlines()[-1]
            assert refused.returncode == 1 and "pip install --upgrade numpy" in last, refused.stderr
            how = f"no NumPy of version 1.20: the command runs, the import says '{last}'"
    size = wheel.stat().st_size / 2**20
    print(f"   {wheel.name} ({size:.1f} MiB), Python {sys.version.split()[0]}: installed in {installed:.1f} s; {how}")


if __name__ == "__main__":
    main()
