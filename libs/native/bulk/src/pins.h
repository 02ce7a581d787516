// Memory of the host that a driver knows, chunk by chunk, in the background.
//   N1  No device is touched in order to pin, unless that is forced.
//   N2  Nothing is pinned twice, nor more than the budget has room for.
//   N3  What the driver does not let go of stays noted for good: its place is not pinned again, and its memory is not given back.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "device.h"
#include "slots.h"

namespace garnet::bulk {

class Pins {
 public:
  static Pins& get();
  bk_status configure(const bk_pin_config& config);
  bk_status add(void* at, uint64_t bytes, bk_pin* pin);
  bk_status wait(bk_pin pin, uint64_t limit_ns);
  bk_status drop(bk_pin pin);
  void figures(bk_pins& out);
  // All of it lies in one chunk that is pinned, or in several that follow each other.
  bool covers(const void* at, uint64_t bytes);
  bool allows();
  void heed_device();
  void count_leaked(uint64_t bytes);

 private:
  enum class State { Waiting, Trying, Pinned, Refused, Skipped, Leaked };
  struct Chunk {
    uint64_t bytes = 0;
    State state = State::Waiting;
    bool was_tried = false;
    std::shared_ptr<Device> device;
  };
  struct Range {
    uintptr_t base;
    uint64_t bytes;
  };
  using Chunks = std::map<uintptr_t, Chunk>;  // by their place

  void run();
  std::shared_ptr<Device> device();
  Chunks::iterator next(uint64_t now);
  template <typename Look>
  void each_of(const Range& range, Look look);

  std::mutex mutex_;
  std::condition_variable changed_;
  Chunks chunks_;
  Slots<std::unique_ptr<Range>> ranges_;
  uint32_t mode_ = BK_PIN_AUTO;
  uint64_t budget_ = 0, retry_ns_ = 0, retry_at_ = 0;
  uint64_t pinned_ = 0;  // and being so
  uint64_t failures_ = 0;
  std::atomic<uint64_t> leaked_ = 0;
  bool has_thread_ = false;
};

}  // namespace garnet::bulk
