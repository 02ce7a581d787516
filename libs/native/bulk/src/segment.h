// Memory that can be shown to other processes: a file of the system's memory, mapped here, whose size is sealed.
#pragma once
#include <cstdint>
#include <memory>

#include "garnet_bulk.h"

namespace garnet::bulk {

class Segment {
 public:
  Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();
  bk_status open(uint64_t bytes, bool pins);
  char* at() const { return at_; }
  uint64_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }

 private:
  char* at_ = nullptr;
  uint64_t bytes_ = 0;
  int descriptor_ = -1;
  bk_pin pin_ = 0;
};

bk_status open_segment(uint64_t bytes, bool pins, bk_segment* segment, void** at);
bk_status close_segment(bk_segment segment);
// The one that all of this memory lies in, or nothing; whoever has it keeps it from being closed.
std::shared_ptr<Segment> segment_of(const char* base, uint64_t bytes);

}  // namespace garnet::bulk
