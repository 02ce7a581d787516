#!/usr/bin/env bash
# Packs the dotnet tool: garnet-server, which names the others; garnet-server.PLATFORM, the native build; garnet-server.any, portable. And
# Garnet.Rdma, a library by itself, with the native library of this machine's platform, where there is a compiler for it.
#   main/pack.sh FOLDER
# A machine builds for its own platform. For several: set PLATFORMS="linux-x64 linux-arm64" on each of them, and publish the packages
# of all together, garnet-server last.
set -euo pipefail
folder=$(realpath -m "${1:?the folder for the packages}")
cd "$(dirname "$0")/.."
case $(uname -m) in aarch64) own=linux-arm64 ;; *) own=linux-x64 ;; esac
names="${PLATFORMS:-$own} any"
pack() { dotnet pack main/GarnetServer -c Release -p:Native=true "-p:ToolPackageRuntimeIdentifiers=\"${names// /;}\"" -v quiet --nologo -o "$folder" "$@"; }
pack
pack -r "$own"
pack -r any
dotnet build libs/storage/Bulk -c Release -v quiet --nologo -clp:NoSummary
if [ -e artifacts/native/bulk/libgarnet-bulk.so ]; then
  dotnet pack libs/storage/Bulk -c Release --no-build -v quiet --nologo -o "$folder"
else
  echo "Garnet.Rdma is not packed: its native library could not be built here."
fi
