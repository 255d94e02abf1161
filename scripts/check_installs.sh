#!/usr/bin/env bash
# Installs the files of a release in systems without a compiler and without anything of this checkout, uses them, and removes them again: wheels in
# Debian 11, 12 and 13 and Ubuntu 22.04 and 24.04, which have Python 3.9 to 3.13; the Debian packages in Debian 12.
# Usage: scripts/check_installs.sh FOLDER [SUITE]...   FOLDER is that of scripts/release.sh; bullseye jammy bookworm noble trixie unless given
# Makes the systems with debootstrap in build/systems, once, and leaves them as they were. Needs root.
set -euo pipefail
fail() { echo "check_installs: $*" >&2; exit 1; }
[ $# -gt 0 ] || { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" >&2; exit 2; }
[ "$(id -u)" = 0 ] || fail "needs root, for debootstrap and chroot"
files=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
suites=("$@")
[ $# -gt 0 ] || suites=(bullseye jammy bookworm noble trixie)
systems=${SYNERGRAPH_SYSTEMS:-$PWD/build/systems}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# system SUITE: its folder, made if need be.
system() {
  local root=$systems/$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror=${SYNERGRAPH_DEBIAN_MIRROR:-http://deb.debian.org/debian} parts=main script=$1
  [ -e "$root.made" ] && return
  if [ "$1" = jammy ] || [ "$1" = noble ]; then  # Ubuntu's keys are a package of Debian 13
    system trixie
    keys=$systems/trixie/usr/share/keyrings/ubuntu-archive-keyring.gpg mirror=http://archive.ubuntu.com/ubuntu parts=main,universe script=jammy
  fi
  rm -rf "$root"
  mkdir -p "$systems"
  debootstrap --variant=minbase --keyring="$keys" --components="$parts" \
    --include=python3,python3-numpy,python3-venv,python3-pip$([ "$1" != trixie ] || echo ,ubuntu-archive-keyring) "$1" "$root" "$mirror" \
    "/usr/share/debootstrap/scripts/$script" >"$log" 2>&1 || fail "debootstrap of $1 failed: $(tail -n 1 "$log")"
  touch "$root.made"
}
# inside SUITE COMMAND: in a copy of the system, which is thrown away.
inside() {
  local copy status=0
  copy=$(mktemp -d "$systems/used.XXXXXX")
  cp -a "$systems/$1/." "$copy"
  mkdir -p "$copy/release"
  cp "$files"/* tests/python/check_installed.py tests/package/consumer/c/measure.c "$copy/release/"
  cp /etc/resolv.conf "$copy/etc/resolv.conf"
  chroot "$copy" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -euc "cd /release; $2" || status=$?
  rm -rf "$copy"
  return $status
}

for suite in "${suites[@]}"; do
  system "$suite"
  echo "$suite:"
  inside "$suite" 'for wheel in *.whl; do python3 check_installed.py $wheel; done' || fail "a wheel does not work in $suite"
done

case " ${suites[*]} " in *" bookworm "*) ;; *) exit 0 ;; esac
echo "bookworm, Debian packages:"
inside bookworm '
  say() { echo "   $*"; }
  apt-get -qq update
  dpkg-query -W -f "\${Package}\n" | sort >before
  SECONDS=0
  apt-get -qq -y --no-install-recommends install ./synergraph_*.deb ./libsynergraph[0-9]*.deb ./libsynergraph-dev*.deb >log 2>&1 || { tail -n 5 log; exit 1; }
  say "installed in $SECONDS s, with $(dpkg-query -W -f "\${Package}\n" | sort | comm -13 before - | wc -l) packages"
  synergraph graph --example 1 | grep -q combined
  synergraph --version | grep -q .
  apt-get -qq -y --no-install-recommends install gcc libc6-dev pkg-config >log 2>&1 || { tail -n 5 log; exit 1; }
  cc measure.c -o measure $(pkg-config --cflags --libs synergraph)
  test "$(./measure)" = "minimax fidelity 0.5"
  say "program, library, header and pkg-config work"
  packages=$(dpkg-query -W -f "\${Package}\n" "*synergraph*")
  owned=$(dpkg -L $packages | grep synergraph | sort -u)
  SECONDS=0
  apt-get -qq -y purge $packages >log 2>&1 || { tail -n 5 log; exit 1; }
  for path in $owned; do test ! -e $path || { echo "$path is left"; exit 1; }; done
  say "removed in $SECONDS s; nothing is left"' || fail "the Debian packages do not work"
