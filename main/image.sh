#!/usr/bin/env bash
# Lays out what the container image holds: FOLDER/root with the published native build and what it loads, and FOLDER/data, empty, which
# becomes the directory of the image's user. No shell, no package manager, no runtime.
#   main/image.sh PUBLISHED FOLDER
set -euo pipefail
published=$(realpath "${1:?the folder of the native build}") folder=$(realpath -m "${2:?the folder to lay it out in}")
root=$folder/root
mkdir -p "$root/app" "$folder/data"
install -m 755 "$published"/* -t "$root/app"
# The C library, and OpenSSL, which seals snapshots and encrypts connections: the program loads it by name, so it is in no list.
ssl=$(find /usr/lib -name libssl.so.3 -print -quit)
[ -n "$ssl" ] || { echo "There is no libssl.so.3 to put into the image." >&2; exit 1; }
for library in "$ssl" $(ldd "$published"/* "$ssl" | grep -o '/[^ :]*\.so[^ :]*' | grep -vF "$published/" | sort -u); do
  install -D -m 755 "$library" "$root$library"
done
chmod -R a+rX "$folder"
