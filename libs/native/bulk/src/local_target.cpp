#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "fault.h"
#include "local_wire.h"
#include "segment.h"

namespace garnet::bulk {

namespace {
// A connection that finds no descriptor left stays where it is, and its socket readable: it is not asked for again before then.
constexpr uint64_t kAcceptAgain = 100'000'000;

uint32_t row_of(uint64_t key) { return static_cast<uint32_t>(key % kRowsMax); }
}  // namespace

LocalMap::~LocalMap() {
  if (table_) munmap(table_, sizeof(LocalTable));
}

bk_status LocalMap::open(int descriptor) {
  void* mapped = mmap(nullptr, sizeof(LocalTable), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return fail_by_errno(BK_E_NOMEM, "the table of regions", errno);
  table_ = static_cast<LocalTable*>(mapped);
  return BK_OK;
}

uint64_t start_time_of(int pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t length = file.get() < 0 ? -1 : read(file.get(), text, sizeof text - 1);
  if (length <= 0) return 0;
  text[length] = 0;
  // The program's name, in brackets, may hold anything: fields are counted behind its last bracket. The 22nd field is the 20th there.
  const char* at = strrchr(text, ')');
  for (int field = 2; at && field < 22; ++field) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, nullptr, 10) : 0;
}

bk_status LocalTarget::open() {
  word_ = std::make_unique<uint64_t>(random_key());
  const uint64_t unguessed = random_key();
  if (*word_ == 0 || unguessed == 0) return fail(BK_E_IO, "no random bytes to be had");
  char name[64];
  snprintf(name, sizeof name, "garnet-bulk-%d-%016llx", getpid(), static_cast<unsigned long long>(unguessed));
  name_ = name;
  // Behind a zero byte the name is no file: it is gone with the process.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name_.data(), name_.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  listener_ = Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener_.get() < 0 || bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_.get(), 64) != 0)
    return fail_by_errno(BK_E_IO, "the socket of a local endpoint", errno);
  rows_.resize(kRowsMax);
  return BK_OK;
}

bk_status LocalTarget::expose(Region& region) {
  const auto free = std::ranges::find(rows_, nullptr);
  if (free == rows_.end()) return fail(BK_E_BUSY, "a local endpoint exposes 1,024 regions at most");
  const auto row = static_cast<uint64_t>(free - rows_.begin());
  const uint64_t random = random_key() / kRowsMax;
  if (random == 0) return fail(BK_E_IO, "no random bytes to be had");
  region.key = random * kRowsMax + row;
  *free = &region;
  for (const Connection& connection : connections_)
    if (connection.is_welcome) write_row(connection.table, region);
  return BK_OK;
}

void LocalTarget::write_row(const LocalMap& table, const Region& region) {
  LocalRow& row = table->rows[row_of(region.key)];
  row.base.store(reinterpret_cast<uintptr_t>(region.base), std::memory_order_relaxed);
  row.bytes.store(region.bytes, std::memory_order_relaxed);
  row.access.store(region.access, std::memory_order_relaxed);
  row.segment.store(region.segment ? region.segment->descriptor() : -1, std::memory_order_relaxed);
  row.segment_offset.store(region.segment ? static_cast<uint64_t>(region.base - region.segment->at()) : 0, std::memory_order_relaxed);
  row.key.store(region.key, std::memory_order_seq_cst);
}

// L2
void LocalTarget::withdraw(const Region& region) {
  for (const Connection& connection : connections_)
    if (connection.is_welcome) connection.table->rows[row_of(region.key)].key.store(0, std::memory_order_seq_cst);
}

void LocalTarget::leave() {
  listener_ = Descriptor();
  for (const Region* region : rows_)
    if (region) withdraw(*region);
}

// A process that has gone is not at it any more: its connection is closed once none of its threads runs.
bool LocalTarget::is_withdrawn(const Region& region) {
  const uint32_t row = row_of(region.key);
  const bool is_free = std::ranges::all_of(connections_, [row](const Connection& connection) {
    return !connection.is_welcome || connection.table->rows[row].users.load(std::memory_order_seq_cst) == 0;
  });
  if (is_free && rows_[row] == &region) rows_[row] = nullptr;
  return is_free;
}

void LocalTarget::wakes(std::vector<pollfd>& into) const {
  if (accepts_at_ == 0) into.push_back({listener_.get(), POLLIN, 0});
  for (const Connection& connection : connections_) into.push_back({connection.socket.get(), POLLIN, 0});
}

void LocalTarget::poll() {
  accept();
  std::erase_if(connections_, [this](Connection& connection) {
    LocalHello hello{};
    const ssize_t got = recv(connection.socket.get(), &hello, sizeof hello, MSG_DONTWAIT);
    if (got < 0) return errno != EAGAIN && errno != EINTR;
    // Nothing is said after the greeting; what is said all the same ends it, as an end does.
    if (connection.is_welcome || got != sizeof hello || hello.magic != kLocalMagic) return true;
    return greet(connection) != BK_OK;
  });
}

void LocalTarget::accept() {
  if (accepts_at_ != 0 && machine_time() < accepts_at_) return;
  accepts_at_ = 0;
  for (;;) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (is_short) accepts_at_ = after(machine_time(), kAcceptAgain);
      return;
    }
    ucred who{};
    socklen_t length = sizeof who;
    const bool is_same_user = getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 && who.uid == geteuid();
    if (!is_same_user || connections_.size() >= kConnectionsMax) continue;
    // Where the system lets a process be read only by those that it names (yama).
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(who.pid), 0, 0, 0);
    connections_.emplace_back();
    connections_.back().socket = std::move(socket);
  }
}

bk_status LocalTarget::greet(Connection& connection) const {
  connection.memory = Descriptor(memfd_create("garnet-bulk", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int memory = connection.memory.get();
  if (memory < 0 || ftruncate(memory, sizeof(LocalTable)) != 0 || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail_by_errno(BK_E_IO, "the table of regions", errno);
  if (const bk_status mapped = connection.table.open(memory); mapped != BK_OK) return mapped;
  for (const Region* region : rows_)
    if (region && !region->closing) write_row(connection.table, *region);

  LocalWelcome welcome{kLocalMagic, 0, start_time_of(getpid()), *word_, reinterpret_cast<uintptr_t>(word_.get())};
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof memory)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof memory);
  memcpy(CMSG_DATA(head), &memory, sizeof memory);
  if (sendmsg(connection.socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof welcome)
    return fail_by_errno(BK_E_PEER, "a process that came did not wait for its answer", errno);
  connection.memory = Descriptor();
  connection.is_welcome = true;
  return BK_OK;
}

}  // namespace garnet::bulk
