// The time of an endpoint: the machine's, or one that tests move.
#pragma once
#include <atomic>
#include <cstdint>
#include <ctime>

namespace garnet::bulk {

constexpr uint64_t kNever = UINT64_MAX;
constexpr uint64_t kSecond = 1'000'000'000;

inline uint64_t machine_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

// A moment that is too far away to be counted is never.
inline uint64_t after(uint64_t now, uint64_t ns) { return ns > kNever - now ? kNever : now + ns; }

class Clock {
 public:
  explicit Clock(bool is_virtual) : virtual_(is_virtual) {}
  bool is_virtual() const { return virtual_; }
  uint64_t now() const { return virtual_ ? moved_.load(std::memory_order_acquire) : machine_time(); }
  void advance(uint64_t ns) { moved_.store(after(moved_.load(std::memory_order_relaxed), ns), std::memory_order_release); }

 private:
  const bool virtual_;
  std::atomic<uint64_t> moved_{1};
};

}  // namespace garnet::bulk
