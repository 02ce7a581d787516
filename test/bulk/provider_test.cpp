// What every provider that carries bytes between processes does, with the other process a child that can be killed.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <sstream>
#include <thread>

#include "harness.h"

extern char** environ;

namespace {

constexpr uint32_t kBoth = BK_REMOTE_READ | BK_REMOTE_WRITE;
constexpr uint64_t kMb = 1024 * 1024;

// What does not end before something else happens. `verbs` is tested by software, in a machine that is emulated, where far less is enough.
uint64_t long_bytes(std::string_view provider) { return provider == "verbs" ? 4 * kMb : 64 * kMb; }

// bulk-test --target, and what it has said.
class Target {
 public:
  explicit Target(const char* provider) {
    int to[2], from[2];
    CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    char program[] = "/proc/self/exe", flag[] = "--target";
    char* arguments[] = {program, flag, const_cast<char*>(provider), nullptr};
    CHECK(posix_spawn(&child_, program, &actions, nullptr, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = fdopen(from[0], "r");
    size_t length = 0;
    std::istringstream(line()) >> pid >> length;
    address.resize(length);
    CHECK(fread(address.data(), 1, length, from_) == length);
    line();
  }

  ~Target() {
    close(to_);
    fclose(from_);
    if (child_ == 0) return;
    int status = 0;
    CHECK(waitpid(child_, &status, 0) == child_ && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  void kill() {
    CHECK(::kill(child_, SIGKILL) == 0 && waitpid(child_, nullptr, 0) == child_);
    child_ = 0;
  }

  std::string ask(const std::string& request) {
    const std::string text = request + "\n";
    CHECK(write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return line();
  }

  bk_region_name open(uint64_t bytes, uint32_t access = kBoth, uint64_t seed = 1) {
    bk_region_name name{};
    std::istringstream(ask("open " + std::to_string(bytes) + " " + std::to_string(access) + " " + std::to_string(seed))) >> name.base >> name.bytes >> name.key;
    CHECK(name.bytes == bytes);
    return name;
  }

  bool holds(int region, uint64_t seed) { return ask("judge " + std::to_string(region) + " " + std::to_string(seed)) == "1"; }

  int pid = 0;
  std::string address;

 private:
  std::string line() {
    char text[512];
    CHECK(fgets(text, sizeof text, from_) != nullptr);
    text[strcspn(text, "\n")] = 0;
    return text;
  }

  pid_t child_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
};

void check(const Opened& own, bk_status wanted, const bk_status& begun) {
  CHECK_IS(BK_OK, begun);
  const bk_completion completion = own.take();
  if (completion.status == wanted) return;
  char text[256] = "";
  bk_provider_text(own, completion.provider_error, text, sizeof text);
  broken(__FILE__, __LINE__, bk_error_name(wanted), std::string(bk_error_name(completion.status)) + ", " + text);
}

void check_done(const Opened& own, const bk_status& begun) { check(own, BK_OK, begun); }

}  // namespace

PROVIDER_TEST(Bytes_of_every_length_go_both_ways) {
  constexpr uint64_t kMost = 64 * kMb;
  Target target(provider);
  const Opened own(provider);
  const bk_peer peer = own.meet(target.address);
  const bk_region_name name = target.open(kMost + 16);
  const Memory theirs(kMost + 16, 1);
  Memory to(kMost + 16, 2);
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{3}, uint64_t{4096}, uint64_t{65537}, kMb - 1, kMb + 1, 5 * kMb + 3, kMost}) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{5}}) {
      if (offset == 0 && bytes > long_bytes(provider)) continue;  // once is enough there
      memset(to.at(), 0, bytes + 16);
      check_done(own, simple(own, peer, false, to.at(offset + 1), name, offset, bytes));
      CHECK(memcmp(to.at(offset + 1), theirs.held.data() + offset, bytes) == 0);
      CHECK(*to.at(offset) == 0 && *to.at(offset + 1 + bytes) == 0);
    }
  }
  // Written in two halves of odd lengths, all of it is what another seed makes.
  Memory wanted(kMost + 16, 7);
  check_done(own, simple(own, peer, true, wanted.at(), name, 0, 3 * kMb + 1));
  check_done(own, simple(own, peer, true, wanted.at(3 * kMb + 1), name, 3 * kMb + 1, kMost + 16 - 3 * kMb - 1));
  CHECK(target.holds(0, 7));
}

PROVIDER_TEST(Parts_are_gathered_and_scattered) {
  Target target(provider);
  const Opened own(provider);
  const bk_peer peer = own.meet(target.address);
  const bk_region_name first = target.open(kMb, kBoth, 1), second = target.open(kMb, kBoth, 2);
  Memory a(kMb, 1), b(kMb, 2), to(kMb, 3);
  const bk_local here[] = {{to.at(1000), 501, 0}, {to.at(7), 99, 0}, {to.at(5000), 400, 0}};
  const bk_remote there[] = {{first, 3, 300}, {second, 17, 400}, {first, 70001, 300}};
  const bk_transfer transfer = transfer_of(peer, here, 3, there, 3);
  check_done(own, bk_read(own, &transfer, nullptr));
  std::string wanted = std::string(a.at(3), 300) + std::string(b.at(17), 400) + std::string(a.at(70001), 300);
  CHECK(wanted == std::string(to.at(1000), 501) + std::string(to.at(7), 99) + std::string(to.at(5000), 400));
}

PROVIDER_TEST(Many_transfers_are_under_way_at_once) {
  Target target(provider);
  const Opened own(provider, 0, 64);
  const bk_peer peer = own.meet(target.address);
  const bk_region_name name = target.open(4 * kMb);
  const Memory theirs(4 * kMb, 1);
  Memory to(4 * kMb, 2);
  constexpr uint64_t kEach = 64 * 1024;
  for (uint64_t at = 0; at < 64; ++at) CHECK_IS(BK_OK, simple(own, peer, false, to.at(at * kEach), name, at * kEach, kEach, at));
  for (uint64_t at = 0; at < 64; ++at) CHECK_IS(BK_OK, own.take().status);
  CHECK(to.held == theirs.held);
}

PROVIDER_TEST(A_thousand_regions) {
  Target target(provider);
  const Opened own(provider);
  const bk_peer peer = own.meet(target.address);
  std::vector<bk_region_name> names;
  for (uint64_t at = 0; at < 1000; ++at) names.push_back(target.open(100, kBoth, at));
  Memory to(100, 0);
  for (uint64_t at = 0; at < 1000; at += 37) {
    check_done(own, simple(own, peer, false, to.at(), names[at], 0, 100));
    CHECK(to.held == Memory(100, at).held);
  }
}

PROVIDER_TEST(What_is_not_allowed_does_not_happen_and_is_told) {
  for (const int attempt : {0, 1, 2, 3, 4, 5}) {
    Target target(provider);
    const Opened own(provider, 0, 0, 5'000 * kMs);
    bk_peer peer = own.meet(target.address);
    // What is written there is read back, so that it is known to have come: it has to be readable.
    if (attempt == 1 && strcmp(provider, "verbs") == 0) {
      CHECK(target.ask("open 4096 2 1") == std::to_string(BK_E_UNSUPPORTED));
      continue;
    }
    bk_region_name name = target.open(4096, attempt == 0 ? 1u : attempt == 1 ? 2u : kBoth);
    const bk_region_name beside = target.open(4096, kBoth, 2);
    Memory own_bytes(4096, 9);
    const Memory before = own_bytes;
    uint64_t offset = 0;
    if (attempt == 2) name.key ^= 0x5a5a00;                        // somebody else's key
    if (attempt == 3) name.bytes += 4096, offset = 4096 - 8;       // past the end: half of it is not the region's
    if (attempt == 4) CHECK(target.ask("close 0") == "0");         // closed meanwhile
    if (attempt == 5) name.key = 0;
    const bool writes = attempt != 1;
    CHECK_IS(BK_OK, simple(own, peer, writes, own_bytes.at(), name, offset, 16));
    const bk_completion refused = own.take();
    CHECK(refused.status != BK_OK);
    printf("  attempt %d: %s\n", attempt, bk_error_name(refused.status));
    CHECK(own_bytes.held == before.held);
    CHECK(attempt == 4 || target.holds(0, 1));
    CHECK(target.holds(1, 2));
    // Only what was refused suffers: another peer of the same process, or the same one, goes on.
    const Opened again(provider);
    peer = again.meet(target.address);
    check_done(again, simple(again, peer, false, own_bytes.at(), beside, 0, 16));
    CHECK(memcmp(own_bytes.at(), Memory(4096, 2).at(), 16) == 0);
  }
}

// Not `shm`: its lock lies in the memory of the process that is killed, and whoever comes there next spins for ever (libfabric 1.17).
PROVIDER_TEST(A_process_that_is_killed_in_the_middle_ends_its_transfers_only) {
  const uint64_t long_one = long_bytes(provider);
  if (strcmp(provider, "shm") == 0) return;
  Target killed(provider), stays(provider);
  const Opened own(provider, 0, 0, 5'000 * kMs);
  const bk_peer gone = own.meet(killed.address), there = own.meet(stays.address);
  const bk_region_name lost = killed.open(long_one), kept = stays.open(kMb);
  Memory to(long_one, 2), other(kMb, 3);
  check_done(own, simple(own, gone, false, to.at(), lost, 0, kMb));
  for (uint64_t at = 0; at < 32; ++at) CHECK_IS(BK_OK, simple(own, gone, false, to.at(), lost, 0, long_one, 1));
  killed.kill();
  int failed = 0;
  for (uint64_t at = 0; at < 32; ++at) failed += own.take().status != BK_OK;
  CHECK(failed > 0);
  check_done(own, simple(own, there, false, other.at(), kept, 0, kMb));
  CHECK(other.held == Memory(kMb, 1).held);
}

PROVIDER_TEST(A_region_that_is_closed_in_the_middle_is_its_owners_again) {
  const uint64_t long_one = long_bytes(provider);
  Target target(provider);
  const Opened own(provider, 0, 0, 5'000 * kMs);
  const bk_peer peer = own.meet(target.address);
  const bk_region_name name = target.open(long_one);
  Memory from(long_one, 5);
  check_done(own, simple(own, peer, true, from.at(), name, 0, kMb));
  for (uint64_t at = 0; at < 16; ++at) CHECK_IS(BK_OK, simple(own, peer, true, from.at(), name, 0, long_one, 1));
  CHECK(target.ask("close 0") == "0");
  int failed = 0;
  for (uint64_t at = 0; at < 16; ++at) failed += own.take().status != BK_OK;
  CHECK(failed > 0);
  CHECK(target.holds(0, 0xdead));  // written by its owner behind the close, and by nobody since
}

PROVIDER_TEST(A_large_transfer_can_be_cancelled) {
  const uint64_t long_one = long_bytes(provider);
  Target target(provider);
  const Opened own(provider);
  const bk_peer peer = own.meet(target.address);
  const bk_region_name name = target.open(long_one);
  Memory to(long_one, 2);
  bk_op op = 0;
  for (uint64_t at = 0; at < 16; ++at) CHECK_IS(BK_OK, simple(own, peer, false, to.at(), name, 0, long_one, at, 0, &op));
  CHECK_IS(BK_OK, bk_cancel(own, op));
  int cancelled = 0;
  for (uint64_t at = 0; at < 16; ++at) {
    const bk_completion completion = own.take();
    CHECK(completion.status == BK_OK || (completion.status == BK_E_CANCELED && completion.user == 15));
    cancelled += completion.status == BK_E_CANCELED;
  }
  CHECK(cancelled == 1);
}

// Neither side has anything to do: what both take then is a small part of one core. A machine that is busy with others can only make it less.
PROVIDER_TEST(Who_has_nothing_to_do_takes_no_time) {
  Target target(provider);
  const Opened own(provider, BK_EXPOSES);
  const bk_peer peer = own.meet(target.address);
  const bk_region_name name = target.open(kMb);
  Memory to(kMb, 2);
  for (int round = 0; round < 3; ++round) {
    check_done(own, simple(own, peer, false, to.at(), name, 0, kMb));
    check_done(own, simple(own, peer, true, to.at(), name, 0, kMb));
  }
  clockid_t theirs;
  CHECK(clock_getcpuclockid(target.pid, &theirs) == 0);
  const auto taken = [&](clockid_t of) {
    timespec time{};
    CHECK(clock_gettime(of, &time) == 0);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double before = taken(CLOCK_PROCESS_CPUTIME_ID), theirs_before = taken(theirs);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double used = taken(CLOCK_PROCESS_CPUTIME_ID) - before, theirs_used = taken(theirs) - theirs_before;
  printf("    this side %.0f ms of a second, the other side %.0f\n", used, theirs_used);
  CHECK(used < 300 && theirs_used < 300);
}

PROVIDER_TEST(Peers_come_and_go) {
  const Opened own(provider);
  Memory to(4096, 2);
  for (int round = 0; round < 5; ++round) {
    Target target(provider);
    const bk_region_name name = target.open(4096, kBoth, 3);
    const bk_peer peer = own.meet(target.address);
    check_done(own, simple(own, peer, false, to.at(), name, 0, 4096));
    CHECK(to.held == Memory(4096, 3).held);
    CHECK_IS(BK_OK, bk_peer_drop(own, peer, kLong));
    CHECK_IS(BK_E_HANDLE, simple(own, peer, false, to.at(), name, 0, 4096));
  }
}

// A runtime makes exceptions of some of them. What they were is looked at before anything of libfabric was opened.
PROVIDER_TEST(The_processs_signals_stay_as_they_were) {
  Target target(provider);
  const Opened own(provider, BK_EXPOSES);
  Memory to(kMb, 2);
  check_done(own, simple(own, own.meet(target.address), false, to.at(), target.open(kMb), 0, kMb));
  CHECK(signals_now() == signals_at_start());
}

void hears_once(int) {}
void hears_twice(int) {}

// While something of libfabric is opened others begin to hear of signals: a runtime of its children's end, when the first of them begins.
PROVIDER_TEST(What_another_thread_hears_of_meanwhile_stays) {
  std::atomic<bool> is_over{false};
  std::atomic<int> rounds{0}, lost{0};
  struct sigaction before {};
  CHECK(sigaction(SIGUSR2, nullptr, &before) == 0);
  std::thread other([&] {
    for (int turn = 0; !is_over; ++turn, ++rounds) {
      struct sigaction wanted {}, found {};
      wanted.sa_handler = turn % 2 == 0 ? hears_once : hears_twice;
      sigaction(SIGUSR2, &wanted, nullptr);
      for (int look = 0; look < 10; ++look) sigaction(SIGUSR2, nullptr, &found);
      lost += found.sa_handler != wanted.sa_handler;
    }
  });
  for (int round = 0; round < 100; ++round) const Opened own(provider, BK_EXPOSES);
  is_over = true;
  other.join();
  CHECK(sigaction(SIGUSR2, &before, nullptr) == 0);
  CHECK(rounds > 100);
  CHECK(lost == 0);
}
