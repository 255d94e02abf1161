"""The build of the Python package, for pip: setuptools', with one line instead of a traceback where setuptools is missing."""

try:
    from setuptools.build_meta import *  # noqa: F403
except ImportError:
    raise SystemExit("synergraph: the Python package setuptools is missing: pip install setuptools wheel (Debian: python3-setuptools, python3-wheel)") from None
