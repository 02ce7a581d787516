#!/usr/bin/env bash
# Unpacks the archive of the native build in an empty folder and uses what is there, as somebody does who has nothing else.
#   test/archive.sh
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/.."
skip() { echo "archive: skipped, $1"; exit 77; }
fail() { echo "archive: $1" >&2; exit 1; }
published=artifacts/publish/GarnetServer/native
shopt -s nullglob
archives=(artifacts/garnet-server-*-linux-*.tar.gz)
[ ${#archives[@]} = 1 ] || skip "there are ${#archives[@]} archives: dotnet publish main/GarnetServer -c Release -p:Native=true -p:Archive=true"
[ "${archives[0]}" -nt $published/garnet-server ] || skip "what is published is newer than the archive: -p:Archive=true makes it anew"

folder=$(mktemp -d) server=
finish() { [ -z "$server" ] || kill -KILL "$server" 2>/dev/null; rm -rf "$folder"; }
trap finish EXIT
tar -xzf "${archives[0]}" -C "$folder" || fail "it cannot be unpacked"
name=$(basename "${archives[0]}" .tar.gz)
[ "$(ls "$folder")" = "$name" ] || fail "it unpacks into $(ls "$folder")"
# Whatever was published, and what whoever passes it on has to add.
for file in "$published"/* LICENSE README.md CHANGELOG.md; do
  cmp -s "$file" "$folder/$name/$(basename "$file")" || fail "$(basename "$file") is not in it, or is another one"
done
said=$(cd / && env -i "$folder/$name/garnet-server" --version) || fail "it does not start: $said"
[[ $name == "garnet-server-${said#Garnet }-linux-"* ]] || fail "$name says that it is $said"

cd "$folder" || exit 1
env -i "$folder/$name/garnet-server" --port 0 --unixsocket "$folder/socket" --dir "$folder/data" >"$folder/log" 2>&1 & server=$!
for _ in $(seq 100); do grep -q 'Ready to accept' "$folder/log" && break; read -rt 0.1 <> <(:) || true; done
env -i "$folder/$name/garnet-server" ping --port 0 --unixsocket "$folder/socket" || fail "no answer: $(cat "$folder/log")"
kill -TERM "$server"
wait "$server" || fail "it ended with $?: $(cat "$folder/log")"
server=
echo "archive: $name, $(stat -c %s "$OLDPWD/${archives[0]}") bytes, serves and stops"
