#!/usr/bin/env bash
# Packs the dotnet tool, installs it from the packed folder into a temporary one, starts it, asks it and stops it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
server=
finish() { [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true; rm -rf "$folder"; }
trap finish EXIT
for project in libs/common libs/storage/Tsavorite libs/storage/Aof libs/server libs/host main/GarnetServer; do
  dotnet pack "$project" -c Release -v quiet --nologo -o "$folder/packages"
done
# Only the packed folder is a source: another package of the same name must not be picked.
cat >"$folder/nuget.config" <<CONFIG
<configuration><packageSources><clear /><add key="packed" value="$folder/packages" /></packageSources></configuration>
CONFIG
version=$(basename "$folder"/packages/garnet-server.*.nupkg .nupkg); version=${version#garnet-server.}
NUGET_PACKAGES="$folder/cache" dotnet tool install garnet-server --version "$version" --tool-path "$folder/tool" --configfile "$folder/nuget.config"
"$folder/tool/garnet-server" --version
port=$((20000 + RANDOM % 20000))
"$folder/tool/garnet-server" --port "$port" >"$folder/log" & server=$!
for _ in $(seq 100); do grep -q 'Ready to accept' "$folder/log" && break; read -rt 0.1 <> <(:) || true; done
"$folder/tool/garnet-server" ping --port "$port"
kill -TERM "$server"
wait "$server"
server=
ls "$folder/packages"
echo "The packed tool works."
