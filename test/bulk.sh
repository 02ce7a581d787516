#!/usr/bin/env bash
# The native bulk layer's own tests, each under the sanitizers of addresses and undefined behaviour, then under that of threads.
#   test/bulk.sh [NAME]     all providers that the machine has, tests whose name contains NAME
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -s)" = Linux ] || { echo "bulk: skipped, it is for Linux"; exit 77; }
for tool in cmake c++ make; do command -v $tool >/dev/null || { echo "bulk: skipped, there is no $tool"; exit 77; }; done

failed=0
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
for sanitize in address,undefined thread; do
  folder=artifacts/native/bulk-${sanitize%,*}
  cmake -S libs/native/bulk -B $folder -DBULK_TESTS=ON -DBULK_SANITIZE=$sanitize >$folder.log 2>&1 && cmake --build $folder -j 2 >>$folder.log 2>&1 \
    || { cat $folder.log; exit 1; }
  for provider in loop local tcp net shm verbs; do
    timeout 300 $folder/tests/bulk-test $provider "$@" >$folder.log 2>&1
    case $? in
      0) echo "$sanitize: $(tail -n 1 $folder.log)" ;;
      77) echo "$sanitize: $(tail -n 1 $folder.log)" ;;
      *) tail -n 60 $folder.log; failed=1 ;;
    esac
  done
done
exit $failed
