// Handles: a number that says where something is kept and which of those that were ever kept there it is.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace garnet::bulk {

constexpr uint64_t handle_of(uint32_t index, uint32_t generation) { return (uint64_t{generation} << 32) | (uint64_t{index} + 1); }
// Of a handle that is none: larger than any index.
constexpr uint32_t index_of(uint64_t handle) { return static_cast<uint32_t>(handle) - 1; }
constexpr uint32_t generation_of(uint64_t handle) { return static_cast<uint32_t>(handle >> 32); }

// Not guarded: whoever has one guards it.
template <typename Pointer>
class Slots {
 public:
  uint64_t add(Pointer kept) {
    if (free_.empty()) {
      slots_.emplace_back();
      free_.reserve(slots_.size());  // so that nothing has to be allocated to give one back
      free_.push_back(static_cast<uint32_t>(slots_.size() - 1));
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].kept = std::move(kept);
    if (++slots_[index].generation == 0) ++slots_[index].generation;
    ++count_;
    return handle_of(index, slots_[index].generation);
  }

  const Pointer* find(uint64_t handle) const {
    const uint32_t index = index_of(handle);
    const bool known = index < slots_.size() && slots_[index].kept && slots_[index].generation == generation_of(handle);
    return known ? &slots_[index].kept : nullptr;
  }

  Pointer take(uint64_t handle) {
    if (!find(handle)) return {};
    const uint32_t index = index_of(handle);
    free_.push_back(index);
    --count_;
    return std::exchange(slots_[index].kept, {});
  }

  template <typename Look>
  void each(Look look) const {
    for (const auto& slot : slots_)
      if (slot.kept) look(*slot.kept);
  }

  template <typename Look>
  void each_pointer(Look look) const {
    for (const auto& slot : slots_)
      if (slot.kept) look(slot.kept);
  }

  uint64_t count() const { return count_; }

 private:
  struct Slot {
    uint32_t generation = 0;
    Pointer kept{};
  };
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  uint64_t count_ = 0;
};

}  // namespace garnet::bulk
