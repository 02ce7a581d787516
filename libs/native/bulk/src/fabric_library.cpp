#include "fabric_library.h"

#if BK_HAS_FABRIC
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace garnet::bulk {

namespace {

constexpr char kFile[] = "libfabric.so.1";

template <typename Function>
void look_up(void* library, const char* name, const char* version, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlvsym(library, name, version));
  if (!function) missing = std::string(kFile) + " has no " + name + " of version " + version;
}

FabricLibrary open_library() {
  FabricLibrary opened;
  const KeptSignals kept;
  // Its provider for hardware keeps what was registered, with all rights for everybody, and beyond its close: never that. It looks when it begins.
  setenv("FI_MR_CACHE_MAX_COUNT", "0", 1);
  void* library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    opened.missing = "there is no libfabric: " + std::string(dlerror());
    return opened;
  }
  look_up(library, "fi_getinfo", "FABRIC_1.3", opened.getinfo, opened.missing);
  look_up(library, "fi_freeinfo", "FABRIC_1.3", opened.freeinfo, opened.missing);
  look_up(library, "fi_dupinfo", "FABRIC_1.3", opened.dupinfo, opened.missing);
  look_up(library, "fi_fabric", "FABRIC_1.1", opened.fabric, opened.missing);
  look_up(library, "fi_strerror", "FABRIC_1.0", opened.strerror, opened.missing);
  return opened;
}

}  // namespace

const FabricLibrary& FabricLibrary::get() {
  static const auto* const opened = new FabricLibrary(open_library());
  return *opened;
}

namespace {

struct Range {
  uintptr_t begin, end;
  bool operator==(const Range&) const = default;
};

// One at a time keeps signals: what two keep at once each takes for the other's.
std::mutex signals_gate;
std::vector<Range>& under_libfabric() {
  static auto* const ranges = new std::vector<Range>;
  return *ranges;
}

// Where the code of each library lies.
std::vector<Range> loaded() {
  std::vector<Range> ranges;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        for (int at = 0; at < info->dlpi_phnum; ++at) {
          const auto& part = info->dlpi_phdr[at];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          static_cast<std::vector<Range>*>(to)->push_back({begin, begin + part.p_memsz});
        }
        return 0;
      },
      &ranges);
  return ranges;
}

}  // namespace

struct KeptSignals::State {
  std::unique_lock<std::mutex> gate{signals_gate};
  std::vector<Range> before = loaded();
  struct sigaction each[NSIG] = {};
};

// Those that nobody may hear are not to be had, and not to be set.
KeptSignals::KeptSignals() : state_(new State) {
  for (int number = 1; number < NSIG; ++number) sigaction(number, nullptr, &state_->each[number]);
}

KeptSignals::~KeptSignals() {
  std::vector<Range>& theirs = under_libfabric();
  for (const Range& now : loaded())
    if (std::ranges::find(state_->before, now) == state_->before.end()) theirs.push_back(now);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) != 0) continue;
    const auto handler = reinterpret_cast<uintptr_t>(now.sa_handler);
    if (std::ranges::any_of(theirs, [handler](const Range& of) { return handler >= of.begin && handler < of.end; }))
      sigaction(number, &state_->each[number], nullptr);
  }
  delete state_;
}

}  // namespace garnet::bulk
#endif
