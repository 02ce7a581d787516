#include "ring.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "clock.h"
#include "fault.h"

namespace garnet::bulk {

static_assert(sizeof(bk_completion) == 64 && sizeof(bk_ring_header) == 192, "managed code reads these where they lie");

bk_status Ring::open(uint32_t capacity) {
  capacity_ = capacity;
  bytes_ = sizeof(bk_ring_header) + uint64_t{capacity} * sizeof(bk_completion);
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) return fail_by_errno(BK_E_NOMEM, "the ring of completions", errno);
  header_ = static_cast<bk_ring_header*>(mapped);
  header_->capacity = capacity;
  entries_ = reinterpret_cast<bk_completion*>(header_ + 1);
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return event_ < 0 ? fail_by_errno(BK_E_IO, "eventfd", errno) : BK_OK;
}

Ring::~Ring() {
  if (event_ >= 0) close(event_);
  if (header_) munmap(header_, bytes_);
}

void Ring::describe(bk_ring& ring) const {
  ring.event = event_;
  ring.header = header_;
  ring.entries = entries_;
}

void Ring::push(const bk_completion& completion) {
  const uint64_t at = head().load(std::memory_order_relaxed);
  entries_[at & (capacity_ - 1)] = completion;
  // Either the reader, who has said that it waits, sees this one, or it is seen here that it waits: both sides order the two.
  head().store(at + 1, std::memory_order_seq_cst);
  if (waiting().load(std::memory_order_seq_cst) != 0) wake();
}

void Ring::end() {
  ended_.store(true, std::memory_order_seq_cst);
  wake();
}

void Ring::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(event_, &one, sizeof one);
}

bk_status Ring::wait(uint64_t limit_ns) {
  const uint64_t until = after(machine_time(), limit_ns);
  for (;;) {
    if (head().load(std::memory_order_acquire) != tail().load(std::memory_order_relaxed)) return BK_OK;
    waiting().store(1, std::memory_order_seq_cst);
    const bool ended = ended_.load(std::memory_order_seq_cst);
    const uint64_t now = machine_time();
    if (head().load(std::memory_order_seq_cst) == tail().load(std::memory_order_relaxed) && !ended && now < until) {
      pollfd event{event_, POLLIN, 0};
      const uint64_t left = until - now;
      const timespec limit{static_cast<time_t>(std::min(left / kSecond, uint64_t{1} << 30)), static_cast<long>(left % kSecond)};
      if (ppoll(&event, 1, &limit, nullptr) > 0) {
        uint64_t count;
        [[maybe_unused]] ssize_t got = read(event_, &count, sizeof count);
      }
    }
    waiting().store(0, std::memory_order_relaxed);
    if (head().load(std::memory_order_acquire) != tail().load(std::memory_order_relaxed)) return BK_OK;
    if (ended) return BK_E_CLOSED;
    if (machine_time() >= until) return BK_E_TIMEOUT;
  }
}

bk_status Ring::take(bk_completion* out, uint32_t capacity, uint64_t limit_ns, uint32_t* taken) {
  *taken = 0;
  const bk_status waited = wait(limit_ns);
  if (waited != BK_OK) return waited;
  uint64_t at = tail().load(std::memory_order_relaxed);
  const uint64_t end = head().load(std::memory_order_acquire);
  for (; at != end && *taken < capacity; ++at) out[(*taken)++] = entries_[at & (capacity_ - 1)];
  tail().store(at, std::memory_order_release);
  return BK_OK;
}

}  // namespace garnet::bulk
