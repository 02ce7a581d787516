#!/usr/bin/env bash
# The native bulk layer's own tests, under the sanitizers of addresses and of undefined behaviour, then under that of threads.
#   test/bulk.sh            the endpoint's own promises, processes of one machine, devices by a driver that is a stub, and by a real one if it is there
#   test/bulk.sh all        every provider that the machine has
#   test/bulk.sh PROVIDER   this one
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -s)" = Linux ] || { echo "bulk: skipped, it is for Linux"; exit 77; }
for tool in cmake c++ make; do command -v $tool >/dev/null || { echo "bulk: skipped, there is no $tool"; exit 77; }; done
case "${1:-}" in '') providers="loop local stub gpu" ;; all) providers="loop local stub gpu tcp net shm verbs" ;; *) providers=$1 ;; esac

mkdir -p artifacts/native
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 LSAN_OPTIONS=suppressions=$PWD/test/bulk/leaks.txt:print_suppressions=0
failed=0
for sanitize in address,undefined thread; do
  folder=artifacts/native/bulk-${sanitize%,*}
  if ! { cmake -S libs/native/bulk -B $folder -DBULK_TESTS=ON -DBULK_SANITIZE=$sanitize && cmake --build $folder -j 2; } >$folder.log 2>&1; then
    tail -n 40 $folder.log
    exit 1
  fi
  for provider in $providers; do
    program=$folder/tests/bulk-test
    [ $provider != stub ] || program=$folder/tests/bulk-stub-test
    timeout 300 $program $provider >$folder.log 2>&1
    case $? in
      0|77) echo "$sanitize: $(tail -n 1 $folder.log)" ;;
      *) echo "$sanitize: $provider failed"; tail -n 60 $folder.log | cut -c 1-200; failed=1 ;;
    esac
  done
done
exit $failed
