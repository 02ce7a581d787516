#!/usr/bin/env bash
# libgarnet-client and the Python module over it, against a server, under the sanitizers of addresses and of undefined behaviour where C is.
#   test/client.sh       GARNET_WIRE_PROGRAM names another build of the server
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/.."
skip() { echo "client: skipped, $*"; exit 77; }
[ "$(uname -s)" = Linux ] || skip "it is for Linux"
for tool in cmake c++ make; do command -v $tool >/dev/null || skip "there is no $tool"; done
program=${GARNET_WIRE_PROGRAM:-artifacts/bin/GarnetServer/release/garnet-server}
[ -x "$program" ] || skip "there is no $program"
python=/usr/bin/python3; [ -x $python ] || python=python3

mkdir -p artifacts/native
for sanitize in "" address,undefined; do
  folder=artifacts/native/client${sanitize:+-sanitized}
  if ! { cmake -S libs/native/client -B $folder -DBULK_SANITIZE=$sanitize -DCLIENT_TESTS=ON && cmake --build $folder -j 2; } >$folder.log 2>&1; then
    tail -n 40 $folder.log
    exit 1
  fi
done

scratch=$(mktemp -d)
fabrics=""; ldconfig -p 2>/dev/null | grep -q libfabric.so.1 && fabrics=net
"$program" --port 0 --unixsocket "$scratch/socket" --bulk-providers "local $fabrics" >"$scratch/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 600); do
  grep -q "Ready to accept" "$scratch/log" && break
  kill -0 $server 2>/dev/null || { cat "$scratch/log"; exit 1; }
  sleep 0.1
done
failed=0
LSAN_OPTIONS=suppressions=$PWD/test/bulk/leaks.txt:print_suppressions=0 timeout 300 artifacts/native/client-sanitized/client-test "$scratch/socket" $fabrics || failed=1
GARNET_TEST_FABRICS=$fabrics GARNET_CLIENT_LIBRARY=$PWD/artifacts/native/client/libgarnet-client.so timeout 300 $python test/client/client_test.py "$scratch/socket" || failed=1
exit $failed
