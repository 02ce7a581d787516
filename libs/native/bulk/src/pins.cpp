#include "pins.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "clock.h"
#include "fault.h"

namespace garnet::bulk {

namespace {

constexpr uint64_t kChunk = 64 << 20;  // a driver takes a second for each GiB: so a drop never waits long for the one that is being pinned
constexpr uint64_t kRetry = 60 * kSecond;

uint64_t page() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

bool may_lock_all() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & (1u << CAP_IPC_LOCK));
}

uint64_t usual_budget() {
  rlimit locked{};
  const uint64_t quarter = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page() / 4;
  if (getrlimit(RLIMIT_MEMLOCK, &locked) != 0 || may_lock_all()) return quarter;
  return std::min<uint64_t>(quarter, locked.rlim_cur);
}

}  // namespace

// Never destroyed: its thread may outlive the process's end.
Pins& Pins::get() {
  static auto* const the = new Pins;
  return *the;
}

bk_status Pins::configure(const bk_pin_config& config) {
  if (config.mode > BK_PIN_FORCED) return fail(BK_E_INVAL, "no such mode");
  if (config.mode == BK_PIN_FORCED && !Driver::open()) return BK_E_UNSUPPORTED;
  const std::lock_guard guard(mutex_);
  mode_ = config.mode;
  budget_ = config.budget_bytes;
  retry_ns_ = config.retry_ns;
  for (auto& [base, chunk] : chunks_)
    if (chunk.state == State::Skipped) chunk.state = State::Waiting;
  retry_at_ = 0;
  changed_.notify_all();
  return BK_OK;
}

template <typename Look>
void Pins::each_of(const Range& range, Look look) {
  for (auto at = chunks_.lower_bound(range.base); at != chunks_.end() && at->first < range.base + range.bytes;) {
    const auto now = at++;
    look(now);
  }
}

bk_status Pins::add(void* at, uint64_t bytes, bk_pin* pin) {
  *pin = 0;
  if (bytes == 0) return BK_OK;
  const auto base = reinterpret_cast<uintptr_t>(at);
  if (base == 0 || base % page() != 0 || bytes % page() != 0 || bytes > UINT64_MAX - base) return fail(BK_E_INVAL, "not whole pages");
  const std::lock_guard guard(mutex_);
  const auto behind = chunks_.lower_bound(base);
  const bool meets_next = behind != chunks_.end() && behind->first < base + bytes;
  const bool meets_last = behind != chunks_.begin() && std::prev(behind)->first + std::prev(behind)->second.bytes > base;
  if (meets_next || meets_last) return fail(BK_E_INVAL, "some of it is pinned already");
  *pin = ranges_.add(std::make_unique<Range>(Range{base, bytes}));
  for (uint64_t done = 0; done < bytes; done += kChunk) chunks_[base + done].bytes = std::min(kChunk, bytes - done);
  if (!has_thread_) std::thread([this] { run(); }).detach();
  has_thread_ = true;
  changed_.notify_all();
  return BK_OK;
}

bk_status Pins::wait(bk_pin pin, uint64_t limit_ns) {
  const auto is_tried = [this, pin] {
    const auto* range = ranges_.find(pin);
    bool all = true;
    if (range) each_of(**range, [&all](Chunks::iterator chunk) { all &= chunk->second.was_tried && chunk->second.state != State::Trying; });
    return all;
  };
  std::unique_lock lock(mutex_);
  if (!ranges_.find(pin)) return fail(BK_E_HANDLE, "no such pin");
  const auto limit = std::chrono::nanoseconds(std::min(limit_ns, kSecond << 30));
  return changed_.wait_for(lock, limit, is_tried) ? static_cast<bk_status>(BK_OK) : fail(BK_E_BUSY, "not all of it has been tried");
}

bk_status Pins::drop(bk_pin pin) {
  if (pin == 0) return BK_OK;
  std::unique_lock lock(mutex_);
  const std::unique_ptr<Range> range = ranges_.take(pin);
  if (!range) return fail(BK_E_HANDLE, "no such pin");
  bool is_free = true;
  // One by one, as the driver is not asked under the lock.
  for (;;) {
    auto found = chunks_.end();
    each_of(*range, [&](Chunks::iterator chunk) {
      if (chunk->second.state != State::Leaked) found = chunk;
    });
    if (found == chunks_.end()) break;
    Chunk& chunk = found->second;
    if (chunk.state == State::Trying) {
      changed_.wait(lock);
      continue;
    }
    if (chunk.state == State::Pinned) {
      chunk.state = State::Trying;
      lock.unlock();
      const bool is_gone = chunk.device->unpin(reinterpret_cast<void*>(found->first));
      lock.lock();
      pinned_ -= chunk.bytes;
      if (!is_gone) {
        chunk.state = State::Leaked;  // N3
        leaked_ += chunk.bytes;
        is_free = false;
        continue;
      }
    }
    std::shared_ptr<Device> last = std::move(chunk.device);
    chunks_.erase(found);
    lock.unlock();
    last.reset();  // a device goes outside the lock
    lock.lock();
  }
  for (auto& [base, chunk] : chunks_)
    if (chunk.state == State::Skipped) chunk.state = State::Waiting;
  changed_.notify_all();
  return is_free ? static_cast<bk_status>(BK_OK) : fail(BK_E_DEVICE, "the driver does not let go of it: its memory must never be given back");
}

void Pins::figures(bk_pins& out) {
  const std::lock_guard guard(mutex_);
  out.mode = mode_;
  out.budget_bytes = budget_ ? budget_ : usual_budget();
  out.failures = failures_;
  out.leaked_bytes = leaked_;
  for (const auto& [base, chunk] : chunks_) {
    if (chunk.state == State::Pinned) out.pinned_bytes += chunk.bytes;
    if (chunk.state == State::Skipped) out.skipped_bytes += chunk.bytes;
    if (chunk.state == State::Waiting || chunk.state == State::Refused || chunk.state == State::Trying) out.waiting_bytes += chunk.bytes;
  }
}

bool Pins::covers(const void* at, uint64_t bytes) {
  auto begin = reinterpret_cast<uintptr_t>(at);
  const uintptr_t end = begin + bytes;
  const std::lock_guard guard(mutex_);
  auto chunk = chunks_.upper_bound(begin);
  if (chunk == chunks_.begin()) return false;
  for (--chunk; begin < end; ++chunk) {
    if (chunk == chunks_.end() || chunk->second.state != State::Pinned || chunk->first > begin || chunk->first + chunk->second.bytes <= begin) return false;
    begin = chunk->first + chunk->second.bytes;
  }
  return true;
}

bool Pins::allows() {
  const std::lock_guard guard(mutex_);
  return mode_ != BK_PIN_OFF;
}

void Pins::heed_device() {
  const std::lock_guard guard(mutex_);
  changed_.notify_all();
}

void Pins::count_leaked(uint64_t bytes) {
  leaked_ += bytes;
}

// N1
std::shared_ptr<Device> Pins::device() {
  std::shared_ptr<Device> found = Device::any();
  if (!found && mode_ == BK_PIN_FORCED) Device::open(0, found);
  return found;
}

Pins::Chunks::iterator Pins::next(uint64_t now) {
  if (mode_ == BK_PIN_OFF) return chunks_.end();
  const bool tries_again = now >= retry_at_;
  return std::ranges::find_if(chunks_, [tries_again](const auto& entry) {
    return entry.second.state == State::Waiting || (entry.second.state == State::Refused && tries_again);
  });
}

void Pins::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = next(machine_time());
    const std::shared_ptr<Device> with = found == chunks_.end() ? nullptr : device();
    if (!with) {
      const bool has_refused = std::ranges::any_of(chunks_, [](const auto& entry) { return entry.second.state == State::Refused; });
      if (has_refused && mode_ != BK_PIN_OFF && found == chunks_.end()) {
        const uint64_t now = machine_time();
        changed_.wait_for(lock, std::chrono::nanoseconds(retry_at_ > now ? std::min(retry_at_ - now, kSecond << 30) : 1));
      } else changed_.wait(lock);
      continue;
    }
    Chunk& chunk = found->second;
    if (chunk.bytes > (budget_ ? budget_ : usual_budget()) - std::min(pinned_, budget_ ? budget_ : usual_budget())) {
      chunk.state = State::Skipped;  // N2
      chunk.was_tried = true;
      changed_.notify_all();
      continue;
    }
    chunk.state = State::Trying;
    pinned_ += chunk.bytes;
    lock.unlock();
    const bk_status pinned = with->pin(reinterpret_cast<void*>(found->first), chunk.bytes);
    lock.lock();
    chunk.was_tried = true;
    chunk.state = pinned == BK_OK ? State::Pinned : State::Refused;
    if (pinned == BK_OK) chunk.device = with;
    else {
      pinned_ -= chunk.bytes;
      ++failures_;
      retry_at_ = after(machine_time(), retry_ns_ ? retry_ns_ : kRetry);
    }
    changed_.notify_all();
  }
}

}  // namespace garnet::bulk
