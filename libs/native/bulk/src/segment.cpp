#include "segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "fault.h"
#include "pins.h"
#include "provider.h"
#include "slots.h"

namespace garnet::bulk {

namespace {

struct Segments {
  std::mutex mutex;
  Slots<std::shared_ptr<Segment>> slots;
};

constexpr uint64_t kStep = 4 << 20;

uint64_t machine_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Segments& segments() {
  static auto* const all = new Segments;
  return *all;
}

}  // namespace

Segment::~Segment() {
  // What a driver still has is never given back.
  if (at_ && Pins::get().drop(pin_) == BK_OK) munmap(at_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

bk_status Segment::open(uint64_t bytes, bool pins) {
  if (bytes == 0 || bytes > INT64_MAX) return fail(BK_E_INVAL, "no such size");
  // The system would give page by page, until it ends some process for what it lacks.
  if (bytes > machine_memory()) return fail(BK_E_NOMEM, "the machine has not so much memory");
  descriptor_ = memfd_create("garnet-bulk-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor_ < 0) return fail_by_errno(BK_E_NOMEM, "memfd_create", errno);
  // Space first: a page that is not to be had would end the process when it is touched. In steps, as a signal undoes the one that it meets.
  for (uint64_t had = 0; had < bytes;) {
    const uint64_t step = std::min(bytes - had, kStep);
    const int error = posix_fallocate(descriptor_, static_cast<off_t>(had), static_cast<off_t>(step));
    if (error == 0) had += step;
    else if (error != EINTR) return fail_by_errno(BK_E_NOMEM, "memory of a segment", error);
  }
  if (fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return fail_by_errno(BK_E_IO, "seals of a segment", errno);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
  if (mapped == MAP_FAILED) return fail_by_errno(BK_E_NOMEM, "memory of a segment", errno);
  at_ = static_cast<char*>(mapped);
  bytes_ = bytes;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return pins ? Pins::get().add(at_, (bytes + page - 1) / page * page, &pin_) : static_cast<bk_status>(BK_OK);
}

bk_status open_segment(uint64_t bytes, bool pins, bk_segment* segment, void** at) {
  auto opened = std::make_shared<Segment>();
  if (const bk_status status = opened->open(bytes, pins); status != BK_OK) return status;
  *at = opened->at();
  const std::lock_guard guard(segments().mutex);
  *segment = segments().slots.add(std::move(opened));
  return BK_OK;
}

bk_status close_segment(bk_segment segment) {
  std::shared_ptr<Segment> last;  // unmapped outside the lock
  const std::lock_guard guard(segments().mutex);
  const auto* found = segments().slots.find(segment);
  if (!found) return fail(BK_E_HANDLE, "no such segment");
  if (found->use_count() > 1) return fail(BK_E_BUSY, "regions in it are open");
  last = segments().slots.take(segment);
  return BK_OK;
}

std::shared_ptr<Segment> segment_of(const char* base, uint64_t bytes) {
  const std::lock_guard guard(segments().mutex);
  std::shared_ptr<Segment> found;
  segments().slots.each_pointer([&](const std::shared_ptr<Segment>& segment) {
    const uint64_t offset = reinterpret_cast<uintptr_t>(base) - reinterpret_cast<uintptr_t>(segment->at());
    if (lies_in(offset, bytes, segment->bytes())) found = segment;
  });
  return found;
}

}  // namespace garnet::bulk
