#!/bin/sh
# Builds libgarnet-bulk.so into a folder, as the build of libs/storage/Bulk does. A machine without what it takes goes without, and says so.
#   build.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")" && pwd)
folder=$1
leave_out() { echo "Bulk: the native library is left out, there is no $1."; exit 0; }
[ "$(uname -s)" = Linux ] || leave_out "Linux"
for tool in cmake cc c++; do command -v $tool >/dev/null || leave_out $tool; done
command -v make >/dev/null || command -v ninja >/dev/null || leave_out "make or ninja"
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja
mkdir -p "$folder"
{ cmake -S "$source" -B "$folder/build" && cmake --build "$folder/build" -j 2; } >"$folder/build.log" 2>&1 || { cat "$folder/build.log" >&2; exit 1; }
cp "$folder/build/libgarnet-bulk.so" "$folder/libgarnet-bulk.so.new"
mv "$folder/libgarnet-bulk.so.new" "$folder/libgarnet-bulk.so"
