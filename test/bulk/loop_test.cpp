// What endpoints promise, on the provider that does as a script says by a clock that stands still.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "harness.h"

namespace {

constexpr uint64_t kPiece = 64 * 1024;

// Two endpoints, and a region of the one that the other may read and write.
struct Pair {
  explicit Pair(uint64_t bytes = 4 * kPiece, uint32_t ring = 0, uint32_t access = BK_REMOTE_READ | BK_REMOTE_WRITE)
      : memory(bytes, 1), other("loop", BK_EXPOSES), own("loop", BK_VIRTUAL_CLOCK, ring) {
    bk_region_config config{sizeof config, access, memory.at(), bytes, nullptr, 0};
    CHECK_IS(BK_OK, bk_region_open(other, &config, &region, &name));
    peer = own.meet(other.address());
  }

  void script(uint32_t kind, uint64_t skip = 0, uint64_t later_ns = 0, bk_status status = BK_OK, uint64_t bytes = 0) const {
    const bk_loop_fault fault{sizeof fault, kind, skip, later_ns, bytes, status, 0};
    CHECK_IS(BK_OK, bk_loop_script(own, &fault));
  }

  bk_status read(void* to, uint64_t offset, uint64_t bytes, uint64_t user = 0, uint64_t timeout_ns = 0, bk_op* op = nullptr) const {
    return simple(own, peer, false, to, name, offset, bytes, user, timeout_ns, op);
  }

  bk_status write(void* from, uint64_t offset, uint64_t bytes, uint64_t user = 0) const { return simple(own, peer, true, from, name, offset, bytes, user); }

  void check_next(bk_status status, uint64_t user) const {
    const bk_completion completion = own.take();
    CHECK(completion.user == user);
    CHECK_IS(status, completion.status);
  }

  Memory memory;
  bk_region region = 0;
  bk_region_name name{};
  Opened other, own;
  bk_peer peer = 0;
};

bk_figures figures_of(bk_endpoint endpoint) {
  bk_figures figures{};
  figures.size = sizeof figures;
  CHECK_IS(BK_OK, bk_endpoint_figures(endpoint, &figures));
  return figures;
}

}  // namespace

LOOP_TEST(What_was_never_a_handle_or_is_none_any_more_is_refused) {
  uint64_t some = 0;
  bk_ring ring{};
  ring.size = sizeof ring;
  for (const uint64_t handle : {uint64_t{0}, uint64_t{1}, UINT64_MAX, uint64_t{1} << 32}) {
    CHECK_IS(BK_E_HANDLE, bk_endpoint_address(handle, nullptr, &some));
    CHECK_IS(BK_E_HANDLE, bk_endpoint_ring(handle, &ring));
    CHECK_IS(BK_E_HANDLE, bk_endpoint_close(handle, 0));
    CHECK_IS(BK_E_HANDLE, bk_endpoint_free(handle));
    CHECK_IS(BK_E_HANDLE, bk_wait(handle, 0));
  }
  const Pair pair;
  Memory to(kPiece, 2);
  bk_region own = 0;
  bk_region_config config{sizeof config, 0, to.at(), kPiece, nullptr, 0};
  CHECK_IS(BK_OK, bk_region_open(pair.own, &config, &own, nullptr));
  CHECK_IS(BK_OK, bk_region_close(pair.own, own, kLong));
  CHECK_IS(BK_E_HANDLE, bk_region_close(pair.own, own, kLong));
  const bk_region before = own;
  CHECK_IS(BK_OK, bk_region_open(pair.own, &config, &own, nullptr));
  CHECK(own != before);  // the place is the same, the generation is not
  CHECK_IS(BK_E_HANDLE, bk_region_close(pair.own, before, kLong));
  bk_op op = 0;
  CHECK_IS(BK_OK, pair.read(to.at(), 0, 1, 1, 0, &op));
  pair.check_next(BK_OK, 1);
  CHECK_IS(BK_E_HANDLE, bk_cancel(pair.own, op));
  CHECK_IS(BK_E_HANDLE, bk_cancel(pair.own, 0));
  CHECK_IS(BK_OK, bk_peer_drop(pair.own, pair.peer, kLong));
  CHECK_IS(BK_E_HANDLE, bk_peer_drop(pair.own, pair.peer, kLong));
  CHECK_IS(BK_E_HANDLE, pair.read(to.at(), 0, 1));
}

LOOP_TEST(Arguments_that_can_never_be_right_are_named) {
  bk_endpoint endpoint = 0;
  bk_endpoint_config config{};
  CHECK_IS(BK_E_INVAL, bk_endpoint_open(nullptr, &endpoint));
  CHECK_IS(BK_E_INVAL, bk_endpoint_open(&config, &endpoint));  // says no size
  config.size = sizeof config;
  CHECK_IS(BK_E_UNSUPPORTED, bk_endpoint_open(&config, &endpoint));
  config.provider = "loop";
  config.provider_bytes = 4;
  config.ring_entries = 3;
  CHECK_IS(BK_E_INVAL, bk_endpoint_open(&config, &endpoint));
  config.ring_entries = 0;
  config.bind = "somewhere";
  config.bind_bytes = uint64_t{1} << 63;
  CHECK_IS(BK_E_INVAL, bk_endpoint_open(&config, &endpoint));
  config.bind_bytes = 0;
  config.flags = 0x80000000;
  CHECK_IS(BK_E_INVAL, bk_endpoint_open(&config, &endpoint));

  const Pair pair;
  Memory to(kPiece, 2);
  const bk_local here{to.at(), 10, 0};
  const bk_remote there{pair.name, 0, 10};
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, nullptr, nullptr));
  bk_transfer transfer = transfer_of(pair.peer, &here, 1, &there, 1);
  transfer.size = 8;
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, &transfer, nullptr));
  transfer = transfer_of(pair.peer, &here, 65, &there, 1);
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, &transfer, nullptr));
  transfer = transfer_of(pair.peer, nullptr, 1, &there, 1);
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, &transfer, nullptr));
  const bk_local shorter{to.at(), 9, 0};
  transfer = transfer_of(pair.peer, &shorter, 1, &there, 1);
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, &transfer, nullptr));
  const bk_local nowhere{nullptr, 10, 0};
  transfer = transfer_of(pair.peer, &nowhere, 1, &there, 1);
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, &transfer, nullptr));
  const bk_local huge[] = {{to.at(), UINT64_MAX / 2, 0}, {to.at(), UINT64_MAX / 2, 0}, {to.at(), UINT64_MAX / 2, 0}};
  transfer = transfer_of(pair.peer, huge, 3, &there, 1);
  CHECK_IS(BK_E_INVAL, bk_read(pair.own, &transfer, nullptr));
  CHECK_IS(BK_E_RANGE, pair.read(to.at(), 4 * kPiece - 9, 10));
  CHECK_IS(BK_E_RANGE, pair.read(to.at(), UINT64_MAX - 4, 10));
  bk_region_config nothing{sizeof nothing, 0, to.at(), 0, nullptr, 0};
  bk_region region = 0;
  CHECK_IS(BK_E_INVAL, bk_region_open(pair.own, &nothing, &region, nullptr));
  CHECK_IS(BK_E_INVAL, bk_peer_add(pair.own, "nonsense", 8, 0, &region));
  CHECK_IS(BK_E_PEER, bk_peer_add(pair.own, "loop:999999", 11, 0, &region));
}

LOOP_TEST(Bytes_arrive_at_odd_places_and_nowhere_else) {
  const Pair pair(5 * kPiece);
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{7}, uint64_t{4096}, kPiece - 1, kPiece, kPiece + 1, 3 * kPiece + 5}) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{4095}}) {
      Memory to(bytes + 2, 3), before(bytes + 2, 3);
      CHECK_IS(BK_OK, pair.read(to.at(1), offset, bytes, 1));
      const bk_completion completion = pair.own.take();
      CHECK(completion.status == BK_OK && completion.bytes == bytes);
      CHECK(memcmp(to.at(1), const_cast<Pair&>(pair).memory.at(offset), bytes) == 0);
      CHECK(*to.at() == *before.at() && *to.at(bytes + 1) == *before.at(bytes + 1));
    }
  }
  Memory from(1000, 4);
  CHECK_IS(BK_OK, pair.write(from.at(), 77, 1000, 2));
  pair.check_next(BK_OK, 2);
  CHECK(memcmp(from.at(), const_cast<Pair&>(pair).memory.at(77), 1000) == 0);
}

LOOP_TEST(Parts_are_gathered_and_scattered_in_order) {
  const Pair pair;
  Memory to(100, 5);
  const bk_local here[] = {{to.at(50), 10, 0}, {nullptr, 0, 0}, {to.at(0), 25, 0}};
  const bk_remote there[] = {{pair.name, 1000, 30}, {pair.name, 0, 0}, {pair.name, 3, 5}};
  const bk_transfer transfer = transfer_of(pair.peer, here, 3, there, 3, 9);
  CHECK_IS(BK_OK, bk_read(pair.own, &transfer, nullptr));
  pair.check_next(BK_OK, 9);
  char* from = const_cast<Pair&>(pair).memory.at();
  CHECK(memcmp(to.at(50), from + 1000, 10) == 0 && memcmp(to.at(0), from + 1010, 20) == 0 && memcmp(to.at(20), from + 3, 5) == 0);
}

LOOP_TEST(Nothing_is_done_at_once_and_touches_no_memory) {
  const Pair pair;
  CHECK_IS(BK_OK, pair.read(nullptr, 0, 0, 1));
  pair.check_next(BK_OK, 1);
  const bk_transfer empty = transfer_of(pair.peer, nullptr, 0, nullptr, 0, 2);
  CHECK_IS(BK_OK, bk_write(pair.own, &empty, nullptr));
  pair.check_next(BK_OK, 2);
}

LOOP_TEST(An_endpoint_that_exposes_nothing_never_does) {
  const Pair pair;
  Memory secret(kPiece, 6);
  bk_region region = 0;
  bk_region_name name{};
  for (const uint32_t access : {1u, 2u, 3u}) {
    bk_region_config config{sizeof config, access, secret.at(), kPiece, nullptr, 0};
    CHECK_IS(BK_E_DENIED, bk_region_open(pair.own, &config, &region, &name));
  }
  // A region of its own memory, without rights for others, has no key, and none that others invent opens it.
  bk_region_config config{sizeof config, 0, secret.at(), kPiece, nullptr, 0};
  CHECK_IS(BK_OK, bk_region_open(pair.own, &config, &region, &name));
  CHECK(name.key == 0);
  const Opened attacker("loop");
  const bk_peer server = attacker.meet(pair.own.address());
  Memory loot(kPiece, 7);
  for (const uint64_t key : {uint64_t{0}, uint64_t{1}, pair.name.key}) {
    name.key = key;
    for (const bool writes : {false, true}) {
      CHECK_IS(BK_OK, simple(attacker, server, writes, loot.at(), name, 0, 100, 1));
      CHECK(attacker.take().status == BK_E_KEY);
    }
  }
  CHECK(secret.held == Memory(kPiece, 6).held && loot.held == Memory(kPiece, 7).held);
}

LOOP_TEST(Keys_rights_and_bounds_are_the_owners) {
  Memory to(kPiece, 2);
  const Pair reads(kPiece, 0, BK_REMOTE_READ), writes(kPiece, 0, BK_REMOTE_WRITE);
  CHECK_IS(BK_OK, reads.write(to.at(), 0, 10, 1));
  reads.check_next(BK_E_KEY, 1);
  CHECK_IS(BK_OK, writes.read(to.at(), 0, 10, 2));
  writes.check_next(BK_E_KEY, 2);
  bk_region_name wrong = reads.name;
  wrong.key ^= 1;
  CHECK_IS(BK_OK, simple(reads.own, reads.peer, false, to.at(), wrong, 0, 10, 3));
  reads.check_next(BK_E_KEY, 3);
  bk_region_name longer = reads.name;
  longer.bytes += 1;
  CHECK_IS(BK_OK, simple(reads.own, reads.peer, false, to.at(), longer, kPiece, 1, 4));
  reads.check_next(BK_E_KEY, 4);
  CHECK_IS(BK_OK, bk_region_close(reads.other, reads.region, kLong));
  CHECK_IS(BK_OK, reads.read(to.at(), 0, 10, 5));
  reads.check_next(BK_E_KEY, 5);
  CHECK(to.held == Memory(kPiece, 2).held);
}

LOOP_TEST(An_own_region_must_hold_all_of_what_is_named_of_it) {
  const Pair pair;
  Memory to(kPiece + 1, 2);
  bk_region own = 0;
  bk_region_config config{sizeof config, 0, to.at(), kPiece, nullptr, 0};
  CHECK_IS(BK_OK, bk_region_open(pair.own, &config, &own, nullptr));
  const bk_remote there{pair.name, 0, 10};
  bk_local here{to.at(kPiece - 10), 10, own};
  bk_transfer transfer = transfer_of(pair.peer, &here, 1, &there, 1, 1);
  CHECK_IS(BK_OK, bk_read(pair.own, &transfer, nullptr));
  pair.check_next(BK_OK, 1);
  here.at = to.at(kPiece - 9);  // ends one byte behind it
  CHECK_IS(BK_E_RANGE, bk_read(pair.own, &transfer, nullptr));
  here = {to.at(), 10, own + 1};
  CHECK_IS(BK_E_HANDLE, bk_read(pair.own, &transfer, nullptr));
}

LOOP_TEST(A_region_in_use_by_own_transfers_closes_behind_them) {
  const Pair pair;
  Memory to(kPiece, 2);
  bk_region own = 0;
  bk_region_config config{sizeof config, 0, to.at(), kPiece, nullptr, 0};
  CHECK_IS(BK_OK, bk_region_open(pair.own, &config, &own, nullptr));
  pair.script(BK_LOOP_DELAY, 0, 5 * kMs);
  const bk_local here{to.at(), 10, own};
  const bk_remote there{pair.name, 0, 10};
  const bk_transfer transfer = transfer_of(pair.peer, &here, 1, &there, 1, 1);
  CHECK_IS(BK_OK, bk_read(pair.own, &transfer, nullptr));
  pair.own.check_nothing();
  CHECK_IS(BK_E_BUSY, bk_region_close(pair.own, own, 1000 * kMs));  // so long that the endpoint's thread has run on any machine
  CHECK_IS(BK_E_HANDLE, bk_read(pair.own, &transfer, nullptr));     // nothing more begins in it
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 5 * kMs));
  pair.check_next(BK_OK, 1);
  CHECK_IS(BK_OK, bk_region_close(pair.own, own, kLong));
}

LOOP_TEST(A_transfer_that_has_not_begun_ends_in_time_and_harms_nobody) {
  const Pair pair;
  Memory to(kPiece, 2);
  pair.script(BK_LOOP_FULL, 0, 100 * kMs);
  CHECK_IS(BK_OK, pair.read(to.at(), 0, kPiece, 1, 10 * kMs));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs - 1));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 1));
  pair.check_next(BK_E_TIMEOUT, 1);
  CHECK(to.held == Memory(kPiece, 2).held);
  CHECK(figures_of(pair.own).state == 0);
  CHECK_IS(BK_OK, pair.read(to.at(), 0, kPiece, 2));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 100 * kMs));
  pair.check_next(BK_OK, 2);
}

LOOP_TEST(A_late_transfer_poisons_its_endpoint_and_gives_its_memory_back_only_at_rest) {
  const Pair pair;
  Memory late(kPiece, 2), other(kPiece, 3), queued(kPiece, 4);
  pair.script(BK_LOOP_HANG, 0, 50 * kMs);  // stopped, it lands 50 ms later all the same
  pair.script(BK_LOOP_DELAY, 0, 20 * kMs);
  pair.script(BK_LOOP_FULL, 0, 1000 * kMs);
  CHECK_IS(BK_OK, pair.read(late.at(), 0, kPiece, 1, 10 * kMs));
  CHECK_IS(BK_OK, pair.read(other.at(), 0, kPiece, 2, 900 * kMs));
  CHECK_IS(BK_OK, pair.read(queued.at(), 0, kPiece, 3, 900 * kMs));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs));
  pair.check_next(BK_E_POISONED, 3);  // the provider had nothing of it
  pair.own.check_nothing();
  CHECK(figures_of(pair.own).state == 1);
  CHECK_IS(BK_E_POISONED, pair.read(queued.at(), 0, 1));
  bk_region_config config{sizeof config, 0, late.at(), kPiece, nullptr, 0};
  bk_region region = 0;
  CHECK_IS(BK_E_POISONED, bk_region_open(pair.own, &config, &region, nullptr));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs));
  pair.check_next(BK_E_POISONED, 2);
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 40 * kMs - 1));
  pair.own.check_nothing();
  CHECK(late.held == Memory(kPiece, 2).held);
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 1));
  pair.check_next(BK_E_TIMEOUT, 1);
  CHECK(memcmp(late.at(), const_cast<Pair&>(pair).memory.at(), kPiece) == 0);  // and had it been given back before, somebody else's bytes were gone
  CHECK(queued.held == Memory(kPiece, 4).held);
}

LOOP_TEST(Cancelled_is_what_has_not_begun_and_what_has_once_it_is_at_rest) {
  const Pair pair;
  Memory begun(2 * kPiece, 2), queued(kPiece, 3);
  bk_op first = 0, second = 0;
  pair.script(BK_LOOP_DELAY, 0, 10 * kMs);
  pair.script(BK_LOOP_FULL, 0, 20 * kMs);
  CHECK_IS(BK_OK, pair.read(begun.at(), 0, 2 * kPiece, 1, 0, &first));
  CHECK_IS(BK_OK, pair.read(queued.at(), 0, kPiece, 2, 0, &second));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_cancel(pair.own, second));
  pair.check_next(BK_E_CANCELED, 2);
  CHECK_IS(BK_OK, bk_cancel(pair.own, first));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs));
  const bk_completion ended = pair.own.take();
  CHECK(ended.status == BK_E_CANCELED && ended.bytes == kPiece);  // its second piece was never begun
  CHECK(memcmp(begun.at(kPiece), Memory(2 * kPiece, 2).at(kPiece), kPiece) == 0);
  CHECK(queued.held == Memory(kPiece, 3).held);
}

LOOP_TEST(A_cancelled_transfer_that_hangs_still_has_its_deadline) {
  const Pair pair;
  Memory to(kPiece, 2);
  bk_op op = 0;
  pair.script(BK_LOOP_HANG, 0, 1 * kMs);
  CHECK_IS(BK_OK, pair.read(to.at(), 0, kPiece, 1, 10 * kMs, &op));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_cancel(pair.own, op));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 9 * kMs));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 1 * kMs));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 1 * kMs));
  pair.check_next(BK_E_CANCELED, 1);
  CHECK(figures_of(pair.own).state == 1);
}

LOOP_TEST(An_error_ends_its_own_transfer_and_tells_how_far_it_came) {
  const Pair pair;
  Memory torn(3 * kPiece, 2), whole(kPiece, 3);
  pair.script(BK_LOOP_TORN, 1, 0, BK_E_IO, 100);
  CHECK_IS(BK_OK, pair.read(torn.at(), 0, 3 * kPiece, 1));
  const bk_completion ended = pair.own.take();
  CHECK(ended.status == BK_E_IO && ended.bytes >= kPiece + 100 && ended.bytes <= 2 * kPiece + 100);
  CHECK_IS(BK_OK, pair.read(whole.at(), 0, kPiece, 2));
  pair.check_next(BK_OK, 2);
  pair.script(BK_LOOP_FAIL, 0, 0, BK_E_PEER);
  CHECK_IS(BK_OK, pair.write(whole.at(), 0, kPiece, 3));
  pair.check_next(BK_E_PEER, 3);
  const bk_figures figures = figures_of(pair.own);
  CHECK(figures.transfers_done == 1 && figures.transfers_failed == 2 && figures.transfers_open == 0);
}

LOOP_TEST(The_ring_never_runs_over) {
  const Pair pair(kPiece, 4);
  Memory to(kPiece, 2);
  for (uint64_t round = 0; round < 10; ++round) {
    for (uint64_t user = 0; user < 4; ++user) CHECK_IS(BK_OK, pair.read(to.at(), 0, 10, user));
    CHECK_IS(BK_E_AGAIN, pair.read(to.at(), 0, 10));
    CHECK_IS(BK_OK, bk_loop_advance(pair.own, 0));
    CHECK_IS(BK_E_AGAIN, pair.read(to.at(), 0, 10));  // all are done, and none is taken
    for (uint64_t user = 0; user < 4; ++user) pair.check_next(BK_OK, user);
  }
}

LOOP_TEST(The_ring_can_be_read_without_a_call) {
  const Pair pair(kPiece, 4);
  Memory to(kPiece, 2);
  bk_ring ring{};
  ring.size = sizeof ring;
  CHECK_IS(BK_OK, bk_endpoint_ring(pair.own, &ring));
  CHECK(ring.header->capacity == 4 && ring.event >= 0);
  for (uint64_t user = 0; user < 9; ++user) {
    CHECK_IS(BK_OK, pair.read(to.at(), 0, 10, user));
    CHECK_IS(BK_OK, bk_wait(pair.own, kLong));
    const uint64_t tail = ring.header->tail;
    CHECK(std::atomic_ref(ring.header->head).load(std::memory_order_acquire) == tail + 1);
    CHECK(ring.entries[tail % 4].user == user && ring.entries[tail % 4].status == BK_OK);
    std::atomic_ref(ring.header->tail).store(tail + 1, std::memory_order_release);
  }
}

LOOP_TEST(A_peer_that_is_dropped_takes_its_transfers_along) {
  const Pair pair;
  Memory to(kPiece, 2);
  pair.script(BK_LOOP_DELAY, 0, 10 * kMs);
  CHECK_IS(BK_OK, pair.read(to.at(), 0, kPiece, 1));
  pair.own.check_nothing();
  CHECK_IS(BK_E_BUSY, bk_peer_drop(pair.own, pair.peer, 0));
  CHECK_IS(BK_E_HANDLE, pair.read(to.at(), 0, kPiece, 2));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs));
  CHECK(pair.own.take().user == 1);
  CHECK_IS(BK_OK, bk_peer_drop(pair.own, pair.peer, kLong));
}

LOOP_TEST(A_peer_that_goes_in_the_middle_is_an_error_of_its_transfers) {
  const Pair pair;
  Memory to(kPiece, 2);
  pair.script(BK_LOOP_DELAY, 0, 10 * kMs);
  CHECK_IS(BK_OK, pair.read(to.at(), 0, kPiece, 1));
  pair.own.check_nothing();
  CHECK_IS(BK_OK, bk_endpoint_close(pair.other, kLong));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs));
  pair.check_next(BK_E_PEER, 1);
  CHECK(to.held == Memory(kPiece, 2).held);
}

LOOP_TEST(A_closed_endpoint_has_ended_everything_and_can_be_read_to_the_end) {
  const Pair pair;
  Memory to(kPiece, 2), queued(kPiece, 3);
  pair.script(BK_LOOP_HANG, 0, 10 * kMs);
  pair.script(BK_LOOP_FULL, 0, 10 * kMs);
  CHECK_IS(BK_OK, pair.read(to.at(), 0, kPiece, 1));
  CHECK_IS(BK_OK, pair.read(queued.at(), 0, kPiece, 2));
  pair.own.check_nothing();
  CHECK_IS(BK_E_BUSY, bk_endpoint_close(pair.own, 0));
  CHECK_IS(BK_E_BUSY, bk_endpoint_free(pair.own));
  CHECK_IS(BK_E_CLOSED, pair.read(to.at(), 0, 1));
  pair.check_next(BK_E_CANCELED, 2);
  CHECK_IS(BK_E_TIMEOUT, bk_wait(pair.own, 0));
  CHECK_IS(BK_OK, bk_loop_advance(pair.own, 10 * kMs));
  CHECK_IS(BK_OK, bk_endpoint_close(pair.own, kLong));
  pair.check_next(BK_E_CANCELED, 1);
  CHECK_IS(BK_E_CLOSED, bk_wait(pair.own, kLong));
  CHECK_IS(BK_E_CLOSED, bk_region_close(pair.own, 1, 0));
}

LOOP_TEST(Whoever_waits_is_woken_by_a_completion_and_by_the_end) {
  auto pair = std::make_unique<Pair>();
  Memory to(kPiece, 2);
  std::atomic<int> seen{0};
  std::thread reader([&] {
    bk_completion completion;
    uint32_t taken = 0;
    while (bk_take(pair->own, &completion, 1, kLong, &taken) == BK_OK) ++seen, seen.notify_all();
  });
  for (int round = 0; round < 1000; ++round) {
    CHECK_IS(BK_OK, pair->read(to.at(), 0, 10));
    seen.wait(round);
  }
  CHECK_IS(BK_OK, bk_endpoint_close(pair->own, kLong));
  reader.join();
  CHECK(seen == 1000);
}

// Every transfer that is taken ends once, whatever else happens meanwhile; and one that says it is done has moved what it was to move.
LOOP_TEST(Many_threads_at_once_lose_nothing) {
  constexpr int kThreads = 6, kRounds = 300;
  Memory memory(4 * kPiece, 1);
  const Opened other("loop", BK_EXPOSES), own("loop", 0, 64);
  bk_region region = 0;
  bk_region_name name{};
  bk_region_config config{sizeof config, BK_REMOTE_READ, memory.at(), 4 * kPiece, nullptr, 0};
  CHECK_IS(BK_OK, bk_region_open(other, &config, &region, &name));
  const bk_peer peer = own.meet(other.address());
  std::vector<Memory> places(kThreads * kRounds, Memory(16, 0));
  std::atomic<uint64_t> taken_by_ring{0};
  std::atomic<bool> is_done{false};
  std::thread reader([&] {
    bk_completion all[16];
    uint32_t taken = 0;
    for (;;) {
      const bk_status status = bk_take(own, all, 16, 10 * kMs, &taken);
      for (uint32_t at = 0; at < taken; ++at) {
        CHECK(all[at].status == BK_OK || all[at].status == BK_E_CANCELED);
        if (all[at].status == BK_OK) CHECK(memcmp(places[all[at].user].at(), memory.at(all[at].user * 7), 16) == 0);
      }
      taken_by_ring += taken;
      if (status == BK_E_TIMEOUT && is_done) return;
    }
  });
  std::atomic<uint64_t> begun{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const auto user = static_cast<uint64_t>(thread * kRounds + round);
        bk_op op = 0;
        bk_status status;
        while ((status = simple(own, peer, false, places[user].at(), name, user * 7, 16, user, 0, &op)) == BK_E_AGAIN) std::this_thread::yield();
        CHECK_IS(BK_OK, status);
        ++begun;
        if (round % 3 == 0) bk_cancel(own, op);
        if (round % 10 != 0) continue;
        bk_region extra = 0;
        bk_region_config whole{sizeof whole, BK_REMOTE_READ, memory.at(), 100, nullptr, 0};
        CHECK_IS(BK_OK, bk_region_open(other, &whole, &extra, nullptr));
        CHECK_IS(BK_OK, bk_region_close(other, extra, kLong));
        CHECK_IS(BK_OK, bk_peer_drop(own, own.meet(other.address()), kLong));
      }
    });
  for (auto& thread : threads) thread.join();
  is_done = true;
  reader.join();
  CHECK(begun == kThreads * kRounds && taken_by_ring == begun);
  CHECK(figures_of(own).transfers_open == 0 && figures_of(own).peers_open == 1 && figures_of(other).regions_open == 1);
}
