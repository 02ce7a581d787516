#include "local_views.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "local_wire.h"

namespace garnet::bulk {

namespace {
// Of one process; more are mapped anew when they are used again.
constexpr size_t kViewsMax = 64;
constexpr int64_t kBlockBytes = 512;  // what st_blocks counts

// The other side's memory, and his to pay for: the size is sealed, and every page is there, as whoever maps it would have to find them. Small pages,
// since huge ones that are taken out of it under a mapping may not be to be had again, which ends whoever touches them.
bool can_be_mapped(int file, uint64_t& bytes) {
  struct stat facts {};
  if (!is_lasting_memory(file, bytes) || fstat(file, &facts) != 0) return false;
  return facts.st_size > 0 && facts.st_blocks >= (facts.st_size + kBlockBytes - 1) / kBlockBytes;
}
}  // namespace

bool is_lasting_memory(int file, uint64_t& bytes) {
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return false;
  struct stat facts {};
  struct statfs system {};
  constexpr decltype(system.f_type) kMemory = 0x01021994;  // TMPFS_MAGIC
  if (fstat(file, &facts) != 0 || fstatfs(file, &system) != 0) return false;
  bytes = static_cast<uint64_t>(facts.st_size);
  return system.f_type == kMemory;
}

LocalViews::~LocalViews() {
  for (const View& view : views_) unmap(view);
}

void LocalViews::unmap(const View& view) {
  if (view.mapped) munmap(view.mapped, view.mapped_bytes);
}

LocalViews::View LocalViews::find(int process, const LocalTable& table, const LocalRow& row, uint64_t key, uint64_t bytes) {
  const auto known = std::ranges::find(views_, key, &View::key);
  if (known != views_.end()) return *known;
  if (row.segment.load(std::memory_order_relaxed) < 0) return {};
  // Those that were closed meanwhile are let go first.
  std::erase_if(views_, [&table](const View& view) {
    const bool is_gone = table.rows[view.key % kRowsMax].key.load(std::memory_order_relaxed) != view.key;
    if (is_gone) unmap(view);
    return is_gone;
  });
  if (views_.size() >= kViewsMax) {
    unmap(views_.front());
    views_.erase(views_.begin());
  }
  views_.push_back(map(process, row, key, bytes));
  return views_.back();
}

LocalViews::View LocalViews::map(int process, const LocalRow& row, uint64_t key, uint64_t bytes) {
  View view;
  view.key = key;
  const int number = row.segment.load(std::memory_order_relaxed);
  const uint64_t offset = row.segment_offset.load(std::memory_order_relaxed);
  const Descriptor segment(static_cast<int>(syscall(SYS_pidfd_getfd, process, number, 0)));
  uint64_t whole = 0;
  if (segment.get() < 0 || !can_be_mapped(segment.get(), whole) || !lies_in(offset, bytes, whole)) return view;
  const uint64_t begin = offset & ~(static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) - 1);
  void* mapped = mmap(nullptr, bytes + (offset - begin), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, segment.get(), static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) return view;
  view.mapped = mapped;
  view.mapped_bytes = bytes + (offset - begin);
  view.at = static_cast<char*>(mapped) + (offset - begin);
  view.bytes = bytes;
  return view;
}

}  // namespace garnet::bulk
