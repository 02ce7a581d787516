#include "window.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "fault.h"

namespace garnet::bulk {

Windows::~Windows() {
  // What a driver still has is never given back.
  if (region_.base && pinned_.release()) munmap(region_.base, region_.bytes);
}

bk_status Windows::open(Provider& provider) {
  const uint64_t bytes = count_ * kWindowBytes;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) return fail_by_errno(BK_E_NOMEM, "windows of transfers", errno);
  region_.base = static_cast<char*>(mapped);
  region_.bytes = bytes;
  const bk_status exposed = provider.expose(region_);
  if (exposed == BK_OK) return BK_OK;
  munmap(mapped, bytes);
  region_.base = nullptr;
  return exposed;
}

bk_status Windows::enter(Provider& provider, Piece& piece) {
  if (!region_.base)
    if (const bk_status opened = open(provider); opened != BK_OK) return opened;
  std::shared_ptr<DeviceMemory> device = piece.own ? piece.own->device : nullptr;
  if (device) pinned_.pin(*device, region_.base, region_.bytes);
  char* const at = window(piece.slot);
  if (piece.writes)
    if (const bk_status copied = copy_known(device.get(), at, piece.local, piece.bytes, pinned_.is_pinned()); copied != BK_OK) return copied;
  staged_[piece.slot] = {piece.local, piece.writes, std::move(device)};
  piece.local = at;
  piece.own = &region_;
  return BK_OK;
}

void Windows::leave(Done& done, bool is_wanted) {
  Staged staged = std::exchange(staged_[done.slot], {});
  if (!staged.local || staged.writes || done.bytes == 0) return;
  const bk_status copied = is_wanted ? copy_known(staged.device.get(), staged.local, window(done.slot), done.bytes, pinned_.is_pinned()) : BK_E_CANCELED;
  if (copied == BK_OK) return;
  done.bytes = 0;
  if (done.status == BK_OK) done.status = copied;
}

void Windows::close(Provider& provider) {
  if (!region_.base || region_.closing) return;
  provider.withdraw(region_);
  region_.closing = true;
}

}  // namespace garnet::bulk
