// Provider `local` and processes that are not who they should be, or lie.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>

#include "forger.h"

using namespace garnet::bulk;

namespace {

size_t descriptors_now() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

LOCAL_TEST(A_process_that_is_not_the_one_behind_its_socket_is_refused) {
  const Opened own("local");
  bk_peer peer = 0;
  Forger forger;
  fcntl(forger.table.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  forger.welcome.start_time += 1;
  CHECK_IS(BK_E_PEER, forger.meet(own, &peer));
  forger.welcome.start_time -= 1;
  forger.welcome.word += 1;
  CHECK_IS(BK_E_PEER, forger.meet(own, &peer));
  forger.welcome.word -= 1;
  forger.welcome.word_at = 8;
  CHECK_IS(BK_E_PEER, forger.meet(own, &peer));
  forger.welcome.word_at = reinterpret_cast<uintptr_t>(&forger.word);
  forger.welcome.magic += 1;
  CHECK_IS(BK_E_VERSION, forger.meet(own, &peer));
}

LOCAL_TEST(A_table_that_could_be_cut_is_refused) {
  const Opened own("local");
  bk_peer peer = 0;
  Forger forger;
  CHECK_IS(BK_E_PEER, forger.meet(own, &peer));
  CHECK(ftruncate(forger.table.get(), 100) == 0);
  fcntl(forger.table.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  CHECK_IS(BK_E_PEER, forger.meet(own, &peer));
}

// The forger's table is in its hands: whatever it writes there concerns addresses of its own.
LOCAL_TEST(Whoever_lies_about_its_memory_gets_errors) {
  const Opened own("local");
  bk_peer peer = 0;
  Forger forger;
  LocalTable* const table = forger.sealed_table();
  const pid_t child = forger.answer_in_child();
  CHECK_IS(BK_OK, bk_peer_add(own, forger.name.data(), forger.name.size(), kLong, &peer));
  Memory to(4096, 1);
  for (const auto& [base, bytes] : {std::pair<uint64_t, uint64_t>{8, 4096}, {UINT64_MAX - 10, 4096}, {UINT64_MAX, UINT64_MAX}, {0x7fffffff0000, 1ull << 60}}) {
    LocalRow& row = table->rows[5];
    row.base = base;
    row.bytes = bytes;
    row.access = BK_REMOTE_READ | BK_REMOTE_WRITE;
    row.key = 5 + 1024 * 77;
    row.users = UINT32_MAX;
    for (const bool writes : {false, true}) {
      CHECK_IS(BK_OK, simple(own, peer, writes, to.at(), {0, UINT64_MAX, 5 + 1024 * 77}, 0, 4096));
      CHECK_IS(BK_E_KEY, own.take().status);
    }
  }
  CHECK(to.held == Memory(4096, 1).held);
  munmap(table, sizeof(LocalTable));
  CHECK_IS(BK_OK, bk_peer_drop(own, peer, kLong));
  CHECK(waitpid(child, nullptr, 0) == child);
}

// Once it is mapped, what the row says of its length is not believed again.
LOCAL_TEST(Whoever_lies_about_a_segment_gets_errors) {
  const Opened own("local");
  bk_peer peer = 0;
  Forger forger;
  LocalTable* const table = forger.sealed_table();
  const Descriptor sealed(memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING)), loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK(posix_fallocate(sealed.get(), 0, 8192) == 0 && posix_fallocate(loose.get(), 0, 8192) == 0 && fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  const pid_t child = forger.answer_in_child();
  CHECK_IS(BK_OK, bk_peer_add(own, forger.name.data(), forger.name.size(), kLong, &peer));
  Memory to(8192, 1);
  uint64_t key = 5;
  const auto attempt = [&](int segment, uint64_t offset, uint64_t said, uint64_t at, uint64_t bytes) {
    LocalRow& row = table->rows[5];
    row.segment = segment;
    row.segment_offset = offset;
    row.base = 8;  // nothing is there: what is not mapped cannot be read either
    row.bytes = said;
    row.access = BK_REMOTE_READ;
    row.key = key;
    CHECK_IS(BK_OK, simple(own, peer, false, to.at(), {0, UINT64_MAX, key}, at, bytes));
    return own.take().status;
  };
  key += 1024;
  CHECK_IS(BK_OK, attempt(sealed.get(), 0, 8192, 100, 8092));
  CHECK_IS(BK_E_KEY, attempt(sealed.get(), 0, UINT64_MAX / 2, 8192, 1));  // the same key, a longer region
  CHECK_IS(BK_E_KEY, attempt(sealed.get(), 0, UINT64_MAX / 2, 8191, 2));
  key += 1024;
  CHECK_IS(BK_E_KEY, attempt(loose.get(), 0, 8192, 0, 8192));  // it could be cut while it is mapped
  key += 1024;
  CHECK_IS(BK_E_KEY, attempt(sealed.get(), 4096, 8192, 0, 1));
  key += 1024;
  CHECK_IS(BK_E_KEY, attempt(sealed.get(), UINT64_MAX - 100, 4096, 0, 1));
  for (const int number : {0, 1, 12345, INT32_MAX}) {
    key += 1024;
    CHECK_IS(BK_E_KEY, attempt(number, 0, 4096, 0, 1));
  }
  munmap(table, sizeof(LocalTable));
  CHECK_IS(BK_OK, bk_peer_drop(own, peer, kLong));
  CHECK(waitpid(child, nullptr, 0) == child);
}

// What it is not asked for comes along all the same, with any message: it would be kept for ever.
LOCAL_TEST(Descriptors_that_a_process_sends_unasked_are_closed) {
  const Opened own("local");
  Forger forger;
  bk_peer peer = 0;
  fcntl(forger.table.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  for (const auto& [said, descriptors] : {std::pair<size_t, size_t>{0, 1}, {1, 1}, {sizeof(LocalWelcome), 2}, {sizeof(LocalWelcome), 3}, {0, Forger::kDescriptorsMost}}) {
    forger.said = said;
    forger.descriptors = descriptors;
    const size_t before = descriptors_now();
    CHECK(forger.meet(own, &peer) != BK_OK);
    CHECK(descriptors_now() == before);
  }
}

// Whoever maps one pays for its pages: those of a file that has none yet, or of a kind that can be taken away under him, are left where they are.
LOCAL_TEST(A_segment_whose_pages_are_not_there_is_not_mapped) {
  constexpr uint64_t kBytes = 64 << 20, kOffset = 2 << 20;
  const Opened own("local");
  bk_peer peer = 0;
  Forger forger;
  LocalTable* const table = forger.sealed_table();
  Memory to(4096, 1);
  uint64_t key = 5;
  for (const uint32_t kind : {0u, static_cast<uint32_t>(MFD_HUGETLB)}) {
    const Descriptor file(memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING | kind));
    const bool is_there = file.get() >= 0 && ftruncate(file.get(), kBytes) == 0 && (kind == 0 || posix_fallocate(file.get(), 0, kOffset * 2) == 0);
    if (!is_there) {
      printf("  huge pages: skipped, there are none (vm.nr_hugepages)\n");
      continue;
    }
    CHECK(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    struct stat before {}, behind {};
    CHECK(fstat(file.get(), &before) == 0);
    const pid_t child = forger.answer_in_child();
    CHECK_IS(BK_OK, bk_peer_add(own, forger.name.data(), forger.name.size(), kLong, &peer));
    LocalRow& row = table->rows[5];
    row.segment = file.get();
    row.segment_offset = kind == 0 ? 0 : kOffset;
    row.base = 8;
    row.bytes = kind == 0 ? kBytes : kOffset;
    row.access = BK_REMOTE_READ;
    row.key = key += 1024;
    CHECK_IS(BK_OK, simple(own, peer, false, to.at(), {0, UINT64_MAX, key}, 0, 4096));
    CHECK_IS(BK_E_KEY, own.take().status);
    CHECK(fstat(file.get(), &behind) == 0 && behind.st_blocks == before.st_blocks);
    CHECK_IS(BK_OK, bk_peer_drop(own, peer, kLong));
    CHECK(waitpid(child, nullptr, 0) == child);
  }
  munmap(table, sizeof(LocalTable));
}

// A connection that cannot be taken stays where it is: whoever asks for it again and again has a core for himself.
LOCAL_TEST(Whoever_has_no_descriptors_left_waits_for_some) {
  constexpr uint64_t kWatched = 300 * kMs, kMayCost = 60 * kMs;
  const Opened target("local", BK_EXPOSES), own("local");
  sockaddr_un address;
  const socklen_t length = address_of(target.address(), address);
  Descriptor stranger(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  rlimit usual{};
  CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit none{static_cast<rlim_t>(stranger.get()) + 1, usual.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(connect(stranger.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  const auto cost = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<uint64_t>(used.tv_sec) * 1000 * kMs + static_cast<uint64_t>(used.tv_nsec);
  };
  const uint64_t before = cost();
  CHECK_IS(BK_E_TIMEOUT, bk_wait(own, kWatched));
  CHECK(cost() - before < kMayCost);
  CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
  stranger = Descriptor();
  own.meet(target.address());
}

// Every call that needs one may be the first that finds none: each has an error, and those that were open go on.
LOCAL_TEST(Endpoints_that_open_where_descriptors_are_few_get_errors_or_work) {
  constexpr rlim_t kMore = 24;
  const Opened target("local", BK_EXPOSES), own("local");
  Memory memory(4096, 1), to(4096, 2);
  const bk_region_config config{sizeof config, BK_REMOTE_READ, memory.at(), 4096, nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(target, &config, &region, &name));
  const bk_peer known = own.meet(target.address());
  rlimit usual{};
  CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlim_t first = static_cast<rlim_t>(Descriptor(dup(0)).get());  // all below are taken
  bool has_met = false;
  for (rlim_t more = 0; more < kMore; ++more) {
    const rlimit few{first + more, usual.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    bk_endpoint_config open{};
    open.size = sizeof open;
    open.provider = "local";
    open.provider_bytes = 5;
    bk_endpoint endpoint = 0;
    bk_peer peer = 0;
    if (bk_endpoint_open(&open, &endpoint) == BK_OK) {
      const std::string address = target.address();
      has_met = bk_peer_add(endpoint, address.data(), address.size(), 300 * kMs, &peer) == BK_OK;
      CHECK_IS(BK_OK, bk_endpoint_close(endpoint, kLong));
      CHECK_IS(BK_OK, bk_endpoint_free(endpoint));
    }
    bk_segment segment = 0;
    void* at = nullptr;
    const bk_segment_config whole{sizeof whole, 0, 8192};
    if (bk_segment_open(&whole, &segment, &at) == BK_OK) CHECK_IS(BK_OK, bk_segment_close(segment));
    CHECK_IS(BK_OK, simple(own, known, false, to.at(), name, 0, 4096));
    CHECK_IS(BK_OK, own.take().status);
  }
  CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(has_met);
}

// A process has signals: what they interrupt goes on. Of those that do nothing by themselves: the last may come
// when the handler is gone (the sanitizer of threads brings them late).
LOCAL_TEST(Signals_do_not_end_what_they_interrupt) {
  const Opened target("local", BK_EXPOSES), own("local");
  Memory memory(4096, 1), to(4096, 2);
  bk_region_config config{sizeof config, BK_REMOTE_READ, memory.at(), 4096, nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(target, &config, &region, &name));
  const bk_peer peer = own.meet(target.address());
  struct sigaction heard {}, before {};
  heard.sa_handler = [](int) {};
  CHECK(sigaction(SIGURG, &heard, &before) == 0);
  std::vector<pid_t> threads;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) threads.push_back(std::stoi(thread.path().filename()));
  std::atomic<bool> is_over = false;
  std::thread sender([&] {
    while (!is_over)
      for (const pid_t thread : threads) syscall(SYS_tgkill, getpid(), thread, SIGURG);
  });
  for (int round = 0; round < 2000; ++round) {
    CHECK_IS(BK_OK, simple(own, peer, false, to.at(), name, 0, 4096));
    CHECK_IS(BK_OK, own.take().status);
  }
  for (int round = 0; round < 20; ++round) {
    CHECK_IS(BK_OK, bk_peer_drop(own, own.meet(target.address()), kLong));
    bk_segment segment = 0;
    void* at = nullptr;
    const bk_segment_config whole{sizeof whole, 0, 8 << 20};
    CHECK_IS(BK_OK, bk_segment_open(&whole, &segment, &at));
    CHECK_IS(BK_OK, bk_segment_close(segment));
  }
  is_over = true;
  sender.join();
  CHECK(sigaction(SIGURG, &before, nullptr) == 0);
}

LOCAL_TEST(A_segment_is_closed_behind_its_regions) {
  bk_segment segment = 0;
  void* at = nullptr;
  bk_segment_config whole{sizeof whole, 0, 100'000};
  CHECK_IS(BK_OK, bk_segment_open(&whole, &segment, &at));
  const Opened target("local", BK_EXPOSES), own("local");
  const bk_peer peer = own.meet(target.address());
  Memory bytes(50'001, 1), read(50'001, 2);
  for (int round = 0; round < 200; ++round) {  // more than are kept mapped
    memset(at, 0, 100'000);
    bk_region_config config{sizeof config, BK_REMOTE_READ | BK_REMOTE_WRITE, static_cast<char*>(at) + 4099, 50'001, nullptr, 0};
    bk_region region = 0;
    bk_region_name name{};
    CHECK_IS(BK_OK, bk_region_open(target, &config, &region, &name));
    CHECK_IS(BK_E_BUSY, bk_segment_close(segment));
    CHECK_IS(BK_OK, simple(own, peer, true, bytes.at(), name, 0, 50'001));
    CHECK_IS(BK_OK, own.take().status);
    CHECK_IS(BK_OK, simple(own, peer, false, read.at(), name, 0, 50'001));
    CHECK_IS(BK_OK, own.take().status);
    CHECK(read.held == bytes.held && static_cast<char*>(at)[4098] == 0 && static_cast<char*>(at)[4099 + 50'001] == 0);
    CHECK_IS(BK_OK, bk_region_close(target, region, kLong));
    CHECK_IS(BK_OK, simple(own, peer, true, bytes.at(), name, 0, 50'001));
    CHECK_IS(BK_E_KEY, own.take().status);
  }
  CHECK_IS(BK_OK, bk_segment_close(segment));
  CHECK_IS(BK_E_HANDLE, bk_segment_close(segment));
  whole.bytes = UINT64_MAX;
  CHECK_IS(BK_E_INVAL, bk_segment_open(&whole, &segment, &at));
  whole.bytes = uint64_t{1} << 50;
  CHECK_IS(BK_E_NOMEM, bk_segment_open(&whole, &segment, &at));
}

LOCAL_TEST(A_process_that_does_not_answer_is_not_waited_for_longer_than_asked) {
  const Opened own("local");
  bk_peer peer = 0;
  const Forger forger;
  CHECK_IS(BK_E_TIMEOUT, bk_peer_add(own, forger.name.data(), forger.name.size(), 1 * kMs, &peer));
  CHECK_IS(BK_E_PEER, bk_peer_add(own, "nobody-has-this-name", 20, kLong, &peer));
  CHECK_IS(BK_E_INVAL, bk_peer_add(own, std::string(500, 'x').data(), 500, kLong, &peer));
}

// An initiator by hand, which stays in the middle of a piece for as long as the test wants.
LOCAL_TEST(A_region_closes_behind_whoever_copies_in_it_and_behind_his_end) {
  const Opened target("local", BK_EXPOSES);
  Memory memory(4096, 1);
  bk_region_config config{sizeof config, BK_REMOTE_READ, memory.at(), 4096, nullptr, 0};
  for (const bool ends : {false, true}) {
    bk_region region = 0;
    bk_region_name name{};
    CHECK_IS(BK_OK, bk_region_open(target, &config, &region, &name));
    sockaddr_un address;
    const socklen_t length = address_of(target.address(), address);
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const LocalHello hello{kLocalMagic, 0};
    CHECK(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    CHECK(send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello);
    LocalWelcome welcome{};
    iovec part{&welcome, sizeof welcome};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    CHECK(recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC) == sizeof welcome);
    int number = -1;
    memcpy(&number, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof number);
    const Descriptor file(number);
    auto* const table = static_cast<LocalTable*>(mmap(nullptr, sizeof(LocalTable), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    CHECK(table != MAP_FAILED);
    LocalRow& row = table->rows[name.key % kRowsMax];
    row.users.fetch_add(1);
    CHECK(row.key == name.key);
    CHECK_IS(BK_E_BUSY, bk_region_close(target, region, 5 * kMs));
    CHECK(row.key == 0);
    if (ends) socket = Descriptor();
    else row.users.fetch_sub(1);
    CHECK_IS(BK_OK, bk_region_close(target, region, kLong));
    munmap(table, sizeof(LocalTable));
  }
}

LOCAL_TEST(Strangers_are_shown_out_and_harm_nobody) {
  const Opened target("local", BK_EXPOSES), own("local");
  Memory memory(4096, 1), to(4096, 2);
  bk_region_config config{sizeof config, BK_REMOTE_READ, memory.at(), 4096, nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(target, &config, &region, &name));
  const bk_peer peer = own.meet(target.address());
  sockaddr_un address;
  const socklen_t length = address_of(target.address(), address);
  for (const char* said : {"x", "nonsense", "something that is far longer than any greeting"}) {
    const Descriptor stranger(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    CHECK(connect(stranger.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    CHECK(send(stranger.get(), said, strlen(said), MSG_NOSIGNAL) > 0);
    char answer;
    CHECK(recv(stranger.get(), &answer, 1, 0) <= 0);
  }
  // Another user, where this one may become one.
  if (geteuid() == 0) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      const int stranger = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
      const LocalHello hello{kLocalMagic, 0};
      char answer[sizeof(LocalWelcome)];
      bool is_out = setuid(65534) == 0 && connect(stranger, reinterpret_cast<sockaddr*>(&address), length) == 0;
      if (is_out) send(stranger, &hello, sizeof hello, MSG_NOSIGNAL);
      is_out = is_out && recv(stranger, answer, sizeof answer, 0) <= 0;
      _exit(is_out ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK_IS(BK_OK, simple(own, peer, false, to.at(), name, 0, 4096));
  CHECK_IS(BK_OK, own.take().status);
  CHECK(to.held == memory.held);
}
