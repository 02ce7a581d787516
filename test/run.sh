#!/usr/bin/env bash
# Builds everything in Release and runs every test. Ends with 'N passed, N failed, N skipped' and a non-zero code on failure.
# Real clients and redis-server are installed first where that is possible; tests that miss one skip and say so.
#   GARNET_TEST_FILTER   passed to dotnet test as --filter
#   GARNET_FUZZ_SECONDS  time per fuzz test (default 5, with CI=true 60)
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 TERM="${TERM:-dumb}" LC_ALL=C.UTF-8

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  missing=()
  command -v redis-server >/dev/null || missing+=(redis-server)
  command -v redis-cli >/dev/null || missing+=(redis-tools)
  python3 -c 'import redis' 2>/dev/null || /usr/bin/python3 -c 'import redis' 2>/dev/null || missing+=(python3-redis)
  if [ ${#missing[@]} -gt 0 ]; then
    echo "Installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # A policy of 101 keeps the package from starting a service.
    had_policy=1
    [ -e /usr/sbin/policy-rc.d ] || { had_policy=0; printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; }
    (timeout 300 apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends "${missing[@]}") </dev/null >/dev/null 2>&1 \
      || echo "Could not install ${missing[*]}; the tests that need them will be skipped."
    [ "$had_policy" = 1 ] || rm -f /usr/sbin/policy-rc.d
  fi
fi
if command -v npm >/dev/null && { [ ! -d artifacts/node/node_modules/ioredis ] || [ ! -d artifacts/node/node_modules/redis ]; }; then
  mkdir -p artifacts/node
  timeout 180 npm install --prefix artifacts/node --no-audit --no-fund --loglevel=error ioredis redis </dev/null >artifacts/node/install.log 2>&1 \
    || echo "Could not install the Node clients; the tests that need them will be skipped."
fi
export NODE_PATH="$PWD/artifacts/node/node_modules"

echo "Building"
if ! dotnet build Garnet.sln -c Release -v quiet --nologo -clp:NoSummary </dev/null; then
  echo "The build failed."
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

passed=0 failed=0 skipped=0 broken=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for project in test/*/*.csproj; do
  name=$(basename "$project" .csproj)
  filter=()
  [ -n "${GARNET_TEST_FILTER:-}" ] && filter=(--filter "$GARNET_TEST_FILTER")
  # The longest takes 5 minutes: one that hangs fails, instead of never ending.
  timeout -k 10 900 dotnet test "$project" -c Release --no-build --nologo "${filter[@]}" </dev/null >"$log" 2>&1
  code=$?
  # The last line of a run: 'Passed!  - Failed: 0, Passed: 53, Skipped: 0, Total: 53, ...'
  summary=$(grep -E '^(Passed|Failed|Skipped)!' "$log" | tail -1)
  count() { sed -n "s/.*$1: *\([0-9]*\).*/\1/p" <<<"$summary"; }
  f=$(count Failed) p=$(count Passed) s=$(count Skipped)
  if [ -z "$summary" ]; then
    if [ $code -eq 0 ] || grep -qE 'No test is available|No test matches' "$log"; then echo "$name: no tests"; continue; fi
    f=1 p=0 s=0
  elif [ $code -ne 0 ] && [ "$f" = 0 ]; then
    f=1
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  echo "$name: $p passed, $f failed, $s skipped"
  if [ "$f" -gt 0 ]; then
    broken+=("$name")
    sed -n '/^  *Failed /,$p' "$log" | grep -vE '^ *at .*NUnit|^$' | head -200
    [ -n "$summary" ] || tail -40 "$log"
  elif [ "$s" -gt 0 ]; then
    grep -E '^  *Skipped ' "$log" | head -20
  fi
done

[ ${#broken[@]} -eq 0 ] || echo "Failures in: ${broken[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
