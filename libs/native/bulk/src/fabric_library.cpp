#include "fabric_library.h"

#if BK_HAS_FABRIC
#include <dlfcn.h>

#include <csignal>
#include <cstdlib>

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

struct KeptSignals::Actions {
  struct sigaction each[NSIG];
};

// Those that nobody may hear are not to be had, and not to be set.
KeptSignals::KeptSignals() : actions_(new Actions{}) {
  for (int number = 1; number < NSIG; ++number) sigaction(number, nullptr, &actions_->each[number]);
}

KeptSignals::~KeptSignals() {
  for (int number = 1; number < NSIG; ++number) sigaction(number, &actions_->each[number], nullptr);
  delete actions_;
}

}  // namespace garnet::bulk
#endif
