// Memory of devices and pinning, over a driver that is a stub. What reviews of such code have found is here by name (U1 and on).
#include "stub_driver.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "harness.h"

namespace {

#define STUB_TEST(name)                                                                                      \
  static void name(const char*);                                                                             \
  static const Listed listed_##name(#name, name, [](std::string_view provider) { return provider == "stub"; }); \
  static void name([[maybe_unused]] const char* provider)

constexpr uint64_t kPage = 4096, kChunk = 64 << 20;
constexpr int kFailed = 999, kIsLeaving = 4;

bk_pins pins_now() {
  bk_pins pins{};
  pins.size = sizeof pins;
  CHECK_IS(BK_OK, bk_pin_figures(&pins));
  return pins;
}

void configure(uint32_t mode, uint64_t budget = 1 << 30, uint64_t retry_ns = 0) {
  const bk_pin_config config{sizeof config, mode, budget, retry_ns};
  CHECK_IS(BK_OK, bk_pin_configure(&config));
}

// Pages of the host's, which are looked at again only where they may be.
struct Pages {
  explicit Pages(uint64_t size) : bytes(size), at(static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Pages() { munmap(at, bytes); }
  Pages(const Pages&) = delete;
  const uint64_t bytes;
  char* const at;
};

// A device's memory, and the endpoint that has a region of it.
struct DeviceRegion {
  explicit DeviceRegion(uint64_t bytes, int device = 0, bool is_managed = false) : at(stub_memory(device, bytes, is_managed)), endpoint("loop") {
    const std::string name = "cuda:" + std::to_string(device);
    bk_region_config config{sizeof config, 0, at, bytes, name.data(), name.size()};
    CHECK_IS(BK_OK, bk_region_open(endpoint, &config, &region, nullptr));
  }
  ~DeviceRegion() {
    CHECK_IS(BK_OK, bk_region_close(endpoint, region, kLong));
    stub_free(at);
  }
  char* const at;
  const Opened endpoint;
  bk_region region = 0;
};

}  // namespace

// The first of all: nothing has asked for a device yet.
STUB_TEST(The_driver_is_not_touched_before_a_region_of_a_device_is_opened) {
  const Opened own("loop");
  Memory from(1000, 1), to(1000, 2);
  Pages pages(kPage);
  bk_pin pin = 0;
  bk_memory_fact fact{sizeof fact, 9, 9, 0};
  CHECK_IS(BK_OK, bk_copy(to.at(), from.at(), 1000));
  CHECK_IS(BK_OK, bk_memory_kind(to.at(), &fact));
  CHECK(fact.kind == BK_MEMORY_HOST && fact.device == -1 && to.held == from.held);
  CHECK_IS(BK_OK, bk_pin_add(pages.at, kPage, &pin));
  CHECK_IS(BK_E_BUSY, bk_pin_wait(pin, 1 * kMs));
  CHECK_IS(BK_OK, bk_pin_drop(pin));
  CHECK(stub_calls(nullptr) == 0);
}

STUB_TEST(U1_a_copy_of_nothing_asks_no_driver) {
  const DeviceRegion device(kPage);
  const uint64_t before = stub_calls(nullptr);
  CHECK_IS(BK_OK, bk_copy(nullptr, nullptr, 0));
  CHECK_IS(BK_OK, bk_copy(device.at, nullptr, 0));
  CHECK(stub_calls(nullptr) == before);
}

STUB_TEST(U2_a_region_is_asked_about_once_however_many_slices_it_has) {
  Pages host(kPage);
  bk_pin pin = 0;
  const uint64_t before = stub_calls("cuPointerGetAttributes");
  const DeviceRegion device(kPage);
  CHECK_IS(BK_OK, bk_pin_add(host.at, kPage, &pin));
  CHECK_IS(BK_OK, bk_pin_wait(pin, kLong));
  for (uint64_t at = 0; at < 100; ++at) CHECK_IS(BK_OK, bk_copy(device.at + at, host.at + at, 7));
  CHECK(stub_calls("cuPointerGetAttributes") == before + 1);
  CHECK_IS(BK_OK, bk_pin_drop(pin));
}

STUB_TEST(U3_the_current_context_is_as_it_was_also_behind_an_error) {
  const DeviceRegion device(9 << 20);
  Memory host(9 << 20, 1);
  const uint64_t pushed = stub_calls("cuCtxPushCurrent_v2");
  CHECK_IS(BK_OK, bk_copy(device.at, host.at(), 9 << 20));
  CHECK(stub_depth() == 0 && stub_calls("cuCtxPushCurrent_v2") > pushed);
  for (const char* call : {"cuMemcpyAsync", "cuEventRecord", "cuEventSynchronize", "cuStreamSynchronize", "cuCtxPushCurrent_v2"}) {
    stub_fail(call, 1, kFailed, 1);
    CHECK_IS(BK_E_DEVICE, bk_copy(host.at(), device.at, 9 << 20));
    CHECK(last_words().find("STUB_ERROR") != std::string::npos);
    CHECK(stub_depth() == 0);
  }
  CHECK_IS(BK_OK, bk_copy(host.at(), device.at, 9 << 20));
}

STUB_TEST(U4_a_library_that_is_loaded_twice_has_its_pins_once) {
  Dl_info info{};
  CHECK(dladdr(reinterpret_cast<void*>(bk_pin_figures), &info) != 0);
  void* const again = dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL);
  CHECK(again && dlsym(again, "bk_pin_figures") == reinterpret_cast<void*>(bk_pin_figures));
  dlclose(again);
}

STUB_TEST(U5_nothing_is_not_pinned) {
  const bk_pins before = pins_now();
  bk_pin pin = 7;
  CHECK_IS(BK_OK, bk_pin_add(nullptr, 0, &pin));
  CHECK(pin == 0);
  CHECK_IS(BK_OK, bk_pin_drop(pin));
  const bk_pins behind = pins_now();
  CHECK(memcmp(&before, &behind, sizeof before) == 0);
}

STUB_TEST(U6_a_slice_that_ends_behind_its_region_is_refused) {
  const DeviceRegion device(kPage);
  Memory host(2 * kPage, 1);
  CHECK_IS(BK_E_RANGE, bk_copy(host.at(), device.at + 1, kPage));
  CHECK_IS(BK_E_RANGE, bk_copy(device.at + kPage - 1, host.at(), 2));
  CHECK_IS(BK_E_RANGE, bk_copy(host.at(), device.at - 1, 2));
  CHECK_IS(BK_OK, bk_copy(device.at + kPage - 1, host.at(), 1));
  char* const unnamed = stub_memory(0, kPage, false);
  CHECK_IS(BK_E_DEVICE, bk_copy(host.at(), unnamed, 1));  // and not the end of the process
  stub_free(unnamed);
}

STUB_TEST(U7_threads_that_pin_and_unpin_at_once_leave_nothing) {
  const DeviceRegion device(kPage);
  Pages pages(16 * kPage);
  const uint64_t registered = stub_registered();
  std::vector<std::thread> threads;
  std::atomic<int> had = 0;
  for (uint64_t thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t round = 0; round < 50; ++round) {
        bk_pin pin = 0;
        if (bk_pin_add(pages.at + (thread + round) % 13 * kPage, 3 * kPage, &pin) != BK_OK) continue;  // somebody has some of it
        if (round % 2 == 0) bk_pin_wait(pin, kLong);
        CHECK_IS(BK_OK, bk_pin_drop(pin));
        ++had;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(had > 0 && stub_registered() == registered && pins_now().pinned_bytes == 0 && pins_now().waiting_bytes == 0);
}

STUB_TEST(U8_memory_of_the_host_is_not_staged_where_nothing_wants_it) {
  const Opened other("loop", BK_EXPOSES), own("loop");
  Memory theirs(300'000, 1), to(300'000, 2);
  bk_region_config config{sizeof config, BK_REMOTE_READ, theirs.at(), 300'000, nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(other, &config, &region, &name));
  CHECK_IS(BK_OK, simple(own, own.meet(other.address()), false, to.at(), name, 0, 300'000));
  CHECK_IS(BK_OK, own.take().status);
  bk_figures figures{};
  figures.size = sizeof figures;
  CHECK_IS(BK_OK, bk_endpoint_figures(own, &figures));
  CHECK(figures.bytes_staged == 0 && to.held == theirs.held);
}

// Of each part by itself: that one is a device's says nothing of the other one.
STUB_TEST(U10_only_the_part_that_is_a_devices_is_staged) {
  constexpr uint64_t kDevice = 700'001, kHost = 333'333;
  const DeviceRegion device(1 << 20);
  const Opened other("loop", BK_EXPOSES);
  const bk_peer peer = device.endpoint.meet(other.address());
  Memory theirs(kDevice + kHost, 1), host(kHost, 2);
  bk_region_config config{sizeof config, BK_REMOTE_READ | BK_REMOTE_WRITE, theirs.at(), theirs.held.size(), nullptr, 0};
  bk_region region = 0;
  bk_region_name name{};
  CHECK_IS(BK_OK, bk_region_open(other, &config, &region, &name));
  const bk_local here[] = {{host.at(), kHost, 0}, {device.at + 5, kDevice, device.region}};
  const bk_remote there{name, 0, kDevice + kHost};
  const bk_transfer transfer = transfer_of(peer, here, 2, &there, 1);
  const auto staged = [&] {
    bk_figures figures{};
    figures.size = sizeof figures;
    CHECK_IS(BK_OK, bk_endpoint_figures(device.endpoint, &figures));
    return figures.bytes_staged;
  };
  CHECK_IS(BK_OK, bk_read(device.endpoint, &transfer, nullptr));
  CHECK_IS(BK_OK, device.endpoint.take().status);
  CHECK(staged() == kDevice && memcmp(host.at(), theirs.at(), kHost) == 0 && memcmp(stub_look(device.at + 5), theirs.at(kHost), kDevice) == 0);
  const Memory before = theirs;
  memset(theirs.at(), 0, theirs.held.size());
  CHECK_IS(BK_OK, bk_write(device.endpoint, &transfer, nullptr));
  CHECK_IS(BK_OK, device.endpoint.take().status);
  CHECK(staged() == 2 * kDevice && theirs.held == before.held);
  // A device that fails in the middle is the transfer's error.
  stub_fail("cuMemcpyAsync", 2, kFailed, 1);
  CHECK_IS(BK_OK, bk_write(device.endpoint, &transfer, nullptr));
  CHECK_IS(BK_E_DEVICE, device.endpoint.take().status);
  stub_fail("cuMemcpyAsync", 2, kFailed, 1);
  CHECK_IS(BK_OK, bk_read(device.endpoint, &transfer, nullptr));
  CHECK_IS(BK_E_DEVICE, device.endpoint.take().status);
}

STUB_TEST(U12_a_region_that_is_refused_leaves_nothing) {
  const Opened own("loop");
  const int retained = stub_retained();
  const uint64_t registered = stub_registered();
  char* const memory = stub_memory(1, kPage, false);
  Memory host(kPage, 1);
  bk_region region = 0;
  const auto attempt = [&](const char* name, void* at, uint32_t access) {
    bk_region_config config{sizeof config, access, at, kPage, name, strlen(name)};
    return bk_region_open(own, &config, &region, nullptr);
  };
  CHECK_IS(BK_E_INVAL, attempt("cuda:0", memory, 0));  // another one's
  CHECK_IS(BK_E_INVAL, attempt("cuda:1", host.at(), 0));
  CHECK_IS(BK_E_DEVICE, attempt("cuda:7", memory, 0));
  CHECK_IS(BK_E_INVAL, attempt("cuda:", memory, 0));
  CHECK_IS(BK_E_UNSUPPORTED, attempt("abacus:0", memory, 0));
  stub_fail("cuDevicePrimaryCtxRetain", 1, kFailed, 1);
  CHECK_IS(BK_E_DEVICE, attempt("cuda:1", memory, 0));
  stub_fail("cuPointerGetAttributes", 1, kFailed, 1);
  CHECK_IS(BK_E_DEVICE, attempt("cuda:1", memory, 0));
  const Opened exposes("loop", BK_EXPOSES);
  bk_region_config config{sizeof config, BK_REMOTE_READ, memory, kPage, "cuda:1", 6};
  CHECK_IS(BK_E_UNSUPPORTED, bk_region_open(exposes, &config, &region, nullptr));
  CHECK(stub_retained() == retained && stub_registered() == registered);
  stub_free(memory);
}

STUB_TEST(A_device_is_let_go_of_behind_its_last_region_and_pin) {
  Pages pages(kChunk + kPage);
  bk_pin pin = 0;
  const int before = stub_retained();
  {
    const DeviceRegion device(kPage), another(kPage);
    CHECK(stub_retained() == before + 1);
    CHECK_IS(BK_OK, bk_pin_add(pages.at, kChunk + kPage, &pin));
    CHECK_IS(BK_OK, bk_pin_wait(pin, kLong));
    CHECK(pins_now().pinned_bytes == kChunk + kPage);
  }
  CHECK(stub_retained() == before + 1);
  CHECK_IS(BK_OK, bk_pin_drop(pin));
  CHECK(stub_retained() == before);
  configure(BK_PIN_FORCED);
  CHECK_IS(BK_OK, bk_pin_add(pages.at, kPage, &pin));
  CHECK_IS(BK_OK, bk_pin_wait(pin, kLong));
  CHECK(pins_now().pinned_bytes == kPage);
  CHECK_IS(BK_OK, bk_pin_drop(pin));
  configure(BK_PIN_AUTO);
}

STUB_TEST(U15_what_the_driver_does_not_let_go_of_stays_noted_and_is_never_pinned_again) {
  const DeviceRegion device(kPage);
  const bk_pins before = pins_now();
  char* const kept = static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));  // for good
  bk_pin pin = 0;
  CHECK_IS(BK_OK, bk_pin_add(kept, 2 * kPage, &pin));
  CHECK_IS(BK_OK, bk_pin_wait(pin, kLong));
  CHECK(pins_now().pinned_bytes == before.pinned_bytes + 2 * kPage);
  stub_fail("cuMemHostUnregister", 1, kFailed, 1);
  CHECK_IS(BK_E_DEVICE, bk_pin_drop(pin));
  CHECK(pins_now().leaked_bytes == before.leaked_bytes + 2 * kPage && pins_now().pinned_bytes == before.pinned_bytes);
  CHECK_IS(BK_E_HANDLE, bk_pin_drop(pin));
  CHECK_IS(BK_E_INVAL, bk_pin_add(kept + kPage, kPage, &pin));
  // A driver that is leaving has let go of everything.
  char* const left = static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));  // the stub does not
  CHECK_IS(BK_OK, bk_pin_add(left, kPage, &pin));
  CHECK_IS(BK_OK, bk_pin_wait(pin, kLong));
  stub_fail("cuMemHostUnregister", 1, kIsLeaving, 1);
  CHECK_IS(BK_OK, bk_pin_drop(pin));
  CHECK(pins_now().leaked_bytes == before.leaked_bytes + 2 * kPage);
  // A segment's memory stays where it is, then.
  const bk_segment_config config{sizeof config, BK_SEGMENT_PIN, 3 * kPage};
  bk_segment segment = 0;
  void* at = nullptr;
  CHECK_IS(BK_OK, bk_segment_open(&config, &segment, &at));
  while (pins_now().waiting_bytes != 0) std::this_thread::yield();
  stub_fail("cuMemHostUnregister", 1, kFailed, 1);
  CHECK_IS(BK_OK, bk_segment_close(segment));
  CHECK(pins_now().leaked_bytes == before.leaked_bytes + 5 * kPage);
  memset(at, 1, 3 * kPage);
}

STUB_TEST(Copies_of_every_length_arrive_either_way_and_between_devices) {
  constexpr uint64_t kMost = 20 << 20;
  const DeviceRegion first(kMost), second(kMost, 1), managed(kMost, 1, true);
  Memory from(kMost, 1), to(kMost, 2);
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4095}, uint64_t{4} << 20, (uint64_t{8} << 20) + 1, kMost - 3}) {
    memset(to.at(), 0, kMost);
    CHECK_IS(BK_OK, bk_copy(first.at + 3, from.at(), bytes));
    CHECK_IS(BK_OK, bk_copy(second.at + 2, first.at + 3, bytes));
    CHECK_IS(BK_OK, bk_copy(managed.at + 1, second.at + 2, bytes));
    CHECK_IS(BK_OK, bk_copy(to.at(1), managed.at + 1, bytes));
    CHECK(memcmp(to.at(1), from.at(), bytes) == 0 && *to.at(0) == 0 && (bytes + 1 >= kMost || *to.at(bytes + 1) == 0));
  }
  bk_memory_fact fact{sizeof fact, 0, 0, 0};
  CHECK_IS(BK_OK, bk_memory_kind(second.at + 7, &fact));
  CHECK(fact.kind == BK_MEMORY_DEVICE && fact.device == 1);
  CHECK_IS(BK_OK, bk_memory_kind(managed.at, &fact));
  CHECK(fact.kind == BK_MEMORY_MANAGED);
  CHECK_IS(BK_OK, bk_memory_kind(from.at(), &fact));
  CHECK(fact.kind == BK_MEMORY_HOST && fact.device == -1);
}

STUB_TEST(Nothing_is_pinned_beyond_the_budget_nor_by_whoever_does_not_want_it) {
  const DeviceRegion device(kPage);
  Pages pages(3 * kPage);
  bk_pin first = 0, second = 0;
  configure(BK_PIN_OFF);
  CHECK_IS(BK_OK, bk_pin_add(pages.at, 2 * kPage, &first));
  CHECK_IS(BK_E_BUSY, bk_pin_wait(first, 1 * kMs));
  const uint64_t budget = pins_now().pinned_bytes + 2 * kPage;
  configure(BK_PIN_AUTO, budget);
  CHECK_IS(BK_OK, bk_pin_wait(first, kLong));
  CHECK_IS(BK_OK, bk_pin_add(pages.at + 2 * kPage, kPage, &second));
  CHECK_IS(BK_OK, bk_pin_wait(second, kLong));
  CHECK(pins_now().pinned_bytes == budget && pins_now().skipped_bytes == kPage);
  CHECK_IS(BK_OK, bk_pin_drop(first));
  while (pins_now().skipped_bytes != 0 || pins_now().waiting_bytes != 0) std::this_thread::yield();  // there is room now
  CHECK(pins_now().pinned_bytes == budget - kPage);
  CHECK_IS(BK_OK, bk_pin_drop(second));
  CHECK_IS(BK_E_INVAL, bk_pin_add(pages.at + 1, kPage, &first));
  CHECK_IS(BK_E_INVAL, bk_pin_add(pages.at, UINT64_MAX & ~(kPage - 1), &first));
  configure(BK_PIN_AUTO);
}

STUB_TEST(What_the_driver_refuses_to_pin_is_copied_all_the_same_and_tried_again) {
  configure(BK_PIN_AUTO, 1 << 30, 1 * kMs);
  const DeviceRegion device(kPage);
  Pages pages(kPage);
  const uint64_t failures = pins_now().failures;
  stub_fail("cuMemHostRegister_v2", 1, kFailed, 1);
  bk_pin pin = 0;
  CHECK_IS(BK_OK, bk_pin_add(pages.at, kPage, &pin));
  CHECK_IS(BK_OK, bk_pin_wait(pin, kLong));
  while (pins_now().pinned_bytes == 0) std::this_thread::yield();
  CHECK(pins_now().failures == failures + 1);
  CHECK_IS(BK_OK, bk_copy(device.at, pages.at, kPage));
  CHECK_IS(BK_OK, bk_pin_drop(pin));
  configure(BK_PIN_AUTO);
}
