#!/usr/bin/env bash
# Packs the dotnet tool, installs it from the packed folder into a temporary one, as this platform gets it (native) and as others do
# (portable); starts each, asks it and stops it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
server=
finish() { [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true; rm -rf "$folder"; }
trap finish EXIT
main/pack.sh "$folder/packages"
# Only the packed folder is a source: another package of the same name must not be picked.
cat >"$folder/nuget.config" <<CONFIG
<configuration><packageSources><clear /><add key="packed" value="$folder/packages" /></packageSources></configuration>
CONFIG
ls "$folder/packages"
version=$(basename "$folder"/packages/garnet-server.any.*.nupkg .nupkg); version=${version#garnet-server.any.}

# try KIND: installs the tool and has it serve.
try() {
  local kind=$1 port=$((20000 + RANDOM % 20000))
  NUGET_PACKAGES="$folder/cache-$kind" dotnet tool install garnet-server --version "$version" --tool-path "$folder/$kind" --configfile "$folder/nuget.config"
  [ -n "$(find "$folder/$kind" -name garnet-server.dll)" ] && is=portable || is=native
  [ "$is" = "$kind" ] || { echo "$is was installed instead of $kind"; exit 1; }
  "$folder/$kind/garnet-server" --version
  "$folder/$kind/garnet-server" --port "$port" >"$folder/log" & server=$!
  for _ in $(seq 100); do grep -q 'Ready to accept' "$folder/log" && break; read -rt 0.1 <> <(:) || true; done
  "$folder/$kind/garnet-server" ping --port "$port"
  kill -TERM "$server"
  wait "$server"
  server=
}
try native
# A platform that the first package does not name takes the portable one: have it name another.
case $(uname -m) in aarch64) other=linux-x64 ;; *) other=linux-arm64 ;; esac
dotnet pack main/GarnetServer -c Release -p:Native=true "-p:ToolPackageRuntimeIdentifiers=\"$other;any\"" -v quiet --nologo -o "$folder/packages"
try portable
echo "The packed tool works."
