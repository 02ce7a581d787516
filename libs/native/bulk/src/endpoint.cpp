#include "endpoint.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "fault.h"
#include "segment.h"

namespace garnet::bulk {

namespace {
constexpr uint64_t kTimeout = 30 * kSecond;
constexpr uint32_t kRingEntries = 256;
// Where no descriptor tells of work, the thread looks for it: without a pause for as long as there has been some lately.
constexpr uint64_t kSpin = 50'000, kSoon = 1'000'000;
constexpr uint64_t kAskAgain = 200'000;

// A limit that no clock can hold is none.
template <typename Holds>
bool wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, uint64_t limit_ns, Holds holds) {
  if (limit_ns <= kSecond << 30) return changed.wait_for(lock, std::chrono::nanoseconds(limit_ns), holds);
  changed.wait(lock, holds);
  return true;
}
}  // namespace

Endpoint::Endpoint(const bk_endpoint_config& config)
    : flags_(config.flags), bind_(config.bind ? config.bind : "", config.bind ? config.bind_bytes : 0), timeout_ns_(config.timeout_ns ? config.timeout_ns : kTimeout),
      capacity_(config.ring_entries ? config.ring_entries : kRingEntries), clock_((config.flags & BK_VIRTUAL_CLOCK) != 0),
      transfers_(capacity_) {
  free_transfers_.reserve(capacity_);
  for (uint32_t index = capacity_; index-- > 0;) free_transfers_.push_back(index);
  submitted_.reserve(capacity_);
  incoming_.reserve(capacity_);
  active_.reserve(capacity_);
}

Endpoint::~Endpoint() {
  if (thread_.joinable()) {
    close(kNever);
    thread_.join();
  }
  if (wake_ >= 0) ::close(wake_);
}

bk_status Endpoint::open(const ProviderKind& kind) {
  if (const bk_status opened = ring_.open(capacity_); opened != BK_OK) return opened;
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return fail_by_errno(BK_E_IO, "eventfd", errno);
  if (const bk_status made = kind.make(kind.name, {(flags_ & BK_EXPOSES) != 0, bind_, clock_}, provider_); made != BK_OK) return made;
  limits_ = provider_->limits();
  windows_ = std::make_unique<Windows>(limits_.pieces);
  piece_owner_.resize(limits_.pieces);
  gathered_.reserve(limits_.pieces);
  for (uint32_t piece = limits_.pieces; piece-- > 0;) free_pieces_.push_back(piece);
  thread_ = std::thread([this] { run(); });
  return BK_OK;
}

void Endpoint::figures(bk_figures& out) {
  const std::lock_guard guard(mutex_);
  out.state = state_;
  out.transfers_open = capacity_ - free_transfers_.size();
  out.regions_open = regions_.count();
  out.peers_open = peers_.count();
  out.transfers_done = done_;
  out.transfers_failed = failed_;
  out.bytes_read = read_;
  out.bytes_written = written_;
  out.bytes_staged = staged_;
}

bool Endpoint::is_closed() {
  const std::lock_guard guard(mutex_);
  return state_ == Closed;
}

bk_status Endpoint::close(uint64_t limit_ns) {
  std::unique_lock lock(mutex_);
  if (state_ != Closed) state_ = Closing;
  wake();
  const bool closed = wait_for(changed_, lock, limit_ns, [this] { return state_ == Closed; });
  return closed ? BK_OK : fail(BK_E_BUSY, "memory of transfers is not at rest yet");
}

bk_status Endpoint::judge_state() const {
  if (state_ == Open) return BK_OK;
  return state_ == Poisoned ? fail(BK_E_POISONED, "a transfer of this endpoint did not end in time") : fail(BK_E_CLOSED, "the endpoint is closed");
}

// Under the lock.
std::shared_ptr<Endpoint::Order> Endpoint::put(std::function<bk_status()> what) {
  auto order = std::make_shared<Order>();
  order->what = std::move(what);
  orders_.push_back(order);
  wake();
  return order;
}

// Runs something on the endpoint's thread and waits for it. What has not begun in time is taken back: something else has the thread (E5). What
// has begun is waited for, as it may use what is its asker's.
bk_status Endpoint::order(std::function<bk_status()> what, uint64_t limit_ns) {
  std::unique_lock lock(mutex_);
  if (state_ == Closed) return fail(BK_E_CLOSED, "the endpoint is closed");
  const auto order = put(std::move(what));
  if (!wait_for(changed_, lock, limit_ns, [&order] { return order->stage == Order::Done; })) {
    if (std::erase(orders_, order) != 0) return fail(BK_E_BUSY, "the endpoint's thread is held up");
    changed_.wait(lock, [&order] { return order->stage == Order::Done; });
  }
  return order->status == BK_OK ? BK_OK : fail(order->status, order->text);
}

// What answers BK_E_BUSY is asked again.
bk_status Endpoint::order_until(std::function<bk_status()> what, uint64_t limit_ns) {
  const uint64_t until = after(machine_time(), limit_ns);
  for (;;) {
    const uint64_t now = machine_time();
    const bk_status status = order(what, std::max(until > now ? until - now : 0, kAskAgain));
    if (status != BK_E_BUSY || machine_time() >= until) return status;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kAskAgain));
  }
}

// Under the lock.
void Endpoint::wake() {
  if (!sleeping_) return;
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake_, &one, sizeof one);
}

bk_status Endpoint::add_peer(std::string_view address, uint64_t limit_ns, bk_peer* out) {
  // The order's too: it may still run when nobody waits for it any more.
  struct Meeting {
    std::unique_ptr<Peer> peer = std::make_unique<Peer>();
    bk_peer handle = 0;
  };
  const uint64_t until = after(machine_time(), limit_ns);
  const auto meeting = std::make_shared<Meeting>();
  if (const bk_status connected = provider_->connect(address, limit_ns, meeting->peer->part); connected != BK_OK) return connected;
  std::unique_lock lock(mutex_);
  if (state_ == Closed) return fail(BK_E_CLOSED, "the endpoint is closed");
  const auto order = put([this, meeting] {
    if (const bk_status proved = provider_->prove(*meeting->peer->part); proved != BK_OK) return proved;
    const std::lock_guard guard(mutex_);
    bk_status taken = judge_state();
    if (taken == BK_OK) taken = provider_->adopt(*meeting->peer->part);
    if (taken == BK_OK) meeting->handle = peers_.add(std::move(meeting->peer));
    return taken;
  });
  const uint64_t now = machine_time(), left = limit_ns == kNever ? kNever : std::max(until > now ? until - now : 0, kAskAgain);
  if (!wait_for(changed_, lock, left, [&order] { return order->stage == Order::Done; })) {
    if (state_ == Open) state_ = Poisoned;  // E5
    return fail(BK_E_TIMEOUT, "the other process does not show its memory");
  }
  if (order->status != BK_OK) return fail(order->status, order->text);
  *out = meeting->handle;
  return BK_OK;
}

bk_status Endpoint::drop_peer(bk_peer handle, uint64_t limit_ns) {
  return order_until([this, handle] {
    const std::lock_guard guard(mutex_);
    const auto* peer = peers_.find(handle);
    if (!peer) return static_cast<bk_status>(BK_E_HANDLE);
    (*peer)->dropping = true;
    for (auto& transfer : transfers_)
      if (transfer.live && transfer.peer == peer->get()) transfer.is_cancelled.store(true, std::memory_order_relaxed);
    if ((*peer)->users != 0) return static_cast<bk_status>(BK_E_BUSY);
    provider_->forget(*(*peer)->part);
    peers_.take(handle);
    return static_cast<bk_status>(BK_OK);
  }, limit_ns);
}

bk_status Endpoint::open_region(const bk_region_config& config, bk_region* out, bk_region_name* name) {
  if (config.access & ~(BK_REMOTE_READ | BK_REMOTE_WRITE)) return fail(BK_E_INVAL, "no such right");
  if (config.bytes == 0 || !config.base || config.bytes > UINT64_MAX - reinterpret_cast<uintptr_t>(config.base)) return fail(BK_E_INVAL, "no such memory");
  if (config.access != 0 && !(flags_ & BK_EXPOSES)) return fail(BK_E_DENIED, "this endpoint exposes nothing");  // E4
  auto region = std::make_unique<Region>();
  region->base = static_cast<char*>(config.base);
  region->bytes = config.bytes;
  region->access = config.access;
  region->named_base = reinterpret_cast<uintptr_t>(config.base);
  if (config.device_bytes != 0) {
    if (config.access != 0) return fail(BK_E_UNSUPPORTED, "memory of a device can be reached from here only");
    const bk_status opened = open_device_memory({config.device, config.device_bytes}, config.base, config.bytes, region->device);
    if (opened != BK_OK) return opened;
  } else region->segment = segment_of(region->base, region->bytes);
  return order([&] {
    const std::lock_guard guard(mutex_);
    bk_status taken = judge_state();
    if (taken == BK_OK && !region->device) taken = provider_->expose(*region);
    if (taken == BK_OK) {
      *name = {region->named_base, region->bytes, region->access ? region->key : 0};
      *out = regions_.add(std::move(region));
    }
    return taken;
  });
}

bk_status Endpoint::close_region(bk_region handle, uint64_t limit_ns) {
  return order_until([this, handle] {
    const std::lock_guard guard(mutex_);
    const auto* region = regions_.find(handle);
    if (!region) return static_cast<bk_status>(BK_E_HANDLE);
    if (!(*region)->closing) provider_->withdraw(**region);
    (*region)->closing = true;
    if ((*region)->users != 0 || !provider_->is_withdrawn(**region)) return static_cast<bk_status>(BK_E_BUSY);
    regions_.take(handle);
    return static_cast<bk_status>(BK_OK);
  }, limit_ns);
}

// Of what both lists say; handles are looked up under the lock.
bk_status Endpoint::judge(const bk_transfer& transfer, uint64_t& bytes) const {
  if (transfer.local_count > BK_VECTOR_MAX || transfer.remote_count > BK_VECTOR_MAX) return fail(BK_E_INVAL, "too many parts");
  if ((transfer.local_count && !transfer.local) || (transfer.remote_count && !transfer.remote)) return fail(BK_E_INVAL, "no list");
  uint64_t here = 0, there = 0;
  for (uint32_t at = 0; at < transfer.local_count; ++at) {
    const bk_local& part = transfer.local[at];
    if (part.bytes && (!part.at || part.bytes > UINT64_MAX - reinterpret_cast<uintptr_t>(part.at))) return fail(BK_E_INVAL, "no such memory");
    if (__builtin_add_overflow(here, part.bytes, &here)) return fail(BK_E_INVAL, "too many bytes");
  }
  for (uint32_t at = 0; at < transfer.remote_count; ++at) {
    const bk_remote& part = transfer.remote[at];
    if (!lies_in(part.offset, part.bytes, part.region.bytes)) return fail(BK_E_RANGE, "not inside the other side's region");
    if (__builtin_add_overflow(there, part.bytes, &there)) return fail(BK_E_INVAL, "too many bytes");
  }
  if (here != there) return fail(BK_E_INVAL, "the two lists name different lengths");
  bytes = here;
  return BK_OK;
}

bk_status Endpoint::submit(const bk_transfer& asked, bool writes, bk_op* out) {
  uint64_t bytes = 0;
  if (const bk_status judged = judge(asked, bytes); judged != BK_OK) return judged;
  const std::lock_guard guard(mutex_);
  if (const bk_status judged = judge_state(); judged != BK_OK) return judged;
  const auto* peer = peers_.find(asked.peer);
  if (!peer || (*peer)->dropping) return fail(BK_E_HANDLE, "no such peer");
  Region* own[BK_VECTOR_MAX];
  for (uint32_t at = 0; at < asked.local_count; ++at) {
    const bk_local& part = asked.local[at];
    const auto* region = part.region ? regions_.find(part.region) : nullptr;
    if (part.region && (!region || (*region)->closing)) return fail(BK_E_HANDLE, "no such region");
    own[at] = region ? region->get() : nullptr;
    // All of it, not only where it begins.
    if (region && !lies_in(reinterpret_cast<uintptr_t>(part.at) - reinterpret_cast<uintptr_t>(own[at]->base), part.bytes, own[at]->bytes))
      return fail(BK_E_RANGE, "not inside the own region");
  }
  if (free_transfers_.empty() || taken_ - ring_.taken() >= capacity_) return fail(BK_E_AGAIN, "take completions from the ring first");  // E3

  const uint32_t index = free_transfers_.back();
  free_transfers_.pop_back();
  ++taken_;
  Transfer& transfer = transfers_[index];
  transfer.rewind();
  if (++transfer.generation == 0) ++transfer.generation;
  transfer.live = true;
  transfer.writes = writes;
  transfer.local.assign(asked.local, asked.local + asked.local_count);
  transfer.remote.assign(asked.remote, asked.remote + asked.remote_count);
  transfer.own.assign(own, own + asked.local_count);
  for (Region* region : transfer.own)
    if (region) ++region->users;
  transfer.peer = peer->get();
  ++transfer.peer->users;
  transfer.user = asked.user;
  transfer.bytes = bytes;
  transfer.began = clock_.now();
  transfer.deadline = after(transfer.began, asked.timeout_ns ? asked.timeout_ns : timeout_ns_);
  if (out) *out = handle_of(index, transfer.generation);
  submitted_.push_back(index);
  wake();
  return BK_OK;
}

bk_status Endpoint::cancel(bk_op op) {
  const std::lock_guard guard(mutex_);
  const uint32_t index = index_of(op);
  if (index >= capacity_ || !transfers_[index].live || transfers_[index].generation != generation_of(op))
    return fail(BK_E_HANDLE, "no such operation");
  transfers_[index].is_cancelled.store(true, std::memory_order_relaxed);
  wake();
  return BK_OK;
}

bk_status Endpoint::script(const bk_loop_fault& fault) {
  return order([this, &fault] { return provider_->script(fault); });
}

bk_status Endpoint::advance(uint64_t ns) {
  if (!clock_.is_virtual()) return fail(BK_E_UNSUPPORTED, "this endpoint goes by the machine's clock");
  settle();
  const bk_status status = order([this, ns] {
    clock_.advance(ns);
    was_idle_ = false;
    return static_cast<bk_status>(BK_OK);
  });
  settle();
  return status;
}

// Until a round has done nothing, or there are no more.
void Endpoint::settle() {
  bool is_idle = false;
  const auto look = [this, &is_idle] { is_idle = was_idle_; return static_cast<bk_status>(BK_OK); };
  while (!is_idle && order(look) == BK_OK) {
  }
}

void Endpoint::run() {
  for (;;) {
    const bool ordered = take_orders();
    const bool heeded = heed();
    const bool posted = post();
    const bool gathered = gather();
    const bool delivered = deliver();
    if (is_ending_ && try_end()) return;
    was_idle_ = !(heeded || posted || gathered || delivered);
    if (was_idle_ && !ordered) rest();
  }
}

bool Endpoint::take_orders() {
  size_t orders = 0;
  {
    const std::lock_guard guard(mutex_);
    sleeping_ = false;
    incoming_.swap(submitted_);
    orders = orders_.size();
    is_ending_ = state_ == Closing;
    is_poisoned_ = state_ == Poisoned;
  }
  const bool any = !incoming_.empty() || orders != 0;
  active_.insert(active_.end(), incoming_.begin(), incoming_.end());
  if (!incoming_.empty()) was_idle_ = false;
  incoming_.clear();
  while (orders-- > 0 && take_order()) {
  }
  return any;
}

// The oldest; false if there is none.
bool Endpoint::take_order() {
  std::shared_ptr<Order> order;
  {
    const std::lock_guard guard(mutex_);
    if (orders_.empty()) return false;
    order = std::move(orders_.front());
    orders_.erase(orders_.begin());
    order->stage = Order::Runs;
  }
  last_error().clear();
  const bk_status status = order->what();
  const std::lock_guard guard(mutex_);
  order->status = status;
  order->text = last_error();
  order->stage = Order::Done;
  changed_.notify_all();
  return true;
}

bool Endpoint::heed() {
  if ((is_ending_ || is_poisoned_) && !is_stopped_) stop_provider();
  const bk_status stopped = is_ending_ ? BK_E_CANCELED : BK_E_POISONED;
  const uint64_t now = clock_.now();
  bool any = false, late = false;
  for (const uint32_t index : active_) {
    Transfer& transfer = transfers_[index];
    const bool is_late = now >= transfer.deadline;
    if (transfer.verdict == BK_OK && !transfer.is_over()) {
      if (is_stopped_) transfer.verdict = stopped;
      else if (transfer.is_cancelled.load(std::memory_order_relaxed)) transfer.verdict = BK_E_CANCELED;
      else if (is_late) transfer.verdict = BK_E_TIMEOUT;
      any |= transfer.verdict != BK_OK;
    }
    late |= is_late && transfer.out != 0;
  }
  if (!late || is_stopped_) return any;
  poison();
  return true;
}

// E2
void Endpoint::poison() {
  {
    const std::lock_guard guard(mutex_);
    if (state_ == Open) state_ = Poisoned;
  }
  stop_provider();
}

void Endpoint::stop_provider() {
  is_stopped_ = true;
  provider_->abort();
}

// One piece of each transfer, so that a large one does not hold up the others.
bool Endpoint::post() {
  is_full_ = false;
  if (is_stopped_) return false;
  bool any = false;
  for (const uint32_t index : active_) {
    Transfer& transfer = transfers_[index];
    if (transfer.verdict != BK_OK || !transfer.has_more()) continue;
    if (free_pieces_.empty()) return any;
    const bool staged = is_staged(transfer.next_own());
    Piece piece = transfer.next(staged ? std::min(kWindowBytes, limits_.piece_bytes) : limits_.piece_bytes);
    piece.slot = free_pieces_.back();
    Done done{piece.slot};
    if (staged) done.status = windows_->enter(*provider_, piece);
    const Posted posted = done.status == BK_OK ? provider_->post(piece, done) : Posted::Over;
    if (posted == Posted::Full) {
      Done none{piece.slot};
      windows_->leave(none, false);
      is_full_ = true;
      return any;
    }
    any = true;
    transfer.advance(piece.bytes);
    if (staged) staged_ += piece.bytes;
    if (posted == Posted::Over) {
      finish(transfer, done);
      continue;
    }
    free_pieces_.pop_back();
    piece_owner_[piece.slot] = index;
    ++transfer.out;
  }
  return any;
}

bool Endpoint::gather() {
  gathered_.clear();
  provider_->poll(gathered_);
  for (Done& done : gathered_) {
    Transfer& transfer = transfers_[piece_owner_[done.slot]];
    free_pieces_.push_back(done.slot);
    --transfer.out;
    finish(transfer, done);
  }
  return !gathered_.empty();
}

void Endpoint::finish(Transfer& transfer, Done& done) {
  windows_->leave(done, transfer.verdict == BK_OK);
  transfer.moved += done.bytes;
  if (done.status == BK_OK || transfer.verdict != BK_OK) return;
  transfer.verdict = done.status;
  transfer.error = done.error;
}

// E1
bool Endpoint::deliver() {
  bool any = false;
  const std::lock_guard guard(mutex_);
  std::erase_if(active_, [&](uint32_t index) {
    Transfer& transfer = transfers_[index];
    if (!transfer.is_over()) return false;
    bk_completion completion{};
    completion.user = transfer.user;
    completion.op = handle_of(index, transfer.generation);
    completion.status = transfer.verdict;
    completion.provider_error = transfer.error;
    completion.bytes = transfer.moved;
    completion.elapsed_ns = clock_.now() - transfer.began;
    ++(transfer.verdict == BK_OK ? done_ : failed_);
    (transfer.writes ? written_ : read_) += transfer.moved;
    for (Region* region : transfer.own)
      if (region) --region->users;
    --transfer.peer->users;
    transfer.live = false;
    free_transfers_.push_back(index);
    ring_.push(completion);
    any = true;
    return true;
  });
  return any;
}

// Closed is whoever has no transfer and no region any more.
bool Endpoint::try_end() {
  std::unique_lock lock(mutex_);
  if (!active_.empty() || !submitted_.empty()) return false;
  bool is_at_rest = true;
  regions_.each([&](Region& region) {
    if (!region.closing) provider_->withdraw(region);
    region.closing = true;
    is_at_rest &= provider_->is_withdrawn(region);
  });
  windows_->close(*provider_);
  if (!is_at_rest || !windows_->is_closed(*provider_)) return false;
  state_ = Closed;
  for (const auto& order : orders_) order->stage = Order::Done;
  orders_.clear();
  changed_.notify_all();
  ring_.end();
  return true;
}

void Endpoint::rest() {
  wakes_.clear();
  wakes_.push_back({wake_, POLLIN, 0});
  const Rest wanted = provider_->rest(wakes_);
  const uint64_t now = clock_.now();
  if (wanted == Rest::Not) return;
  if (wanted == Rest::Soon && !active_.empty()) busy_at_ = now;
  uint64_t limit = kNever;
  if (!clock_.is_virtual()) {
    uint64_t until = provider_->due();
    if (is_stopped_ && !active_.empty()) until = std::min(until, after(now, kSoon));
    if (!is_stopped_)
      for (const uint32_t index : active_) until = std::min(until, transfers_[index].deadline);
    limit = until == kNever ? kNever : until > now ? until - now : 0;
  }
  if (is_full_ || is_ending_) limit = std::min(limit, kAskAgain);
  if (wanted == Rest::Soon) limit = now - busy_at_ < kSpin ? 0 : std::min(limit, active_.empty() && regions_.count() == 0 ? kSoon : kAskAgain);
  {
    const std::lock_guard guard(mutex_);
    if (!submitted_.empty() || !orders_.empty() || (state_ == Closing) != is_ending_) return;
    sleeping_ = true;
  }
  const timespec wait{static_cast<time_t>(std::min(limit / kSecond, uint64_t{3600})), static_cast<long>(limit % kSecond)};
  if (ppoll(wakes_.data(), wakes_.size(), &wait, nullptr) > 0 && (wakes_[0].revents & POLLIN)) {
    uint64_t count;
    [[maybe_unused]] ssize_t got = read(wake_, &count, sizeof count);
  }
}

}  // namespace garnet::bulk
