// Provider `local` and processes whose pages do not come (userfaultfd) or go away.
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

#include "forger.h"

#ifndef UFFDIO_ZEROPAGE_MODE_DONTWAKE
#error "userfaultfd is not known here"
#endif

namespace {

constexpr uint64_t kPage = 4096;

// A page that nobody gets before it is served. It lies at the same place in a child, where it is held if the child asks for that.
class HeldPage {
 public:
  HeldPage() : at_(static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) { CHECK(at_ != MAP_FAILED); }
  HeldPage(const HeldPage&) = delete;
  ~HeldPage() { munmap(at_, kPage); }

  // False where the system lets nobody hold a page that the kernel itself asks for.
  bool hold() {
    faults_ = Descriptor(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
    if (faults_.get() < 0) {
      const Descriptor device(open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
      faults_ = Descriptor(device.get() < 0 ? -1 : ioctl(device.get(), USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK));
    }
    uffdio_api api{UFFD_API, 0, 0};
    uffdio_register all{{reinterpret_cast<uintptr_t>(at_), kPage}, UFFDIO_REGISTER_MODE_MISSING, 0};
    return faults_.get() >= 0 && ioctl(faults_.get(), UFFDIO_API, &api) == 0 && ioctl(faults_.get(), UFFDIO_REGISTER, &all) == 0;
  }

  // Until somebody is held.
  void wait() const {
    pollfd fault{faults_.get(), POLLIN, 0};
    CHECK(poll(&fault, 1, static_cast<int>(kLong / kMs)) == 1 && (fault.revents & POLLIN));
  }

  void serve() const {
    uffdio_zeropage zeros{{reinterpret_cast<uintptr_t>(at_), kPage}, 0, 0};
    CHECK(ioctl(faults_.get(), UFFDIO_ZEROPAGE, &zeros) == 0);
  }

  char* at() const { return at_; }

 private:
  char* at_;
  Descriptor faults_;
};

bool skips(bool is_held) {
  if (!is_held) printf("  skipped: pages cannot be held here (userfaultfd)\n");
  return !is_held;
}

// A process of its own that shows itself and has a region in a page that it holds.
class Holder {
 public:
  Holder() {
    int told[2];
    CHECK(pipe2(told, O_CLOEXEC) == 0);
    said_ = Descriptor(told[0]);
    const Descriptor tells(told[1]);
    const Descriptor table(memfd_create("holder", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    CHECK(ftruncate(table.get(), sizeof(LocalTable)) == 0 && fcntl(table.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    void* const rows = mmap(nullptr, sizeof(LocalTable), PROT_READ | PROT_WRITE, MAP_SHARED, table.get(), 0);
    CHECK(rows != MAP_FAILED);
    LocalRow& row = static_cast<LocalTable*>(rows)->rows[kRow];
    row.base = reinterpret_cast<uintptr_t>(page_.at());
    row.bytes = kPage;
    row.access = BK_REMOTE_READ | BK_REMOTE_WRITE;
    row.segment = -1;
    row.key = kKey;
    munmap(rows, sizeof(LocalTable));
    name = "bulk-forger-" + std::to_string(getpid());
    child_ = fork();
    CHECK(child_ >= 0);
    if (child_ == 0) run(table, tells);
    name = "bulk-forger-" + std::to_string(child_);
    char is_held = 0;
    CHECK(read(said_.get(), &is_held, 1) == 1);
    holds = is_held == 1;
  }
  ~Holder() { kill(); }

  void kill() {
    if (child_ == 0) return;
    CHECK(::kill(child_, SIGKILL) == 0 && waitpid(child_, nullptr, 0) == child_);
    child_ = 0;
  }

  static constexpr uint32_t kRow = 5;
  static constexpr uint64_t kKey = kRow + 1024 * 77;
  std::string name;
  bool holds = false;
  bk_region_name region() const { return {0, kPage, kKey}; }
  // Until somebody waits for the page.
  void wait() const {
    char held = 0;
    CHECK(read(said_.get(), &held, 1) == 1);
  }

 private:
  void run(const Descriptor& table, const Descriptor& tells) {
    alarm(120);
    Forger forger;
    forger.table = Descriptor(dup(table.get()));
    const char is_held = page_.hold() ? 1 : 0;
    [[maybe_unused]] ssize_t told = write(tells.get(), &is_held, 1);
    for (int met = 0; met < 2; ++met) forger.greet();
    page_.wait();
    told = write(tells.get(), &is_held, 1);
    for (Descriptor last;;) last = Descriptor(forger.greet());  // open until the next one comes: he has looked by then
  }

  HeldPage page_;
  Descriptor said_;
  pid_t child_ = 0;
};

}  // namespace

// Only the endpoint that has met it waits: it takes nothing more, and closes when the page comes.
LOCAL_TEST(A_process_that_does_not_show_its_memory_is_not_waited_for_longer_than_asked) {
  HeldPage page;
  if (skips(page.hold())) return;
  Forger forger;
  fcntl(forger.table.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  const uint64_t shown = forger.welcome.word_at;
  const Opened target("local", BK_EXPOSES), other("local");
  Memory memory(4096, 1), to(4096, 2);
  const bk_region_config config{sizeof config, BK_REMOTE_READ, memory.at(), 4096, nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(target, &config, &region, &name));
  const bk_peer known = other.meet(target.address());
  {
    const Opened own("local");
    const bk_peer before = own.meet(target.address());
    forger.welcome.word_at = reinterpret_cast<uintptr_t>(page.at());
    bk_peer peer = 0;
    const pid_t child = forger.answer_in_child();
    CHECK_IS(BK_E_TIMEOUT, bk_peer_add(own, forger.name.data(), forger.name.size(), 50 * kMs, &peer));
    page.wait();
    CHECK_IS(BK_E_POISONED, simple(own, before, false, to.at(), name, 0, 4096));
    bk_figures figures{};
    figures.size = sizeof figures;
    CHECK_IS(BK_OK, bk_endpoint_figures(own, &figures));
    CHECK(figures.state == 1);
    CHECK_IS(BK_E_BUSY, bk_peer_drop(own, before, 5 * kMs));
    CHECK_IS(BK_E_BUSY, bk_endpoint_close(own, 5 * kMs));
    CHECK_IS(BK_OK, simple(other, known, false, to.at(), name, 0, 4096));
    CHECK_IS(BK_OK, other.take().status);
    CHECK(to.held == memory.held);
    page.serve();
    CHECK_IS(BK_OK, bk_endpoint_close(own, kLong));
    CHECK(waitpid(child, nullptr, 0) == child);
  }
  forger.welcome.word_at = shown;
  const Opened again("local");
  bk_peer peer = 0;
  CHECK_IS(BK_OK, forger.meet(again, &peer));
}

// No signal ends it that does not end this process: the other one's end does.
LOCAL_TEST(A_copy_that_is_held_up_ends_with_the_process_that_holds_it) {
  Holder holder, honest;
  if (skips(holder.holds)) return;
  const Opened own("local"), other("local");
  const auto meet = [](const Opened& from, const Holder& with, bk_peer* peer) {
    return bk_peer_add(from, with.name.data(), with.name.size(), kLong, peer);
  };
  bk_peer peer = 0, others = 0;
  CHECK_IS(BK_OK, meet(own, holder, &peer));
  CHECK_IS(BK_OK, meet(other, holder, &others));
  Memory to(kPage, 1);
  CHECK_IS(BK_OK, simple(own, peer, false, to.at(), holder.region(), 0, kPage, 0, 20 * kMs));
  holder.wait();
  CHECK_IS(BK_E_BUSY, bk_endpoint_close(own, 5 * kMs));
  CHECK_IS(BK_E_TIMEOUT, bk_wait(own, 0));
  // Whoever comes later does not meet it; others are met.
  bk_status met = BK_OK;
  while (met == BK_OK) {
    CHECK_IS(BK_OK, bk_peer_drop(other, others, kLong));
    met = meet(other, holder, &others);
  }
  CHECK_IS(BK_E_BUSY, met);
  CHECK_IS(BK_OK, meet(other, honest, &others));
  holder.kill();
  own.take();
  CHECK_IS(BK_OK, bk_endpoint_close(own, kLong));
}

// The pages of a segment may be taken out of it at any time: whoever maps it gets new ones, and no signal.
LOCAL_TEST(Pages_that_are_taken_out_of_a_segment_end_nobody) {
  constexpr uint64_t kBytes = 4 << 20;
  constexpr int kRounds = 200;
  const Opened own("local");
  Forger forger;
  fcntl(forger.table.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  LocalTable* const table = forger.sealed_table();
  const Descriptor sealed(memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK(posix_fallocate(sealed.get(), 0, kBytes) == 0 && fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, sealed.get(), 0);
  CHECK(mapped != MAP_FAILED);
  const pid_t child = forger.answer_in_child();
  bk_peer peer = 0;
  CHECK_IS(BK_OK, bk_peer_add(own, forger.name.data(), forger.name.size(), kLong, &peer));
  std::atomic<bool> is_over = false;
  // Each way there is to take them, while they are copied; and one that is refused, which would cut the file.
  std::thread taker([&] {
    for (uint64_t round = 0; !is_over; ++round) {
      const uint64_t at = round * 7919 % (kBytes / kPage) * kPage, bytes = std::min<uint64_t>(kBytes - at, 64 * kPage);
      if (round % 2 == 0) fallocate(sealed.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at), static_cast<off_t>(bytes));
      else madvise(static_cast<char*>(mapped) + at, bytes, MADV_REMOVE);
      CHECK(ftruncate(sealed.get(), static_cast<off_t>(at)) != 0);
      if (round % 5 == 0) posix_fallocate(sealed.get(), 0, kBytes);
    }
  });
  Memory here(kBytes, 1);
  uint64_t key = Holder::kKey;
  for (int round = 0; round < kRounds; ++round) {
    LocalRow& row = table->rows[Holder::kRow];
    row.segment = sealed.get();
    row.base = 8;  // nothing is there: what is not mapped cannot be reached either
    row.bytes = kBytes;
    row.access = BK_REMOTE_READ | BK_REMOTE_WRITE;
    row.key = key += 1024;
    for (const bool writes : {false, true}) {
      CHECK_IS(BK_OK, simple(own, peer, writes, here.at(), {0, kBytes, key}, 0, kBytes));
      const bk_status ended = own.take().status;
      if (ended != BK_OK) CHECK_IS(BK_E_KEY, ended);
    }
  }
  is_over = true;
  taker.join();
  munmap(table, sizeof(LocalTable));
  munmap(mapped, kBytes);
  CHECK_IS(BK_OK, bk_peer_drop(own, peer, kLong));
  CHECK(waitpid(child, nullptr, 0) == child);
}

// A segment whose size is not sealed is never mapped: the kernel copies out of it, and finds it cut.
LOCAL_TEST(A_file_that_is_cut_while_it_is_copied_ends_nobody) {
  constexpr uint64_t kBytes = 1 << 20;
  constexpr int kRounds = 200;
  const Opened own("local");
  Forger forger;
  fcntl(forger.table.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  LocalTable* const table = forger.sealed_table();
  const Descriptor loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK(ftruncate(loose.get(), kBytes) == 0);
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, loose.get(), 0);
  CHECK(mapped != MAP_FAILED);
  const pid_t child = forger.answer_in_child();
  bk_peer peer = 0;
  CHECK_IS(BK_OK, bk_peer_add(own, forger.name.data(), forger.name.size(), kLong, &peer));
  LocalRow& row = table->rows[Holder::kRow];
  row.segment = loose.get();
  row.base = reinterpret_cast<uintptr_t>(mapped);
  row.bytes = kBytes;
  row.access = BK_REMOTE_READ | BK_REMOTE_WRITE;
  row.key = Holder::kKey;
  Memory here(kBytes, 1);
  for (int round = 0; round < kRounds; ++round) {
    for (const bool writes : {false, true}) {
      CHECK(ftruncate(loose.get(), kBytes) == 0);
      CHECK_IS(BK_OK, simple(own, peer, writes, here.at(), {0, kBytes, Holder::kKey}, 0, kBytes));
      CHECK(ftruncate(loose.get(), round * kPage) == 0);
      const bk_status ended = own.take().status;
      if (ended != BK_OK) CHECK_IS(BK_E_KEY, ended);
    }
  }
  munmap(table, sizeof(LocalTable));
  munmap(mapped, kBytes);
  CHECK_IS(BK_OK, bk_peer_drop(own, peer, kLong));
  CHECK(waitpid(child, nullptr, 0) == child);
}
