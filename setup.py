"""Builds the shared library with CMake and puts it into the package, with the libraries that it needs beside the system's own.

The wheel is for one platform and for every Python. Nothing is downloaded. The environment's SYNERGRAPH_LIBRARY names a library that
has been built already: then it alone is put there.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
NAME = "libsynergraph.so.0"


def version():
    return re.search(r"project\(synergraph VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def build_library(into):
    folder = ROOT / "build" / "python"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    # What it needs lies beside it, and what that needs, too: hence the old kind of path.
    options = ["CMAKE_BUILD_TYPE=Release", "CMAKE_BUILD_RPATH=$ORIGIN", "CMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags",
               "SYNERGRAPH_BUILD_CLI=OFF", "SYNERGRAPH_BUILD_TESTS=OFF", "SYNERGRAPH_BUILD_BENCHMARKS=OFF"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, *(f"-D{option}" for option in options)], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "synergraph_c", "--parallel"], check=True)
    subprocess.run(["cmake", f"-DLIBRARY={folder / 'capi' / NAME}", f"-DINTO={into}", "-P", ROOT / "cmake" / "BundleLibrary.cmake"],
                   check=True)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        into = (ROOT / "python" if getattr(self, "editable_mode", False) else Path(self.build_lib)) / "synergraph"
        built = os.environ.get("SYNERGRAPH_LIBRARY")
        if built:
            shutil.copyfile(built, into / NAME)
        else:
            build_library(into)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel}, distclass=PlatformDistribution)
