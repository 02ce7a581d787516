#!/usr/bin/env bash
# The native bulk layer's provider `verbs` over RDMA that the kernel does in software (soft-RoCE), in the guest: what every provider promises (test/bulk),
# and a bandwidth beside the vendor's own tool's, which says that it works and never how fast hardware is.
#   test/guest/verbs.sh          all of it
#   test/guest/verbs.sh NAME     the tests that have this in their name
# 77: nothing was tested, and the last line says why.
set -uo pipefail
cd "$(dirname "$0")/../.."
skip() { echo "verbs: skipped, $*"; exit 77; }
[ "$(uname -s)" = Linux ] || skip "it is for Linux"
for tool in cmake c++ make; do command -v $tool >/dev/null || skip "there is no $tool"; done
folder=artifacts/native/bulk-plain
mkdir -p artifacts/native
if ! { cmake -S libs/native/bulk -B $folder -DBULK_TESTS=ON && cmake --build $folder -j 2; } >$folder.log 2>&1; then
  tail -n 40 $folder.log
  exit 1
fi
why=$($folder/tests/bulk-test verbs NoTest 2>&1)
case $why in *"without headers"*|*"no libfabric"*) skip "${why#*skipped, }" ;; esac
why=$(test/guest/guest.sh build 2>&1) || skip "${why##*$'\n'}"

# A minute and a half on two quiet cores, several on busy ones, as the machine is emulated: the limit is for one that hangs.
export GUEST_SECONDS=480
began=$SECONDS
coproc guest { exec test/guest/guest.sh boot --share bulk="$PWD/$folder" 2>&1; }
machine=$guest_PID
trap 'kill $machine 2>/dev/null' EXIT
answer() {
  local line
  while IFS= read -r line <&"${guest[0]}"; do
    line=${line%$'\r'}
    case $line in "= "*) return "${line#= }" ;; esac
    echo "  $((SECONDS - began)) s: $line"
  done
  echo "  the guest has ended, after $GUEST_SECONDS s at most"
  return 1
}
run() { echo "$1" >&"${guest[1]}"; answer; }

fail() { echo "verbs: failed, $*"; exit 1; }
answer || fail "the guest does not boot"
run "modprobe -a rdma_rxe rdma_ucm dummy && ip addr add 10.7.0.1/24 dev dummy0 && ip link set dummy0 up \
  && rdma link add rxe0 type rxe netdev dummy0" || fail "the guest has no RDMA"
# A library of a device that is not there is named otherwise until its package is configured.
run "mkdir /tmp/lib && ln -s /usr/lib/libpsm1/libpsm_infinipath.so.1.16 /tmp/lib/libpsm_infinipath.so.1"
# libfabric asks for a queue of all that 256 peers could send at once, which is longer than this device's are.
test="FI_UNIVERSE_SIZE=16 LD_LIBRARY_PATH=/mnt/bulk:/tmp/lib /mnt/bulk/tests/bulk-test"
run "$test verbs ${1:-}" || fail "see above"
[ -z "${1:-}" ] || exit 0
# Pages of the larger kind, of which a hostile process could take some away under a mapping.
run "echo 8 >/proc/sys/vm/nr_hugepages && $test local not_mapped" || fail "see above"
run "(ib_read_bw -d rxe0 -x 1 -s 65536 -n 200 -F >/dev/null 2>&1 &) ; sleep 1; ib_read_bw -d rxe0 -x 1 -s 65536 -n 200 -F 10.7.0.1 | grep -A1 '#bytes'"
echo "verbs: passed"
