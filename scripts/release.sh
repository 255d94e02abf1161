#!/usr/bin/env bash
# Makes a release of the commit that is checked out, and checks it: source archive, wheels, Debian packages, their checksums. Says what it does and how
# long each step takes. Publishes nothing: the last lines say what a person must do. docs/releasing.md explains the steps.
# Usage: scripts/release.sh [--cuda] [--twice] [--installs] [--out FOLDER] [--build FOLDER]
#   --cuda      also a wheel for NVIDIA's GPUs; needs nvcc
#   --twice     makes everything but the wheel for GPUs again in another folder, with another time zone and locale, and compares all bytes
#   --installs  installs the files in systems that debootstrap makes (scripts/check_installs.sh); needs root
#   --out       the folder of the files; build/dist unless given
#   --build     takes library and program from this build of the checkout instead of compiling: to try the script, not to publish
# Runs on Debian 12 (x86-64). The wheels run on systems with the glibc that their names say.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release: $*" >&2; exit 1; }
cuda= twice= installs= out=build/dist built=
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) cuda=yes ;;
    --twice) twice=yes ;;
    --installs) installs=yes ;;
    --build) built=$(realpath -m "${2:-}"); [ -f "$built/CMakeCache.txt" ] || { echo "release: --build needs the folder of a build" >&2; exit 2; }; shift ;;
    --out) out=${2:-}; [ -n "$out" ] || { echo "release: --out needs a folder" >&2; exit 2; }; shift ;;
    *) [ "$1" = --help ] || echo "release: $1: unknown option" >&2; sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" >&2; [ "$1" = --help ] && exit 0; exit 2 ;;
  esac
  shift
done
[ -z "$built" ] || [ -z "$twice" ] || { echo "release: --twice compiles; it does not go with --build" >&2; exit 2; }
umask 022
repository=$PWD
python=/usr/bin/python3
version=$(sed -nE 's/^project\(synergraph VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

begun=$SECONDS
step() {
  [ -z "${name:-}" ] || printf '   %d:%02d\n' $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60))
  begun=$SECONDS name=$1
  [ -z "$1" ] || printf '\n== %s\n' "$1"
}

# glibc_of FILE...: the newest glibc that programs and libraries ask for. No other library than those of every system may be asked for.
glibc_of() {
  local file other
  for file in "$@"; do
    other=$(readelf -dW "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
      grep -vE '^(lib(c|m|dl|rt|pthread|gcc_s)\.so\.[0-9]+|ld-linux-x86-64\.so\.2)$' || true)
    [ -z "$other" ] || fail "$file needs $(echo $other), which a wheel must not ask for"
  done
  objdump -T "$@" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sed 's/GLIBC_//' | sort -uV | tail -n 1
}

# make_wheel BUILD WORK OUT [LOCAL_VERSION]: the wheel around a build; with a local version, it has the library for GPUs.
make_wheel() {
  local build=$1 work=$2 out=$3 ours=("$1/capi/libsynergraph.so" "$1/cli/synergraph") glibc
  local environment=(SYNERGRAPH_LIBRARY="$(realpath "$build/capi/libsynergraph.so")" SYNERGRAPH_CLI="$build/cli/synergraph" SYNERGRAPH_CUDA_LIBRARY=)
  if [ -n "${4:-}" ]; then
    ours+=("$build/lib/libsynergraph_cuda.so")
    environment+=(SYNERGRAPH_LOCAL_VERSION="$4" SYNERGRAPH_CUDA_LIBRARY="$build/lib/libsynergraph_cuda.so")
  fi
  glibc=$(glibc_of "${ours[@]}")
  [ "$(printf '%s\n' "$glibc" 2.31 | sort -V | tail -n 1)" = 2.31 ] || fail "the wheel would need glibc $glibc, expected at most 2.31"
  bash "$repository/tests/package/check_hardening.sh" readelf "${ours[@]}"
  rm -rf "$work/source/build" "$work/source/python/"*.egg-info
  cp "$work/portable/LICENSE-libraries" "$work/source/"  # into the wheel, beside LICENSE
  env "${environment[@]}" SYNERGRAPH_PLATFORM="manylinux_${glibc/./_}_x86_64" "$python" -m pip --disable-pip-version-check -q wheel \
    --no-build-isolation --no-deps --no-index --wheel-dir "$out" "$work/source"
}

# make_all WORK OUT: everything, from the source archive, in a folder of its own.
make_all() {
  local work=$1 out=$2 options=(-DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_BUILD_TYPE=Release -DSYNERGRAPH_BUILD_TESTS=OFF -DSYNERGRAPH_BUILD_BENCHMARKS=OFF -DSYNERGRAPH_PRECOMPILE=ON)
  rm -rf "$work/source" "$out"
  [ -n "$built" ] || rm -rf "$work/build"  # the times of the archive's files say nothing about what changed: all is compiled anew
  mkdir -p "$work/source" "$out"
  step "source archive"
  git archive --format=tar --prefix="synergraph-$version/" HEAD | gzip -9n >"$out/synergraph-$version.tar.gz"
  tar -xzf "$out/synergraph-$version.tar.gz" -C "$work/source" --strip-components=1

  step "libraries that wheels contain: fmt, libzip, zlib; glibc 2.31 to link against"
  [ -f "$work/portable/LICENSE-libraries" ] || bash scripts/portable_libraries.sh "$work/portable"

  local build=${built:-$work/build} sources=$work/source
  if [ -n "$built" ]; then sources=$repository options=(-DCMAKE_INSTALL_PREFIX=/usr); fi
  step "release build of library and program"
  cmake -S "$sources" -B "$build" -G Ninja "${options[@]}" -DSYNERGRAPH_CUDA=OFF -DSYNERGRAPH_PORTABLE= >"$work/log" || fail "CMake failed: $work/log"
  bash scripts/show_build.sh cmake --build "$build" --target synergraph_c synergraph_cli

  step "Debian packages"
  rm -rf "$work/packages"
  (cd "$build" && cpack -G DEB -B "$work/packages" >"$work/log" 2>&1) || fail "cpack failed: $(grep -m1 -i error "$work/log" || tail -n 1 "$work/log")"
  cp "$work"/packages/*.deb "$out"

  step "wheel"
  cmake -S "$sources" -B "$build" -DSYNERGRAPH_PORTABLE="$work/portable" >"$work/log" || fail "CMake failed: $work/log"
  bash scripts/show_build.sh cmake --build "$build" --target synergraph_c synergraph_cli
  make_wheel "$build" "$work" "$out"

  if [ -n "$cuda" ]; then
    step "wheel for GPUs"
    cmake -S "$sources" -B "$build" -DSYNERGRAPH_CUDA=ON >"$work/log" || fail "CMake failed: $work/log"
    bash scripts/show_build.sh cmake --build "$build" --target synergraph_c synergraph_cli gpu_library
    make_wheel "$build" "$work" "$out" "cuda$(sed -nE 's/^CMAKE_CUDA_COMPILER_VERSION.*[^0-9]([0-9]+)\..*/\1/p;s/^set\(CMAKE_CUDA_COMPILER_VERSION "([0-9]+)\..*/\1/p' \
      "$build"/CMakeFiles/*/CMakeCUDACompiler.cmake | head -n 1)"
  fi
  [ -z "$built" ] || cmake -S "$sources" -B "$build" -DSYNERGRAPH_PORTABLE= >"$work/log"
  (cd "$out" && sha256sum -- * >SHA256SUMS)
}

step "state of the checkout"
[ -n "$version" ] || fail "CMakeLists.txt has no line 'project(synergraph VERSION ...)'"
[ -z "$(git status --porcelain)" ] || echo "   note: there are changes that are not committed; the release is made of the last commit"
ready=yes
complain() { echo "   not ready to publish: $*"; ready=; }
[ -z "$built" ] || complain "--build: library and program are of another build"
grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)" CHANGELOG.md || complain "CHANGELOG.md has no heading '## $version (DATE)'"
grep -qx "version: $version" CITATION.cff || complain "CITATION.cff has no line 'version: $version'"
[ "$(git tag --points-at HEAD | grep -x "v$version" || true)" ] || complain "this commit has no tag v$version"
echo "   version $version, commit $(git rev-parse --short HEAD)"

step "packages"
bash scripts/setup.sh release

work=$repository/build/release-work
mkdir -p "$work" "$(dirname "$out")"
out=$(realpath -m "$out")
make_all "$work" "$out"

step "checks"
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$out"/*.deb || fail "lintian complains of the Debian packages (above)"
echo "   lintian: no errors, no warnings"
for wheel in "$out"/*.whl; do
  "$python" tests/python/check_installed.py "$wheel"
done

if [ -n "$installs" ]; then
  step "installs in clean systems"
  bash scripts/check_installs.sh "$out"
fi

if [ -n "$twice" ]; then
  again=$(mktemp -d)
  trap 'rm -rf "$again"' EXIT
  (export TZ=Asia/Kathmandu LC_ALL=C.UTF-8 HOME="$again"; cuda=; make_all "$again/another-folder" "$again/files") || fail "the second build failed"
  begun=$SECONDS
  step "comparison"
  # nvcc's objects depend on the folder of the sources: the wheel for GPUs is left out.
  diff <(grep -v '+cuda' "$out/SHA256SUMS") <(grep -v '+cuda' "$again/files/SHA256SUMS") || fail "two builds differ in the files above"
  echo "   $(grep -vc '+cuda' "$out/SHA256SUMS") files have the same bytes in both builds"
fi
step ""

printf '\nFiles in %s\n' "$out"
(cd "$out" && du -h --apparent-size -- * | sed 's/^/   /')
cat <<HERE

To publish, a person must
  1. resolve what stands above as "not ready to publish"$([ -z "$ready" ] || echo " (nothing does)")
  2. sign the checksums:       gpg --armor --detach-sign $out/SHA256SUMS
  3. push the tag:             git tag -s v$version && git push origin v$version
  4. upload to PyPI:           twine upload $out/synergraph-$version-*.whl
  5. make the release v$version on the forge and attach every file of the folder; the wheel for GPUs has a local version, which PyPI refuses
  6. store the new interface:  python3 tests/capi/check_abi.py cc capi/synergraph.h tests/capi/abi.xml --update
HERE
