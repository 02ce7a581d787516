#!/usr/bin/env bash
# Builds everything in Release and runs every test. Ends with 'N passed, N failed, N skipped' and a non-zero code on failure.
# Real clients and redis-server are installed first where that is possible; tests that miss one skip and say so.
#   GARNET_TEST_INSTALL  no = installs nothing
#   GARNET_TEST_FILTER   passed to dotnet test as --filter
#   GARNET_NATIVE        yes = builds the native server, and tests over the wire talk to it; no (default yes where a C compiler is and there is no filter; CI=true installs one)
# CI=true looks longer, at the same things: CONTRIBUTING.md says what a plain run is shorter by, and the variables that set each of it.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 TERM="${TERM:-dumb}" LC_ALL=C.UTF-8
# Tests and the hundreds of servers that they start live too short for code that is compiled once more by what it has been seen to do:
# without that they take a sixth to a third less of the processor; and a sixteenth less without a thread for collections of garbage, without
# pages mapped twice to write code, and with code compiled better after 1,024 calls (hexadecimal), not 30. CI=true runs them as they are delivered.
[ "${CI:-}" = true ] || export DOTNET_TieredPGO="${DOTNET_TieredPGO:-0}" DOTNET_gcConcurrent="${DOTNET_gcConcurrent:-0}" \
  DOTNET_EnableWriteXorExecute="${DOTNET_EnableWriteXorExecute:-0}" DOTNET_TC_CallCountThreshold="${DOTNET_TC_CallCountThreshold:-400}"

installs=yes
case "${GARNET_TEST_INSTALL:-yes}" in no|0|false) installs=no ;; esac

# install REASON PACKAGE...: what a test misses is skipped there, so a failure here is only told.
install() {
  [ "$installs" = yes ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  local what=$1; shift
  echo "Installing $*"
  export DEBIAN_FRONTEND=noninteractive
  # A policy of 101 keeps the package from starting a service.
  local had_policy=1
  [ -e /usr/sbin/policy-rc.d ] || { had_policy=0; printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; }
  (timeout 300 apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends "$@") </dev/null >/dev/null 2>&1 \
    || echo "Could not install $*; tests of $what will be skipped."
  [ "$had_policy" = 1 ] || rm -f /usr/sbin/policy-rc.d
}

# Tests take /usr/bin/python3 where it is there: it sees the distribution's packages.
python=/usr/bin/python3; [ -x $python ] || python=python3
servers=() applications=()
command -v redis-server >/dev/null || servers+=(redis-server)
command -v redis-cli >/dev/null || servers+=(redis-tools)
$python -c 'import redis' 2>/dev/null || servers+=(python3-redis)
$python -c 'import rq' 2>/dev/null || applications+=(python3-rq)
$python -c 'import celery' 2>/dev/null || applications+=(python3-celery)
ruby -e 'require "sidekiq"' 2>/dev/null || applications+=(ruby-sidekiq)
# The native build needs a compiler to link with.
native=artifacts/publish/GarnetServer/native/garnet-server
has_linker() { command -v clang >/dev/null || command -v gcc >/dev/null; }
# It takes half of a minute to build, and the tests over the wire half of the processor: they start hundreds of servers.
wants_native=${GARNET_NATIVE:-yes}
[ -z "${GARNET_NATIVE:-}${CI:-}" ] && [ -n "${GARNET_TEST_FILTER:-}" ] && wants_native=no # some tests are not worth it
case $wants_native in yes|true) wants_native=yes ;; *) wants_native=no ;; esac
if [ "${CI:-}" = true ] && [ $wants_native = yes ]; then
  has_linker || install "the native build" gcc libc6-dev
  command -v podman >/dev/null || install "the container image" podman runc
fi
[ ${#servers[@]} -eq 0 ] || install "redis-server and its clients" "${servers[@]}"
[ ${#applications[@]} -eq 0 ] || install "RQ, Celery and Sidekiq" "${applications[@]}"

# The versions of the Node clients and applications are those of the lock file.
locked=test/Garnet.Wire/Clients/package-lock.json
if [ "$installs" = yes ] && command -v npm >/dev/null && ! { cmp -s $locked artifacts/node/package-lock.json && [ -e artifacts/node/node_modules/.package-lock.json ]; }; then
  mkdir -p artifacts/node
  cp ${locked%-lock.json}.json $locked artifacts/node/
  timeout 180 npm ci --prefix artifacts/node --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >artifacts/node/install.log 2>&1 \
    || echo "Could not install the Node clients; the tests that need them will be skipped."
fi
export NODE_PATH="$PWD/artifacts/node/node_modules"

# One compiler for all projects, which need not be compiled itself each time: two minutes of four.
together=-p:UseSharedCompilation=true
echo "Building"
if ! dotnet build Garnet.sln -c Release -v quiet --nologo -clp:NoSummary $together </dev/null; then
  echo "The build failed."
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

if [ $wants_native = no ]; then
  native= why_not="GARNET_NATIVE asks for none"
elif ! has_linker; then
  native= why_not="there is no clang or gcc to link it with"
elif [ "$(uname -s)" != Linux ]; then
  native= why_not="its tests run on Linux"
elif ! dotnet restore main/GarnetServer -p:Native=true -v quiet --nologo </dev/null >/dev/null 2>&1; then
  native= why_not="its compiler is not to be had from the package feed"
fi

dotnet build-server shutdown --vbcscompiler >/dev/null 2>&1 </dev/null # it has half a gigabyte

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# run PROJECT [NAME FILTER]: its output and its exit code are left for report. The variable program names another build of the server.
run() {
  local name=${2:-$(basename "$1" .csproj)} wanted=${GARNET_TEST_FILTER:-} filter=()
  [ -z "${3:-}" ] || wanted="${wanted:+($wanted)&}($3)"
  [ -z "$wanted" ] || filter=(--filter "$wanted")
  [ -z "${program:-}" ] || export GARNET_WIRE_PROGRAM=$program # of this process, which ends with the run
  local began=$SECONDS told=0
  echo "$name: begun"
  # The longest takes some minutes on two quiet cores and ten times that on the slowest seen: one that hangs fails, instead of never ending.
  # No single test takes a quarter of an hour: one that does, or that ends the process, is named.
  {
    timeout -k 10 3600 dotnet test "$1" -c Release --no-build --nologo --results-directory "$logs" --logger "trx;LogFileName=$name.trx" \
      --blame-hang-timeout 15m --blame-hang-dump-type none "${filter[@]}" </dev/null >"$logs/$name" 2>&1
    echo "$? $((SECONDS - began))" >"$logs/$name.end"
  } &
  until [ -s "$logs/$name.end" ]; do
    sleep 1
    [ $(((SECONDS - began) / 60)) = $told ] || { told=$(((SECONDS - began) / 60)); echo "$name: $told min"; }
  done
  echo "$name: ended after $((SECONDS - began)) s"
}

passed=0 failed=0 skipped=0 broken=()
report() {
  local name log code seconds summary f p s; name=${2:-$(basename "$1" .csproj)} log=$logs/$name
  read -r code seconds <"$log.end"
  # The last line of a run: 'Passed!  - Failed: 0, Passed: 53, Skipped: 0, Total: 53, ...'
  summary=$(grep -E '^(Passed|Failed|Skipped)!' "$log" | tail -1)
  count() { sed -n "s/.*$1: *\([0-9]*\).*/\1/p" <<<"$summary"; }
  f=$(count Failed) p=$(count Passed) s=$(count Skipped)
  if [ -z "$summary" ]; then
    if [ "$code" -eq 0 ] || grep -qE 'No test is available|No test matches' "$log"; then echo "$name: no tests"; return; fi
    f=1 p=0 s=0
  elif [ "$code" -ne 0 ] && [ "$f" = 0 ]; then
    f=1
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  echo "$name: $p passed, $f failed, $s skipped ($seconds s)"
  if [ "$f" -gt 0 ]; then
    broken+=("$name")
    sed -n '/^  *Failed /,$p' "$log" | grep -vE '^ *at .*NUnit|^$' | head -200
    # A test that ends the process leaves no line of its own: what the process said last is all there is.
    grep -q '^  *Failed ' "$log" || tail -60 "$log"
  elif [ "$s" -gt 0 ]; then
    grep -E '^  *Skipped ' "$log" | head -20
  fi
}

# What the longest took, of all projects.
slowest() {
  echo "The slowest tests:"
  cat "$logs"/*.trx 2>/dev/null | grep -o '<UnitTestResult [^>]*' | sed -nE 's/.*testName="([^"]*)".*duration="([^"]*)".*/\2 \1/p' \
    | sort -r | head -20 | sed -E 's/^00:([0-9]+:[0-9]+)\.([0-9])[0-9]* /  \1.\2  /; s/&quot;/"/g'
}

# What scripts test, not projects: the native bulk layer, the container image, the archive, the site. Each counts as one.
scripts=("Bulk.Native test/bulk.sh" "Bulk.Client test/client.sh" "Image test/image.sh" "Archive test/archive.sh" "Site test/site.sh")
guest_script="Bulk.Verbs test/guest/verbs.sh" # by itself, as it boots a machine
[ -z "${GARNET_TEST_FILTER:-}" ] || scripts=() guest_script= # a filter asks for tests of projects

# script "NAME SCRIPT": its output and its exit code are left for report_script.
script() {
  local began=$SECONDS
  set -- $1
  if [ "${CI:-}" != true ]; then
    echo "skipped, it is run with CI=true, or by itself: $2" >"$logs/$1"
    echo "77 0" >"$logs/$1.end"
    return
  fi
  echo "$1: begun"
  timeout 1200 "$2" </dev/null >"$logs/$1" 2>&1
  echo "$? $((SECONDS - began))" >"$logs/$1.end"
  echo "$1: ended after $((SECONDS - began)) s"
}

report_script() {
  local code seconds
  set -- $1
  read -r code seconds <"$logs/$1.end"
  case $code in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) broken+=("$1") ;;
  esac
  echo "$1 ($seconds s):"
  sed 's/^/  /' "$logs/$1"
}

build_native() {
  if [ -z "$native" ] || dotnet publish main/GarnetServer -c Release -p:Native=true -p:Archive=true -v quiet --nologo </dev/null >"$logs/native" 2>&1; then return; fi
  echo "The native build failed."
  cat "$logs/native"
  wait # for what runs beside it
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}

# all_but FILTER: a filter of one condition, turned round; of none, none.
all_but() { [ -z "$1" ] || echo "${1%%~*}!~${1#*~}"; }

# Four at a time, the longest first, of these those that do one thing after the other: each leaves a core idle for much of its time. What judges how long
# something takes has seconds for it. Before them come threads that hand over to each other at every step, which take ten times as long where others wait for a
# core: beside the compiler of the native server, and then beside the longest, each of which has one.
wire=test/Garnet.Wire/Garnet.Wire.csproj tsavorite=test/Tsavorite.Test/Tsavorite.Test.csproj longest=test/Garnet.Server.Test/Garnet.Server.Test.csproj
stepped=FullyQualifiedName~Tsavorite.Test.Interleaving guest=
compiled="FullyQualifiedName~StartTests|FullyQualifiedName~KillLoopTests"
[ "${CI:-}" != true ] || { guest=FullyQualifiedName~Garnet.Wire.Guest; compiled+="|FullyQualifiedName~Ours_answers_as_written"; }
long=("$longest" "$wire" "$tsavorite" test/Garnet.Aof.Test/Garnet.Aof.Test.csproj) short=()
for project in test/*/*.csproj; do
  [[ " ${long[*]} " == *" $project "* ]] || short+=("$project")
done
projects=("${long[@]}" "${short[@]}")
echo "Testing ${#projects[@]} projects, four at a time"
at_most_four() { while [ "$(jobs -pr | wc -l)" -ge 4 ]; do wait -n; done; }
begin() {
  at_most_four
  case $1 in
    # What talks to a server talks to the native one where there is one, as most people run it.
    "$wire") program=$native run "$1" "" "$(all_but "$guest")" & ;;
    "$tsavorite") run "$1" "" "$(all_but "$stepped")" & ;;
    *) run "$1" & ;;
  esac
}
run "$tsavorite" Tsavorite.Interleaving "$stepped" &
interleaving=$!
build_native
run "$longest" &
wait $interleaving
for project in "${long[@]:1}"; do begin "$project"; done
# The other build is the same program, compiled by another compiler: that it starts, keeps data, and each command once. Behind those that take longest.
if [ -n "$native" ]; then
  at_most_four
  run "$wire" Garnet.Wire.Compiled "$compiled" &
fi
at_most_four
for each in "${scripts[@]}"; do script "$each"; done & # one after the other
for project in "${short[@]}"; do begin "$project"; done
wait
# By themselves, as the machines that they boot are emulated.
[ -z "$guest" ] || program=$native run "$wire" Garnet.Wire.Guest "$guest" &
[ -z "$guest_script" ] || script "$guest_script"
wait
report "$tsavorite" Tsavorite.Interleaving
for project in "${projects[@]}"; do report "$project"; done
[ -z "$guest" ] || report "$wire" Garnet.Wire.Guest
for each in "${scripts[@]}" ${guest_script:+"$guest_script"}; do report_script "$each"; done
if [ -n "$native" ]; then
  report "$wire" Garnet.Wire.Compiled
else
  skipped=$((skipped + 1))
  echo "The native server: skipped, $why_not"
fi

# Each test that failed by its name and the first line of what it said, as those before may be far above.
failures() {
  local log
  for log in "$logs"/*.trx; do
    [ -s "${log%.trx}" ] && grep -E -A2 '^  *Failed [^:]' "${log%.trx}" | grep -vE '^--$|Error Message:' | cut -c 1-300
  done
}

slowest
[ ${#broken[@]} -eq 0 ] || failures
[ ${#broken[@]} -eq 0 ] || echo "Failures in: ${broken[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
