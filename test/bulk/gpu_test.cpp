// Memory of a real device, where there is one: `bulk-test gpu`; 77 with the reason elsewhere. What does not need one is in stub_test.cpp.
#include <dlfcn.h>

#include <chrono>
#include <cstring>

#include "harness.h"

namespace {

#define GPU_TEST(name)                                                                                      \
  static void name(const char*);                                                                            \
  static const Listed listed_##name(#name, name, [](std::string_view provider) { return provider == "gpu"; }); \
  static void name([[maybe_unused]] const char* provider)

// As much of the driver as it takes to have memory of a device.
struct Gpu {
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*push)(void*) = nullptr;
  int (*allocate)(unsigned long long*, size_t) = nullptr;
  int (*free)(unsigned long long) = nullptr;
  std::string why_not;

  static const Gpu& get() {
    static const Gpu gpu;
    return gpu;
  }

 private:
  Gpu() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      why_not = dlerror();
      return;
    }
    const auto look_up = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function) why_not = std::string("no ") + name;
    };
    look_up("cuInit", init);
    look_up("cuDeviceGetCount", count);
    look_up("cuDevicePrimaryCtxRetain", retain);
    look_up("cuCtxPushCurrent_v2", push);
    look_up("cuMemAlloc_v2", allocate);
    look_up("cuMemFree_v2", free);
    int devices = 0;
    void* context = nullptr;
    if (why_not.empty() && (init(0) != 0 || count(&devices) != 0 || devices == 0)) why_not = "no device";
    if (why_not.empty() && (retain(&context, 0) != 0 || push(context) != 0)) why_not = "no context";
  }
};

struct OnDevice {
  explicit OnDevice(uint64_t bytes) : own("loop") {
    CHECK(Gpu::get().allocate(&at, bytes) == 0);
    bk_region_config config{sizeof config, 0, place(), bytes, "cuda:0", 6};
    CHECK_IS(BK_OK, bk_region_open(own, &config, &region, nullptr));
  }
  ~OnDevice() {
    CHECK_IS(BK_OK, bk_region_close(own, region, kLong));
    CHECK(Gpu::get().free(at) == 0);
  }
  char* place(uint64_t offset = 0) const { return reinterpret_cast<char*>(at + offset); }
  unsigned long long at = 0;
  const Opened own;
  bk_region region = 0;
};

}  // namespace

std::string why_no_gpu() { return Gpu::get().why_not; }

GPU_TEST(Copies_of_every_length_arrive_either_way) {
  constexpr uint64_t kMost = 64 << 20;
  const OnDevice device(kMost);
  Memory from(kMost, 1), to(kMost, 2);
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4097}, (uint64_t{4} << 20) + 1, kMost - 5}) {
    memset(to.at(), 0, kMost);
    CHECK_IS(BK_OK, bk_copy(device.place(3), from.at(), bytes));
    CHECK_IS(BK_OK, bk_copy(to.at(1), device.place(3), bytes));
    CHECK(memcmp(to.at(1), from.at(), bytes) == 0 && *to.at(0) == 0);
  }
  bk_memory_fact fact{sizeof fact, 0, 0, 0};
  CHECK_IS(BK_OK, bk_memory_kind(device.place(9), &fact));
  CHECK(fact.kind == BK_MEMORY_DEVICE && fact.device == 0);
  CHECK_IS(BK_OK, bk_memory_kind(from.at(), &fact));
  CHECK(fact.kind == BK_MEMORY_HOST);
}

GPU_TEST(Transfers_go_to_and_from_a_device) {
  constexpr uint64_t kBytes = 3'000'001;
  const OnDevice device(kBytes);
  const Opened other("loop", BK_EXPOSES);
  Memory theirs(kBytes, 1), to(kBytes, 2);
  bk_region_config config{sizeof config, BK_REMOTE_READ, theirs.at(), kBytes, nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(other, &config, &region, &name));
  const bk_local here{device.place(), kBytes, device.region};
  const bk_remote there{name, 0, kBytes};
  const bk_transfer transfer = transfer_of(device.own.meet(other.address()), &here, 1, &there, 1);
  CHECK_IS(BK_OK, bk_read(device.own, &transfer, nullptr));
  CHECK_IS(BK_OK, device.own.take().status);
  CHECK_IS(BK_OK, bk_copy(to.at(), device.place(), kBytes));
  CHECK(to.held == theirs.held);
}

// The ratio is said, and judged by nobody: it depends on the machine.
GPU_TEST(A_segment_can_be_pinned_and_is_copied_faster) {
  constexpr uint64_t kBytes = 256 << 20;
  const OnDevice device(kBytes);
  const bk_pin_config config{sizeof config, BK_PIN_AUTO, 1 << 30, 0};
  CHECK_IS(BK_OK, bk_pin_configure(&config));
  double seconds[2];
  for (const uint32_t flags : {0u, static_cast<uint32_t>(BK_SEGMENT_PIN)}) {
    const bk_segment_config whole{sizeof whole, flags, kBytes};
    bk_segment segment = 0;
    void* at = nullptr;
    CHECK_IS(BK_OK, bk_segment_open(&whole, &segment, &at));
    bk_pins pins{};
    pins.size = sizeof pins;
    do CHECK_IS(BK_OK, bk_pin_figures(&pins));
    while (pins.waiting_bytes != 0);
    CHECK(pins.pinned_bytes == (flags ? kBytes : 0) && pins.failures == 0);
    CHECK_IS(BK_OK, bk_copy(at, device.place(), kBytes));
    const auto from = std::chrono::steady_clock::now();
    CHECK_IS(BK_OK, bk_copy(at, device.place(), kBytes));
    seconds[flags != 0] = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    CHECK_IS(BK_OK, bk_segment_close(segment));
  }
  printf("  device to host, %d MiB: %.1f GB/s by windows, %.1f GB/s pinned\n", static_cast<int>(kBytes >> 20), kBytes / seconds[0] / 1e9, kBytes / seconds[1] / 1e9);
}
