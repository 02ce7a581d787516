// Provider `loop`: endpoints of one process, for tests. Pieces take their time by the endpoint's clock and fail as a script says.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "fault.h"
#include "provider.h"

namespace garnet::bulk {

namespace {

constexpr Limits kLimits{64 * 1024, 16};
constexpr size_t kFaultsMax = 1024;
constexpr std::string_view kPrefix = "loop:";

// All loop endpoints of the process and what they expose. Bytes are copied under the lock: what is not in it any more is not touched.
struct Hub {
  struct Exposed {
    const Region* region;
    uint64_t owner;
  };
  std::mutex mutex;
  std::map<uint64_t, Exposed> regions;  // by key
  std::map<uint64_t, bool> endpoints;
  uint64_t last = 0;
};

// Never destroyed: a thread of an endpoint that nobody closed may outlive the process's end.
Hub& hub() {
  static auto* const the = new Hub;
  return *the;
}

struct LoopPeer : PeerPart {
  uint64_t id = 0;
};

class Loop final : public Provider {
 public:
  explicit Loop(const Clock& clock) : clock_(clock) {
    const std::lock_guard guard(hub().mutex);
    id_ = ++hub().last;
    hub().endpoints[id_] = true;
    waiting_.reserve(kLimits.pieces);
  }

  ~Loop() override { leave(); }

  Limits limits() const override { return kLimits; }
  std::string address() const override { return std::string(kPrefix) + std::to_string(id_); }

  bk_status connect(std::string_view address, uint64_t, std::unique_ptr<PeerPart>& peer) override {
    auto made = std::make_unique<LoopPeer>();
    if (!address.starts_with(kPrefix)) return fail(BK_E_INVAL, "not the address of a loop endpoint");
    const auto [end, error] = std::from_chars(address.data() + kPrefix.size(), address.data() + address.size(), made->id);
    if (error != std::errc() || end != address.data() + address.size()) return fail(BK_E_INVAL, "not the address of a loop endpoint");
    const std::lock_guard guard(hub().mutex);
    if (!hub().endpoints.contains(made->id)) return fail(BK_E_PEER, "no such loop endpoint");
    peer = std::move(made);
    return BK_OK;
  }

  bk_status expose(Region& region) override {
    if (region.access == 0) return BK_OK;
    region.key = random_key();
    const std::lock_guard guard(hub().mutex);
    if (region.key == 0 || hub().regions.contains(region.key)) return fail(BK_E_IO, "no key to be had");
    hub().regions[region.key] = {&region, id_};
    return BK_OK;
  }

  void withdraw(Region& region) override {
    const std::lock_guard guard(hub().mutex);
    hub().regions.erase(region.key);
  }

  bool is_withdrawn(Region&) override { return true; }

  Posted post(const Piece& piece, Done&) override {
    Waiting waiting{piece, piece.bytes, clock_.now(), BK_OK, false};
    if (!faults_.empty() && faults_.front().skip-- == 0) {
      if (!apply(waiting)) return Posted::Full;
      faults_.pop_front();
    }
    waiting_.push_back(waiting);
    return Posted::Out;
  }

  void poll(std::vector<Done>& done) override {
    const uint64_t now = clock_.now();
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (waiting.due > now || waiting.hangs) return false;
      done.push_back(carry(waiting));
      return true;
    });
  }

  void abort() override {
    leave();
    for (Waiting& waiting : waiting_)
      if (waiting.hangs) waiting.due = after(clock_.now(), waiting.due);
    for (Waiting& waiting : waiting_) waiting.hangs = false;
  }

  Rest rest(std::vector<pollfd>&) override { return Rest::Wait; }

  uint64_t due() const override {
    uint64_t first = kNever;
    for (const Waiting& waiting : waiting_)
      if (!waiting.hangs) first = std::min(first, waiting.due);
    return first;
  }

  std::string text_of(int32_t error) const override { return error == 0 ? "" : strerror(error); }

  bk_status script(const bk_loop_fault& fault) override {
    if (fault.kind < BK_LOOP_DELAY || fault.kind > BK_LOOP_FULL || fault.status > 0) return fail(BK_E_INVAL, "no such fault");
    if (faults_.size() >= kFaultsMax) return fail(BK_E_BUSY, "too many faults");
    faults_.push_back(fault);
    return BK_OK;
  }

 private:
  struct Waiting {
    Piece piece;
    uint64_t bytes;  // that will be moved
    uint64_t due;    // of one that hangs: how long after it was stopped
    bk_status status;
    bool hangs;
  };

  // False: the piece is not taken now.
  bool apply(Waiting& waiting) {
    bk_loop_fault& fault = faults_.front();
    if (fault.kind == BK_LOOP_FULL) {
      fault.skip = 0;
      if (full_until_ == 0) full_until_ = after(clock_.now(), fault.later_ns);
      if (clock_.now() < full_until_) return false;
      full_until_ = 0;
      return true;
    }
    waiting.status = fault.status;
    if (fault.kind == BK_LOOP_FAIL) waiting.bytes = 0;
    if (fault.kind == BK_LOOP_TORN) waiting.bytes = std::min(waiting.bytes, fault.bytes);
    waiting.hangs = fault.kind == BK_LOOP_HANG;
    waiting.due = waiting.hangs ? fault.later_ns : after(waiting.due, fault.later_ns);
    return true;
  }

  Done carry(const Waiting& waiting) {
    const Piece& piece = waiting.piece;
    Done done{piece.slot, waiting.status, 0, 0};
    const std::lock_guard guard(hub().mutex);
    const uint64_t owner = static_cast<const LoopPeer*>(piece.peer)->id;
    const auto found = hub().regions.find(piece.remote->key);
    const uint32_t right = piece.writes ? BK_REMOTE_WRITE : BK_REMOTE_READ;
    if (!hub().endpoints.contains(owner)) done.status = BK_E_PEER;
    else if (found == hub().regions.end() || found->second.owner != owner || !(found->second.region->access & right)) done.status = BK_E_KEY;
    else if (!lies_in(piece.offset, piece.bytes, found->second.region->bytes)) done.status = BK_E_KEY;
    else done.bytes = waiting.bytes;
    if (done.bytes == 0) return done;
    char* there = found->second.region->base + piece.offset;
    memcpy(piece.writes ? there : piece.local, piece.writes ? piece.local : there, done.bytes);
    return done;
  }

  void leave() {
    const std::lock_guard guard(hub().mutex);
    hub().endpoints.erase(id_);
    std::erase_if(hub().regions, [this](const auto& entry) { return entry.second.owner == id_; });
  }

  const Clock& clock_;
  uint64_t id_ = 0;
  uint64_t full_until_ = 0;
  std::vector<Waiting> waiting_;
  std::deque<bk_loop_fault> faults_;
};

}  // namespace

bk_status judge_loop(const char*, std::string&) { return BK_OK; }

bk_status make_loop(const char*, const Opening& opening, std::unique_ptr<Provider>& made) {
  made = std::make_unique<Loop>(opening.clock);
  return BK_OK;
}

}  // namespace garnet::bulk
