"""Builds the shared library and the program with CMake and puts them into the package, with the libraries that they need beside the
system's own.

The wheel is for one platform and for every Python. Nothing is downloaded. The environment's SYNERGRAPH_LIBRARY and SYNERGRAPH_CLI name a
library and a program that have been built already; a library alone makes a wheel without the program.
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
PROGRAM = "synergraph-program"  # beside the library, whose libraries it shares; synergraph/__main__.py runs it
CUDA = "libsynergraph_cuda.so"  # loaded when a GPU is asked for: the same wheel runs on machines without


def version():
    return re.search(r"project\(synergraph VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def built():
    """The folder of a build that is finished."""
    if not shutil.which("cmake"):
        raise SystemExit("synergraph: CMake is missing. On Debian and Ubuntu, scripts/setup.sh installs what the build needs.")
    print("synergraph: compiling the C++ library, about 20 minutes of one core's time; pip install -v . shows how far it is", flush=True)
    folder = ROOT / "build" / "python"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = ["CMAKE_BUILD_TYPE=Release", "SYNERGRAPH_BUILD_TESTS=OFF", "SYNERGRAPH_BUILD_BENCHMARKS=OFF", "SYNERGRAPH_CUDA=AUTO"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, *(f"-D{option}" for option in options)], check=True)
    targets = subprocess.run(["cmake", "--build", folder, "--target", "help"], check=True, capture_output=True, text=True).stdout
    wanted = ["synergraph_c", "synergraph_cli", *(["gpu_library"] if "gpu_library" in targets else [])]
    subprocess.run(["cmake", "--build", folder, "--target", *wanted, "--parallel"], check=True)
    return folder


def own_names(folder):
    """Gives the libraries beside ours names of their own, wherever they are asked for.

    Otherwise whoever asks for libcrypto.so.3 later in the same process, such as Python's ssl, would be given the one from here.
    """
    ours = [name for name in (NAME, CUDA, PROGRAM) if (folder / name).exists()]
    others = [path.name for path in folder.glob("lib*.so*") if path.name not in ours]
    for name in [*ours, *others]:
        data = (folder / name).read_bytes()
        for other in others:  # entries of string tables; the new name is as long
            data = data.replace(b"\0%s\0" % other.encode(), b"\0%s\0" % own_name(other).encode())
        mode = (folder / name).stat().st_mode
        (folder / name).unlink()
        renamed = folder / (name if name in ours else own_name(name))
        renamed.write_bytes(data)
        renamed.chmod(mode)


def cuda_library(library):
    """The library for GPUs of the same build, if there is one."""
    given = os.environ.get("SYNERGRAPH_CUDA_LIBRARY")
    beside = [Path(given)] if given else [library.parent / CUDA, library.parent.parent / "lib" / CUDA]
    return next((path for path in beside if path.exists()), None)


def own_name(name):
    return "sg_" + name[len("lib"):]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        into = (ROOT / "python" if getattr(self, "editable_mode", False) else Path(self.build_lib)) / "synergraph"
        given = os.environ.get("SYNERGRAPH_LIBRARY")
        folder = None if given else built()
        library = Path(given) if given else folder / "capi" / NAME
        program = os.environ.get("SYNERGRAPH_CLI") if given else folder / "cli" / "synergraph"
        for old in [*into.glob("lib*.so*"), *into.glob("sg_*.so*"), into / PROGRAM]:
            old.unlink(missing_ok=True)
        subprocess.run(["cmake", f"-DLIBRARY={library}", f"-DINTO={into}", "-P", ROOT / "cmake" / "BundleLibrary.cmake"], check=True)
        (into / library.name).rename(into / NAME)
        if program:
            shutil.copy(program, into / PROGRAM)
            (into / PROGRAM).chmod(0o755)
        if cuda := cuda_library(library.resolve()):
            shutil.copyfile(cuda, into / CUDA)
        own_names(into)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel}, distclass=PlatformDistribution)
