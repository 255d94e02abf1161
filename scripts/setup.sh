#!/usr/bin/env bash
# Installs what the build needs, if anything is missing. Usage: scripts/setup.sh [build|compile|test|page|docs|release]
#   build: to build and run synergraph (default); compile: also what compiles and checks the tests;
#   test: also what runs them; page: what rebuilds the interactive page and opens it in a browser;
#   docs: what builds the documentation site (scripts/site.py); release: also what makes and checks a release (scripts/release.sh).
# Needs root or sudo only when something is missing.
set -eu

packages="cmake ninja-build g++ librandom123-dev libcli11-dev libfmt-dev
          nlohmann-json3-dev libzip-dev pkg-config patchelf gnuplot-nox"
level=${1:-build}
if [ "$level" != build ]; then
  packages="$packages libgtest-dev libgmock-dev libbenchmark-dev clang clang-format clang-tidy libclang-rt-14-dev"
fi
if [ "$level" = test ]; then
  packages="$packages python3-numpy python3-pytest python3-torch python3-pandas python3-matplotlib python3-tqdm python3-pip python3-setuptools python3-wheel python3-jsonschema mypy
            abigail-tools openmpi-bin munge slurmctld slurmd slurm-client faketime"
fi
if [ "$level" = docs ]; then
  packages="python3-numpy python3-sphinx python3-myst-parser python3-breathe furo doxygen"
fi
if [ "$level" = release ]; then
  packages="$packages python3-numpy python3-pytest python3-pip python3-setuptools python3-wheel python3-venv abigail-tools dpkg-dev fakeroot lintian debootstrap debian-archive-keyring"
fi
if [ "$level" = page ]; then
  packages="$packages clang-19 lld-19 llvm-19 libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc binaryen chromium"
fi

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; install the equivalents of:" $packages >&2
  exit 1
fi
missing=""
for package in $packages; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  run=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  run="sudo -n env DEBIAN_FRONTEND=noninteractive"
else
  echo "setup: missing packages, and no right to install them:$missing" >&2
  exit 1
fi
echo "setup: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
wait="-o DPkg::Lock::Timeout=600"  # others may be installing
if ! { $run apt-get $wait update && $run apt-get $wait install -y --no-install-recommends $missing; } >"$log" 2>&1; then
  echo "setup: could not install$missing: $(grep -m1 '^E:' "$log" || tail -n 1 "$log")" >&2
  exit 1
fi
