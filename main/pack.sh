#!/usr/bin/env bash
# Packs the dotnet tool: garnet-server, which names the others; garnet-server.PLATFORM, the native build; garnet-server.any, portable.
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
