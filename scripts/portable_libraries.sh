#!/usr/bin/env bash
# Makes a folder of what wheels are linked with (cmake/Portable.cmake), so that they run on systems older than this one:
#   lib/      static fmt, libzip and zlib from Debian's source packages, compiled here; libzip without encryption, bzip2, lzma and zstd
#   LICENSE-libraries  the licences of these, and of libraries whose headers are compiled in
#   sysroot/  glibc 2.31 and libgcc of Debian 11, to link against
# Usage: scripts/portable_libraries.sh FOLDER
# apt downloads the packages and checks their signatures. Nothing is installed. Needs dpkg-dev, CMake, Ninja and GCC.
set -euo pipefail
message=2
fail() { echo "portable_libraries: $*" >&$message; exit 1; }
[ $# = 1 ] || { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" >&2; exit 2; }
sources=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || fail "this is not Debian or Ubuntu on x86-64; wheels are made there"
for program in apt-get dpkg-source cmake ninja gcc g++ make; do
  command -v "$program" >/dev/null || fail "$program is missing: scripts/setup.sh release"
done

# The versions whose headers the compiler sees here.
wanted=(libzip=1.7.3-1 fmtlib=9.1.0+ds1-2 zlib=1:1.2.13.dfsg-1)
for package in "libzip-dev=1.7.3-1" "libfmt-dev=9.1.0+ds1-2"; do
  found=$(dpkg-query -W -f='${source:Version}' "${package%%=*}" 2>/dev/null || true)
  [ "$found" = "${package#*=}" ] || fail "${package%%=*} is '$found', expected ${package#*=} (Debian 12): its headers and the static library must be of one version"
done

apt="$folder/apt"
mkdir -p "$apt"/lists/partial "$apt"/cache/archives/partial "$apt/packages"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${SYNERGRAPH_DEBIAN_MIRROR:-http://deb.debian.org/debian}
printf '%s\n' "deb-src [signed-by=$keys] $mirror bookworm main" "deb [arch=amd64 signed-by=$keys] $mirror bullseye main" >"$apt/sources.list"
get=(apt-get -qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$apt/lists"
     -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)")
"${get[@]}" update
cd "$apt/packages"
"${get[@]}" source --download-only "${wanted[@]}" >/dev/null
"${get[@]}" download libc6/bullseye libc6-dev/bullseye libgcc-s1/bullseye

rm -rf "$folder/sysroot" "$folder/source" "$folder/lib"
mkdir -p "$folder/source" "$folder/lib"
for package in *.deb; do dpkg-deb -x "$package" "$folder/sysroot"; done
# Links to /lib are meant inside of the folder.
find "$folder/sysroot" -type l -lname '/*' | while IFS= read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$folder/sysroot$(readlink "$link")")" "$link"
done
for package in *.dsc; do dpkg-source -x "$package" "$folder/source/${package%%_*}" >/dev/null 2>&1 || fail "$package cannot be unpacked"; done

flags=(-O2 -fPIC -fvisibility=hidden -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
       "-ffile-prefix-map=$folder=.")
log="$folder/log"
trap 'fail "a library could not be compiled: $(tail -n 1 "$log") (all of it: $log)"' ERR
exec 3>&2 >"$log" 2>&1
message=3
cd "$folder/source/zlib"
CFLAGS="${flags[*]}" ./configure --static
make -s libz.a
cp libz.a "$folder/lib/"
cd "$folder/source/fmtlib"
g++ -std=c++20 "${flags[@]}" -Iinclude -c src/format.cc -o format.o
ar qcD "$folder/lib/libfmt.a" format.o
cmake -G Ninja -S "$folder/source/libzip" -B "$folder/source/libzip/build" -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=${flags[*]}" -DBUILD_SHARED_LIBS=OFF \
  -DENABLE_{COMMONCRYPTO,GNUTLS,MBEDTLS,OPENSSL,WINDOWS_CRYPTO,BZIP2,LZMA}=OFF -DBUILD_{TOOLS,REGRESS,EXAMPLES,DOC}=OFF -DHAVE_ARC4RANDOM=0
ninja -C "$folder/source/libzip/build"
cp "$folder/source/libzip/build/lib/libzip.a" "$folder/lib/"
gcc "${flags[@]}" -c "$sources/cmake/older_glibc.c" -o "$folder/lib/older_glibc.o"
# Wheels contain these, and headers of the others: their licences go with them.
for file in "$folder"/source/{fmtlib,libzip,zlib}/debian/copyright /usr/share/doc/{libcli11-dev,nlohmann-json3-dev,librandom123-dev}/copyright; do
  library=${file%/copyright}
  printf '==== %s\n\n%s\n\n' "$(basename "${library%/debian}")" "$(cat "$file")"
done >"$folder/LICENSE-libraries"
rm -rf "$folder/source" "$apt"
