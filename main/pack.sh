#!/usr/bin/env bash
# Packs the dotnet tool: garnet-server, which names the others; garnet-server.PLATFORM, the native build; garnet-server.any, portable. And
# Garnet.Rdma, a library by itself, with the native library of this machine's platform, where there is a compiler for it.
#   main/pack.sh FOLDER
# A machine builds for its own platform. For several: set PLATFORMS="linux-x64 linux-arm64" on each of them, and publish the packages
# of all together, garnet-server last. The native build is linked by a C compiler.
set -euo pipefail
folder=$(realpath -m "${1:?the folder for the packages}")
cd "$(dirname "$0")/.."
case $(uname -m) in aarch64) own=linux-arm64 ;; *) own=linux-x64 ;; esac
names="${PLATFORMS:-$own} any"
command -v clang >/dev/null || command -v gcc >/dev/null || { echo "pack: the native build needs a C compiler: apt-get install gcc libc6-dev, or clang" >&2; exit 1; }
say() { echo "pack: $*"; }
pack() { dotnet pack main/GarnetServer -c Release -p:Native=true "-p:ToolPackageRuntimeIdentifiers=\"${names// /;}\"" -v quiet --nologo -o "$folder" "$@"; }
say "1 of 4: garnet-server, which names those for $names"
pack
say "2 of 4: garnet-server.$own, compiled to machine code: some minutes on two cores"
pack -r "$own"
say "3 of 4: garnet-server.any"
pack -r any
say "4 of 4: Garnet.Rdma"
dotnet build libs/storage/Bulk -c Release -v quiet --nologo -clp:NoSummary
if [ -e artifacts/native/bulk/libgarnet-bulk.so ]; then
  dotnet pack libs/storage/Bulk -c Release --no-build -v quiet --nologo -o "$folder"
else
  say "Garnet.Rdma is not packed: its native library could not be built here."
fi
say "the packages are in $folder"
