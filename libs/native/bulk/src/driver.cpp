#include <dlfcn.h>

#include <atomic>
#include <string>

#include "device.h"
#include "fault.h"

namespace garnet::bulk {

namespace {

constexpr char kFile[] = "libcuda.so.1";

// The driver's names: those that changed what they take have a version in the name.
struct Opening {
  Driver driver{};
  std::string missing;

  template <typename Function>
  void look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function && missing.empty()) missing = std::string(kFile) + " has no " + name;
  }

  void open() {
    void* library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      missing = "there is no driver of a device: " + std::string(dlerror());
      return;
    }
    look_up(library, "cuInit", driver.init);
    look_up(library, "cuDeviceGetCount", driver.device_count);
    look_up(library, "cuDeviceGet", driver.device_get);
    look_up(library, "cuDevicePrimaryCtxRetain", driver.retain);
    look_up(library, "cuDevicePrimaryCtxRelease_v2", driver.release);
    look_up(library, "cuCtxPushCurrent_v2", driver.push);
    look_up(library, "cuCtxPopCurrent_v2", driver.pop);
    look_up(library, "cuPointerGetAttributes", driver.attributes);
    look_up(library, "cuMemHostRegister_v2", driver.host_register);
    look_up(library, "cuMemHostUnregister", driver.host_unregister);
    look_up(library, "cuMemcpyAsync", driver.copy);
    look_up(library, "cuStreamCreate", driver.stream_create);
    look_up(library, "cuStreamSynchronize", driver.stream_wait);
    look_up(library, "cuStreamDestroy_v2", driver.stream_destroy);
    look_up(library, "cuEventCreate", driver.event_create);
    look_up(library, "cuEventRecord", driver.event_record);
    look_up(library, "cuEventSynchronize", driver.event_wait);
    look_up(library, "cuEventDestroy_v2", driver.event_destroy);
    look_up(library, "cuGetErrorName", driver.error_name);
    if (!missing.empty()) return;
    int count = 0;
    DriverResult result = driver.init(0);
    if (result == 0) result = driver.device_count(&count);
    if (result != 0) missing = std::string(kFile) + " does not begin: " + name_of(result);
    else if (count == 0) missing = std::string(kFile) + " has no device";
  }

  std::string name_of(DriverResult result) const {
    const char* name = nullptr;
    return driver.error_name(result, &name) == 0 && name ? name : std::to_string(result);
  }
};

std::atomic<const Driver*> s_opened{nullptr};

}  // namespace

const Driver* Driver::open() {
  static const auto* const opening = [] {
    auto* const made = new Opening;
    made->open();
    if (made->missing.empty()) s_opened.store(&made->driver, std::memory_order_release);
    return made;
  }();
  if (opening->missing.empty()) return &opening->driver;
  fail(BK_E_UNSUPPORTED, opening->missing);
  return nullptr;
}

const Driver* Driver::opened() { return s_opened.load(std::memory_order_acquire); }

bk_status fail_by_driver(const Driver& driver, const char* what, DriverResult result) {
  constexpr DriverResult kNoMemory = 2;
  const char* name = nullptr;
  const bool is_known = driver.error_name(result, &name) == 0 && name;
  return fail(result == kNoMemory ? BK_E_NOMEM : BK_E_DEVICE, std::string(what) + ": " + (is_known ? name : std::to_string(result)));
}

}  // namespace garnet::bulk
