#!/usr/bin/env bash
# Packs what a machine with a GPU needs to test and time this build: the
# Python package with its libraries, the programs, the libraries that they
# need. The other machine needs Python, and PyTorch for the benchmarks, but no
# packages of the system and no CUDA toolkit.
# Usage: scripts/pack_gpu.sh [--as-is] [BUILD_DIR [PACK_DIR]]
#   BUILD_DIR  build/release unless given; brought up to date unless --as-is
#   PACK_DIR   build/gpu_pack unless given; replaced
# Both the folder and PACK_DIR.tar.xz can be carried. There:
#   tar xf gpu_pack.tar.xz && . gpu_pack/environment.sh   sets the paths
#   python3 -c 'import synergraph'                        the package
#   gpu_pack/run benchmarks/gpu_large_metrics ...             a program
#   scripts/gpu_test.sh --as-is gpu_pack                  the tests
set -euo pipefail
fail() { echo "pack_gpu: $*" >&2; exit 1; }
as_is=
if [ "${1:-}" = --as-is ]; then as_is=yes; shift; fi
case ${1:-} in -*) sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" >&2; exit 2 ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=${1:-build/release}
pack=${2:-build/gpu_pack}
python=${PYTHON:-/usr/bin/python3}
[ -f "$build/CMakeCache.txt" ] || fail "'$build' is no build directory"
if [ -z "$as_is" ]; then
  nice -n 5 cmake --build "$build" --target synergraph_c synergraph_cli gpu_library test_gpu test_gpu_metrics -- -j2 >/dev/null ||
    fail "the build failed: cmake --build $build says why"
fi
for file in capi/libsynergraph.so lib/libsynergraph_cuda.so; do
  [ -e "$build/$file" ] || fail "$build/$file is missing: configure with SYNERGRAPH_CUDA=ON and build"
done

rm -rf "$pack"
mkdir -p "$pack/lib" "$pack/cli" "$pack/tests/gpu" "$pack/benchmarks" "$pack/python"
pack=$(realpath "$pack")
# The package, as a wheel has it.
library=$(realpath "$build/capi/libsynergraph.so")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SYNERGRAPH_LIBRARY=$library SYNERGRAPH_CUDA_LIBRARY=$(realpath "$build/lib/libsynergraph_cuda.so") "$python" setup.py -q \
  egg_info --egg-base "$scratch" build --build-base "$scratch" --build-lib "$pack/python" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log" >&2; fail "setup.py failed"; }
# Programs, and what they need beside what every system has.
cp "$build/lib/libsynergraph_cuda.so" "$pack/lib/"
for program in cli/synergraph tests/gpu/test_gpu tests/gpu/test_gpu_metrics benchmarks/gpu_large_metrics benchmarks/gpu_small_metrics \
               benchmarks/time_metrics; do
  [ -x "$build/$program" ] || continue
  cp "$build/$program" "$pack/$program"
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
    grep -Ev '/lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so\.[0-9]+$' | while read -r needed; do
      cp -Lu "$needed" "$pack/lib/"
    done
done
find "$pack" -path "$pack/python" -prune -o -type f \( -name '*.so*' -o -perm -u+x ! -name '*.sh' ! -name '*.py' \) -exec strip --strip-unneeded {} \; 2>/dev/null || true
find "$pack" -name __pycache__ -prune -exec rm -rf {} +
cat >"$pack/environment.sh" <<'HERE'
# . environment.sh: the Python package of this folder, and its program.
synergraph_pack=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH="$synergraph_pack/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export SYNERGRAPH_PROGRAM="$synergraph_pack/run-synergraph"
HERE
# Python is not to find these libraries: it may need newer ones.
cat >"$pack/run" <<'HERE'
#!/bin/sh
# run PROGRAM ...: a program of this folder, with its libraries.
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/$program" "$@"
HERE
printf '#!/bin/sh\nexec "$(dirname "$0")/run" cli/synergraph "$@"\n' >"$pack/run-synergraph"
chmod +x "$pack/run" "$pack/run-synergraph"
tar -C "$(dirname "$pack")" -cf - "$(basename "$pack")" | xz -T2 -3 >"$pack.tar.xz"
size=$(du -sm "$pack.tar.xz" | cut -f1)
echo "$pack: $(du -sm "$pack" | cut -f1) MiB; $pack.tar.xz: $size MiB"
[ "$size" -lt 30 ] || fail "$size MiB are too much to carry: expected less than 30"
