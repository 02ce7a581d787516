// The completions of an endpoint: a ring in memory of its own, written by the endpoint's thread and read by whoever takes them, also
// without a call. It never runs full: a transfer is begun only where its completion will have room.
#pragma once
#include <atomic>

#include "garnet_bulk.h"

namespace garnet::bulk {

class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  bk_status open(uint32_t capacity);
  uint32_t capacity() const { return capacity_; }
  void describe(bk_ring& ring) const;
  void push(const bk_completion& completion);
  uint64_t taken() const { return tail().load(std::memory_order_acquire); }
  // Nothing more will come: whoever waits is woken.
  void end();
  bk_status wait(uint64_t limit_ns);
  bk_status take(bk_completion* out, uint32_t capacity, uint64_t limit_ns, uint32_t* taken);

 private:
  std::atomic_ref<uint64_t> head() const { return std::atomic_ref(header_->head); }
  std::atomic_ref<uint64_t> tail() const { return std::atomic_ref(header_->tail); }
  std::atomic_ref<uint32_t> waiting() const { return std::atomic_ref(header_->waiting); }
  void wake() const;

  bk_ring_header* header_ = nullptr;
  bk_completion* entries_ = nullptr;
  uint32_t capacity_ = 0;
  uint64_t bytes_ = 0;
  int event_ = -1;
  std::atomic<bool> ended_{false};
};

}  // namespace garnet::bulk
