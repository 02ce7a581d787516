#!/usr/bin/env bash
# Builds the load generator, fetches the peer it compares with, and runs it; tables go to benchmark/RESULTS.md.
#   benchmark/run.sh                              the smoke set against every system that is there
#   benchmark/run.sh compare --set big            other sets: smoke, collections, commands, big, start, idle, durable, always, pm, recover, snapshot, replica, tiers, movers, bulk
#   benchmark/run.sh compare --set start --systems native,ours,redis   the native build beside the other
#   benchmark/run.sh compare --set pm --systems ours,ours+always,ours+pm   a durable SET with and without a ring in persistent memory, beside GET
#   benchmark/run.sh run --port 6379 --op get     one load against a running server
set -euo pipefail
cd "$(dirname "$0")/.."
dotnet build benchmark/Load -c Release -v q --nologo >/dev/null
[ "$#" -gt 0 ] || set -- compare
if [ "$1" = compare ]; then
    if [ "${GARNET_PEER:-yes}" = yes ] && [ ! -x artifacts/peer/garnet-server ]; then
        dotnet tool install garnet-server --version 2.2.5 --tool-path artifacts/peer >/dev/null 2>&1 || echo "The Garnet tool package could not be installed."
    fi
    if [ -f main/GarnetServer/GarnetServer.csproj ] && [ "${GARNET_BUILD:-yes}" = yes ]; then
        dotnet build main/GarnetServer -c Release -v q --nologo >/dev/null || echo "Our server does not build."
        [[ "$*" != *native* ]] || dotnet publish main/GarnetServer -c Release -p:Native=true -v q --nologo >/dev/null || echo "Our native server does not build."
    fi
    set -- "$@" --results benchmark/RESULTS.md
fi
exec artifacts/bin/Load/release/garnet-load "$@"
