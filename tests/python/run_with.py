"""run_with.py MODULES COMMAND...: runs a command with this Python if it has the modules, separated by commas; else says so and
exits with status 77, which skips the test."""

import importlib.util
import subprocess
import sys

missing = [module for module in sys.argv[1].split(",") if importlib.util.find_spec(module) is None]
if missing:
    print(f"skipped: {sys.executable} has no {', '.join(missing)} (Debian: scripts/setup.sh test)")
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, *sys.argv[2:]]).returncode)
