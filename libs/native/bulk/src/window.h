// Memory between a transfer's own and the provider, for what the provider cannot take as it is: memory in no region where it wants some, and
// a device's. A window for each piece that can be out, so that one is filled while another one travels.
#pragma once
#include <cstdint>
#include <memory>

#include "device.h"
#include "provider.h"

namespace garnet::bulk {

constexpr uint64_t kWindowBytes = 256 * 1024;

// The endpoint's thread's alone.
class Windows {
 public:
  explicit Windows(uint32_t count) : count_(count), staged_(count) {}
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;
  ~Windows();

  // The piece goes by its slot's window from here on. What is written is copied there first.
  bk_status enter(Provider& provider, Piece& piece);
  // The piece is over. What was read is copied to where it was asked for, if it still is; a failed copy is the piece's failure.
  void leave(Done& done, bool is_wanted);
  // Nothing is out any more.
  void close(Provider& provider);
  bool is_closed(Provider& provider) { return !region_.base || provider.is_withdrawn(region_); }

 private:
  struct Staged {
    char* local = nullptr;  // null: this slot's piece is not staged
    bool writes = false;
    std::shared_ptr<DeviceMemory> device;
  };
  bk_status open(Provider& provider);
  char* window(uint32_t slot) const { return region_.base + slot * kWindowBytes; }

  const uint32_t count_;
  std::vector<Staged> staged_;
  Region region_;
  PinnedWindow pinned_;
};

}  // namespace garnet::bulk
