"""Builds the shared library and the program with CMake and puts them into the package, with the libraries that they need beside the
system's own.

The wheel is for one platform and for every Python. Nothing is downloaded. The environment can name what has been built already, as
scripts/release.sh does: SYNERGRAPH_LIBRARY and SYNERGRAPH_CLI, the library and the program (a library alone makes a wheel without the program);
SYNERGRAPH_CUDA_LIBRARY, empty for none; SYNERGRAPH_PLATFORM, the platform of the wheel's name; SYNERGRAPH_LOCAL_VERSION, which follows the version after a "+".
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    try:
        from wheel.bdist_wheel import bdist_wheel
    except ImportError:
        raise SystemExit("synergraph: the Python package wheel is missing: pip install wheel (Debian: python3-wheel)") from None

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"project\(synergraph VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
NAME = f"libsynergraph.so.{VERSION.split('.')[0]}"
PROGRAM = "synergraph-program"  # beside the library, whose libraries it shares; synergraph_program.py runs it
CUDA = "libsynergraph_cuda.so"  # loaded when a GPU is asked for: the same wheel runs on machines without


def say(line, terminal=[]):
    """Tells the person. pip hides what builds print, but for `pip -v`: so the line goes to the terminal, if there is one."""
    print(line, flush=True)
    if not terminal:
        try:
            terminal.append(None if sys.stdout.isatty() else open("/dev/tty", "w"))
        except OSError:
            terminal.append(None)
    if terminal[0]:
        print(f"\r\x1b[K  synergraph: {line.strip()}", file=terminal[0], flush=True)


def require_tools():
    """One line for all that is missing, before the compiler starts."""
    missing = [name for name in ("cmake", "c++", "patchelf") if not shutil.which(name) and not (name == "c++" and os.environ.get("CXX"))]
    if missing:
        raise SystemExit(f"synergraph: {', '.join(missing)} missing. On Debian and Ubuntu, scripts/setup.sh installs what the build needs.")


def built():
    """The folder of a build that is finished."""
    require_tools()
    cores = os.cpu_count() or 1
    say(f"compiling the C++ library: about {max(2, round(14 / cores))} minutes on {cores} idle core{'s' * (cores > 1)}")
    folder = ROOT / "build" / "python"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    options = ["CMAKE_BUILD_TYPE=Release", "SYNERGRAPH_BUILD_TESTS=OFF", "SYNERGRAPH_BUILD_BENCHMARKS=OFF", "SYNERGRAPH_PRECOMPILE=ON", "SYNERGRAPH_CUDA=AUTO"]
    configured = subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, *(f"-D{option}" for option in options)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
    print(configured.stdout, flush=True)
    if configured.returncode:
        reason = re.search(r"(?:Could NOT find|Could not find|By not providing) .*|CMake Error.*", configured.stdout)
        raise SystemExit(f"synergraph: CMake found not all that the build needs ({reason[0] if reason else 'see above'}). On Debian and Ubuntu, "
                         "scripts/setup.sh installs what the build needs.")
    targets = subprocess.run(["cmake", "--build", folder, "--target", "help"], check=True, capture_output=True, text=True).stdout
    wanted = ["synergraph_c", "synergraph_cli", *(["gpu_library"] if "gpu_library" in targets else [])]
    command = ["bash", ROOT / "scripts" / "show_build.sh", "cmake", "--build", folder, "--target", *wanted, "--parallel"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as build:
        for line in build.stdout:
            say(line.rstrip("\n"))
    if build.returncode:
        raise SystemExit("synergraph: the C++ library could not be compiled; the compiler's message stands above (pip install -v . shows it)")
    return folder


def patch(*arguments):
    subprocess.run(["patchelf", *arguments], check=True)


def bundle(library, into, ours):
    """Puts the libraries that ours need beside them, each under a name of its own.

    Otherwise whoever asks for libcrypto.so.3 later in the same process, such as Python's ssl, would be given the one from here.
    """
    needed = into / "needed"
    needed.mkdir(exist_ok=True)
    subprocess.run(["cmake", f"-DLIBRARY={library}", f"-DINTO={needed}", "-P", ROOT / "cmake" / "BundleLibrary.cmake"], check=True)
    (needed / library.name).unlink()
    others = {path.name: "sg_" + path.name[len("lib"):] for path in sorted(needed.glob("lib*.so*"))}
    if others and not shutil.which("patchelf"):
        raise SystemExit("synergraph: patchelf is missing. On Debian and Ubuntu, scripts/setup.sh installs what the build needs.")
    for name, own in others.items():
        (needed / name).rename(into / own)
        patch("--set-soname", own, into / own)
    needed.rmdir()
    for path in [*ours, *(into / own for own in others.values())] if others else []:
        path.chmod(0o755)
        patch("--force-rpath", "--set-rpath", "$ORIGIN", path)
        for name in subprocess.run(["patchelf", "--print-needed", path], check=True, capture_output=True, text=True).stdout.split():
            if name in others:  # one by one: patchelf 0.14 mixes up the names if it is given several
                patch("--replace-needed", name, others[name], path)


def cuda_library(library):
    """The library for GPUs of the same build, if there is one."""
    given = os.environ.get("SYNERGRAPH_CUDA_LIBRARY")
    if given == "":
        return None
    beside = [Path(given)] if given else [library.parent / CUDA, library.parent.parent / "lib" / CUDA]
    return next((path for path in beside if path.exists()), None)


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
        sources = {NAME: library, PROGRAM: program, CUDA: cuda_library(library.resolve())}
        ours = [into / name for name, source in sources.items() if source]
        for path in ours:
            shutil.copyfile(sources[path.name], path)
            path.chmod(0o755)
            if shutil.which("strip"):  # before patchelf, whose files strip may damage
                subprocess.run(["strip", "--strip-all", path], check=True)
        bundle(library, into, ours)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", os.environ.get("SYNERGRAPH_PLATFORM") or super().get_tag()[2])


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


local = os.environ.get("SYNERGRAPH_LOCAL_VERSION")
setup(version=f"{VERSION}+{local}" if local else VERSION, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
      distclass=PlatformDistribution)
