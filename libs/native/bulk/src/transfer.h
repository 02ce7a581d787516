// A transfer as the endpoint sees it: two lists of the same length, walked in pieces.
#pragma once
#include <algorithm>
#include <atomic>
#include <vector>

#include "provider.h"

namespace garnet::bulk {

struct Peer {
  std::unique_ptr<PeerPart> part;
  uint64_t users = 0;  // transfers that are not over
  bool dropping = false;
};

struct Transfer {
  uint32_t generation = 0;
  bool live = false;
  bool writes = false;
  std::atomic<bool> is_cancelled{false};
  std::vector<bk_local> local;
  std::vector<bk_remote> remote;
  std::vector<Region*> own;  // beside `local`; null where it names none
  Peer* peer = nullptr;
  uint64_t user = 0, began = 0, deadline = 0;
  uint64_t bytes = 0, posted = 0, moved = 0;
  uint32_t out = 0;  // pieces that the provider has
  bk_status verdict = BK_OK;
  int32_t error = 0;

  bool has_more() const { return posted < bytes; }
  bool is_over() const { return out == 0 && (verdict != BK_OK || moved == bytes); }

  // The own region that the next piece lies in, or null.
  const Region* next_own() {
    while (local_done_ == local[local_at_].bytes) ++local_at_, local_done_ = 0;
    return own[local_at_];
  }

  // The next piece, which never spans two of either list.
  Piece next(uint64_t piece_bytes) {
    next_own();
    while (remote_done_ == remote[remote_at_].bytes) ++remote_at_, remote_done_ = 0;
    const bk_local& here = local[local_at_];
    const bk_remote& there = remote[remote_at_];
    const uint64_t length = std::min({piece_bytes, here.bytes - local_done_, there.bytes - remote_done_});
    return {writes, 0, static_cast<char*>(here.at) + local_done_, length, there.offset + remote_done_, &there.region, peer->part.get(), own[local_at_]};
  }

  void advance(uint64_t length) {
    posted += length;
    local_done_ += length;
    remote_done_ += length;
  }

  void rewind() {
    local_at_ = remote_at_ = 0;
    local_done_ = remote_done_ = 0;
    bytes = posted = moved = 0;
    out = 0;
    verdict = BK_OK;
    error = 0;
    is_cancelled.store(false, std::memory_order_relaxed);
  }

 private:
  size_t local_at_ = 0, remote_at_ = 0;
  uint64_t local_done_ = 0, remote_done_ = 0;
};

}  // namespace garnet::bulk
