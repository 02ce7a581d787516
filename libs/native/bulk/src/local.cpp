// Provider `local`: processes of one user on one machine. Whoever reads or writes copies across, once: within its own memory where the other
// side's lies in a segment, which it maps, and else by a call of the kernel for each piece. The other side takes no part in it.
// A piece is copied where it is posted, so that none is ever out, and a deadline never finds one that is. What cannot be helped: a page
// of the other process that never comes (a file system of its own, userfaultfd) holds this endpoint's thread for as long as that lasts: no
// signal ends such a call but one that ends this process. Then the endpoint does not close (BK_E_BUSY) and its memory stays borrowed, until the other
// process serves the page or ends; others have threads of their own.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <mutex>

#include "fault.h"
#include "local_views.h"
#include "local_wire.h"

namespace garnet::bulk {

namespace {

// Long enough that a call's own cost does not count, short enough that an end that is asked for comes within a millisecond.
constexpr Limits kLimits{4 * 1024 * 1024, 1};
constexpr size_t kNameMax = 100;

struct LocalPeer;

// Those that are known here, so that one can be told to be held up by its process.
struct LocalPeers {
  std::mutex mutex;
  std::vector<const LocalPeer*> all;
};

LocalPeers& local_peers() {
  static auto* const peers = new LocalPeers;
  return *peers;
}

constexpr uint64_t kHeldLong = kSecond;

struct LocalPeer : PeerPart {
  LocalPeer() {
    const std::lock_guard guard(local_peers().mutex);
    local_peers().all.push_back(this);
  }
  ~LocalPeer() override {
    const std::lock_guard guard(local_peers().mutex);
    std::erase(local_peers().all, this);
  }

  std::atomic<int> pid{0};
  std::atomic<uint64_t> reached_at{0};  // since when a thread is at its memory; 0 = none is
  LocalWelcome welcome{};
  Descriptor socket;
  Descriptor process;  // a pidfd
  LocalMap table;
  LocalViews views;

  bool is_there() const {
    pollfd both[] = {{process.get(), POLLIN, 0}, {socket.get(), POLLRDHUP, 0}};
    int heard;
    do heard = ::poll(both, 2, 0);
    while (heard < 0 && errno == EINTR);
    return heard == 0;
  }
};

// Says that a thread is at the memory of a process.
class Reach {
 public:
  explicit Reach(LocalPeer& peer) : peer_(peer) { peer_.reached_at.store(machine_time(), std::memory_order_relaxed); }
  ~Reach() { peer_.reached_at.store(0, std::memory_order_relaxed); }
  Reach(const Reach&) = delete;

 private:
  LocalPeer& peer_;
};

// L4
bool holds_somebody_up(int pid) {
  const uint64_t now = machine_time();
  const std::lock_guard guard(local_peers().mutex);
  return std::ranges::any_of(local_peers().all, [pid, now](const LocalPeer* peer) {
    const uint64_t since = peer->reached_at.load(std::memory_order_relaxed);
    return peer->pid.load(std::memory_order_relaxed) == pid && since != 0 && now > after(since, kHeldLong);
  });
}

bk_status status_of(int error) {
  switch (error) {
    case ESRCH: return BK_E_PEER;
    case EFAULT: return BK_E_KEY;
    case EPERM: return BK_E_DENIED;
    case ENOMEM: return BK_E_NOMEM;
    default: return BK_E_IO;
  }
}

bk_status fail_to_connect(int error) {
  return fail_by_errno(error == EACCES || error == EPERM ? BK_E_DENIED : BK_E_PEER, "nobody is at this address", error);
}

bk_status knock(std::string_view name, LocalPeer& peer) {
  if (name.empty() || name.size() > kNameMax) return fail(BK_E_INVAL, "not the address of a local endpoint");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  peer.socket = Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (peer.socket.get() < 0) return fail_by_errno(BK_E_IO, "a socket", errno);
  if (::connect(peer.socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return fail_to_connect(errno);

  ucred who{};
  socklen_t who_length = sizeof who;
  if (getsockopt(peer.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &who_length) != 0) return fail_by_errno(BK_E_IO, "SO_PEERCRED", errno);
  if (who.uid != geteuid()) return fail(BK_E_DENIED, "the other process runs as another user");
  if (who.pid <= 0) return fail(BK_E_DENIED, "the other process cannot be seen from here");
  if (holds_somebody_up(who.pid)) return fail(BK_E_BUSY, "the other process holds up an endpoint by memory that does not come");
  peer.pid = who.pid;
  peer.process = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0)));
  return peer.process.get() < 0 ? fail_by_errno(errno == ESRCH ? BK_E_PEER : BK_E_UNSUPPORTED, "pidfd_open", errno) : BK_OK;
}

bool wait_for_answer(int socket, uint64_t limit_ns) {
  const uint64_t until = after(machine_time(), limit_ns);
  for (;;) {
    pollfd answer{socket, POLLIN, 0};
    const uint64_t now = machine_time(), left = until > now ? until - now : 0;
    const timespec limit{static_cast<time_t>(std::min(left / kSecond, uint64_t{3600})), static_cast<long>(left % kSecond)};
    if (ppoll(&answer, 1, &limit, nullptr) > 0) return true;
    if (machine_time() >= until) return false;
  }
}

// The descriptor that came with a message, if it was one. As many come as the sender likes, and all are this process's then.
Descriptor only_one_of(msghdr& message) {
  std::vector<Descriptor> all;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= head->cmsg_len; at += sizeof(int)) {
      int number = -1;
      memcpy(&number, CMSG_DATA(head) + at, sizeof number);
      all.emplace_back(number);
    }
  }
  return all.size() == 1 && !(message.msg_flags & MSG_CTRUNC) ? std::move(all.front()) : Descriptor();
}

// The answer, with the table that comes along.
bk_status hear(LocalPeer& peer, uint64_t limit_ns, LocalWelcome& welcome, Descriptor& memory) {
  const LocalHello hello{kLocalMagic, 0};
  if (send(peer.socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) return fail_to_connect(errno);
  if (!wait_for_answer(peer.socket.get(), limit_ns)) return fail(BK_E_TIMEOUT, "the other process does not answer");

  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const ssize_t got = recvmsg(peer.socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return fail(BK_E_PEER, "the other process does not take this one");
  memory = only_one_of(message);
  if (got == 0) return fail(BK_E_PEER, "the other process does not take this one");
  if (got != sizeof welcome || welcome.magic != kLocalMagic || memory.get() < 0) return fail(BK_E_VERSION, "the other process speaks otherwise");
  return BK_OK;
}

// L1
bk_status verify(LocalPeer& peer) {
  const LocalWelcome& welcome = peer.welcome;
  const uint64_t started = start_time_of(peer.pid);
  if (started == 0 || started != welcome.start_time) return fail(BK_E_PEER, "the process behind the socket is not the one that answers");
  uint64_t word = 0;
  const Reach reach(peer);
  const iovec here{&word, sizeof word}, there{reinterpret_cast<void*>(welcome.word_at), sizeof word};
  if (process_vm_readv(peer.pid, &here, 1, &there, 1, 0) != sizeof word) {
    const int error = errno;
    return fail_by_errno(error == EPERM ? BK_E_DENIED : BK_E_PEER, "the memory of the other process cannot be read", error);
  }
  if (word != welcome.word || !peer.is_there()) return fail(BK_E_PEER, "the process behind the socket is not the one that answers");
  return BK_OK;
}

// One that could be cut while it is mapped would end this process by a signal.
bk_status take_table(LocalPeer& peer, const Descriptor& memory) {
  uint64_t bytes = 0;
  if (!is_lasting_memory(memory.get(), bytes) || bytes != sizeof(LocalTable)) return fail(BK_E_PEER, "the other process's table of regions is not as it must be");
  return peer.table.open(memory.get());
}

class Local final : public Provider {
 public:
  bk_status open(bool exposes) {
    exposes_ = exposes;
    return exposes ? target_.open() : BK_OK;
  }

  Limits limits() const override { return kLimits; }
  std::string address() const override { return target_.name(); }

  bk_status connect(std::string_view address, uint64_t limit_ns, std::unique_ptr<PeerPart>& peer) override {
    auto made = std::make_unique<LocalPeer>();
    Descriptor memory;
    bk_status status = knock(address, *made);
    if (status == BK_OK) status = hear(*made, limit_ns, made->welcome, memory);
    if (status == BK_OK) status = take_table(*made, memory);
    if (status == BK_OK) peer = std::move(made);
    return status;
  }

  bk_status prove(PeerPart& peer) override { return verify(static_cast<LocalPeer&>(peer)); }

  bk_status expose(Region& region) override { return region.access ? target_.expose(region) : BK_OK; }

  void withdraw(Region& region) override {
    if (region.access) target_.withdraw(region);
  }

  bool is_withdrawn(Region& region) override { return !region.access || target_.is_withdrawn(region); }

  Posted post(const Piece& piece, Done& done) override {
    auto& peer = *static_cast<LocalPeer*>(piece.peer);
    LocalRow& row = peer.table->rows[piece.remote->key % kRowsMax];
    if (!peer.is_there()) done.status = BK_E_PEER;
    else {
      const Reach reach(peer);
      row.users.fetch_add(1, std::memory_order_seq_cst);  // L2
      copy(peer, row, piece, done);
      row.users.fetch_sub(1, std::memory_order_seq_cst);
    }
    return Posted::Over;
  }

  void poll(std::vector<Done>&) override {
    if (exposes_) target_.poll();
  }

  void abort() override { target_.leave(); }

  Rest rest(std::vector<pollfd>& wakes) override {
    if (exposes_) target_.wakes(wakes);
    return Rest::Wait;
  }

  uint64_t due() const override { return target_.due(); }

  std::string text_of(int32_t error) const override { return error == 0 ? "" : strerror(error); }

 private:
  static void copy(LocalPeer& peer, LocalRow& row, const Piece& piece, Done& done) {
    const uint64_t key = row.key.load(std::memory_order_seq_cst);
    const uint64_t base = row.base.load(std::memory_order_relaxed), bytes = row.bytes.load(std::memory_order_relaxed);  // L3
    const uint32_t right = piece.writes ? BK_REMOTE_WRITE : BK_REMOTE_READ;
    done.status = BK_E_KEY;
    if (key == 0 || key != piece.remote->key || !(row.access.load(std::memory_order_relaxed) & right)) return;
    if (!lies_in(piece.offset, piece.bytes, bytes) || base > UINT64_MAX - bytes) return;
    const LocalViews::View view = peer.views.find(peer.process.get(), *peer.table.get(), row, key, bytes);
    // The row may say something else by now than when it was mapped.
    if (view.at && !lies_in(piece.offset, piece.bytes, view.bytes)) return;
    done.status = BK_OK;
    if (view.at) {
      char* const there = view.at + piece.offset;
      memcpy(piece.writes ? there : piece.local, piece.writes ? piece.local : there, piece.bytes);
      done.bytes = piece.bytes;
      return;
    }
    while (done.bytes < piece.bytes) {
      const iovec here{piece.local + done.bytes, piece.bytes - done.bytes};
      const iovec there{reinterpret_cast<void*>(base + piece.offset + done.bytes), piece.bytes - done.bytes};
      const ssize_t moved = piece.writes ? process_vm_writev(peer.pid, &here, 1, &there, 1, 0) : process_vm_readv(peer.pid, &here, 1, &there, 1, 0);
      if (moved <= 0) {
        done.error = moved < 0 ? errno : EFAULT;
        done.status = status_of(done.error);
        return;
      }
      done.bytes += static_cast<uint64_t>(moved);
    }
  }

  bool exposes_ = false;
  LocalTarget target_;
};

}  // namespace

bk_status judge_local(const char*, std::string& reason) {
  const Descriptor self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  uint64_t from = 1, to = 0;
  const iovec here{&to, sizeof to}, there{&from, sizeof from};
  if (self.get() >= 0 && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof to && to == from) return BK_OK;
  reason = std::string("the kernel does not copy between processes here: ") + strerror(errno);
  return BK_E_UNSUPPORTED;
}

bk_status make_local(const char*, const Opening& opening, std::unique_ptr<Provider>& made) {
  auto local = std::make_unique<Local>();
  const bk_status opened = local->open(opening.exposes);
  if (opened == BK_OK) made = std::move(local);
  return opened;
}

}  // namespace garnet::bulk
