#include "device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "fault.h"
#include "pins.h"
#include "provider.h"

namespace garnet::bulk {

namespace {

constexpr uint64_t kLaneWindow = 4 << 20;
constexpr uint32_t kLanesMax = 4;  // of a device: as many copies at once, the others wait
constexpr std::string_view kPrefix = "cuda:";

constexpr unsigned kStreamOfItsOwn = 1, kEventBlocks = 1, kEventHasNoTime = 2, kPortable = 1;
constexpr DriverResult kInvalidValue = 1, kIsLeaving = 4;
constexpr int kMemoryType = 2, kIsManaged = 8, kOrdinal = 9;
constexpr unsigned kTypeHost = 1, kTypeDevice = 2;

// What is open, by its place; who looks something up takes it along.
struct All {
  std::mutex mutex;
  std::vector<std::weak_ptr<Device>> devices;
  std::vector<const DeviceMemory*> memories;
  std::vector<const void*> lost;  // lanes that are not used again, and still the driver's
};

All& all() {
  static auto* const the = new All;
  return *the;
}

struct Kind {
  uint32_t kind = BK_MEMORY_HOST;
  int device = -1;
};

// D2. Of a place that the driver does not know it says either that, or nothing.
bk_status ask(const Driver& driver, const void* at, Kind& kind) {
  unsigned type = 0, managed = 0;
  int ordinal = -1;
  int names[] = {kMemoryType, kIsManaged, kOrdinal};
  void* values[] = {&type, &managed, &ordinal};
  const DriverResult result = driver.attributes(3, names, values, reinterpret_cast<uintptr_t>(at));
  if (result == kInvalidValue || (result == 0 && type == 0)) return BK_OK;
  if (result != 0) return fail_by_driver(driver, "cuPointerGetAttributes", result);
  kind.kind = managed ? BK_MEMORY_MANAGED : type == kTypeHost ? BK_MEMORY_PINNED : type == kTypeDevice ? BK_MEMORY_DEVICE : BK_MEMORY_HOST;
  kind.device = kind.kind == BK_MEMORY_HOST || kind.kind == BK_MEMORY_PINNED ? -1 : ordinal;
  return BK_OK;
}

// The open region's range that this lies in, all of it; null: it touches none.
bk_status find_memory(const void* at, uint64_t bytes, std::shared_ptr<Device>& device) {
  const std::lock_guard guard(all().mutex);
  for (const DeviceMemory* memory : all().memories) {
    const auto begin = reinterpret_cast<uintptr_t>(at), base = reinterpret_cast<uintptr_t>(memory->base);
    if (begin >= base + memory->bytes || base >= after(begin, bytes)) continue;
    if (!lies_in(begin - base, bytes, memory->bytes)) return fail(BK_E_RANGE, "not inside the region of the device's memory");
    device = memory->device;
    return BK_OK;
  }
  return BK_OK;
}

}  // namespace

bk_status Device::open(int ordinal, std::shared_ptr<Device>& device) {
  const Driver* const driver = Driver::open();
  if (!driver) return BK_E_UNSUPPORTED;
  const std::lock_guard guard(all().mutex);
  std::erase_if(all().devices, [](const auto& known) { return known.expired(); });
  for (const auto& known : all().devices) {
    const std::shared_ptr<Device> kept = known.lock();
    if (kept && kept->ordinal_ == ordinal) {
      device = kept;
      return BK_OK;
    }
  }
  auto made = std::make_shared<Device>(*driver, ordinal);
  if (const bk_status opened = made->open(); opened != BK_OK) return opened;
  all().devices.push_back(made);
  device = std::move(made);
  return BK_OK;
}

std::shared_ptr<Device> Device::any() {
  const std::lock_guard guard(all().mutex);
  for (const auto& known : all().devices)
    if (std::shared_ptr<Device> kept = known.lock()) return kept;
  return nullptr;
}

bk_status Device::open() {
  DriverResult result = driver_.device_get(&device_, ordinal_);
  if (result != 0) return fail_by_driver(driver_, "no such device", result);
  void* context = nullptr;
  if ((result = driver_.retain(&context, device_)) != 0) return fail_by_driver(driver_, "cuDevicePrimaryCtxRetain", result);
  context_ = context;
  return BK_OK;
}

Device::~Device() {
  if (!context_) return;
  {
    const Current current(driver_, context_);
    for (const auto& lane : unused_) close_lane(*lane);
  }
  driver_.release(device_);
}

bk_status Device::open_lane(Lane& lane) {
  void* mapped = mmap(nullptr, 2 * kLaneWindow, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) return fail_by_errno(BK_E_NOMEM, "windows of a device", errno);
  lane.windows = static_cast<char*>(mapped);
  DriverResult result = driver_.stream_create(&lane.stream, kStreamOfItsOwn);
  for (void*& event : lane.events)
    if (result == 0) result = driver_.event_create(&event, kEventBlocks | kEventHasNoTime);
  if (result != 0) return fail_by_driver(driver_, "a stream of the device", result);
  lane.is_pinned = Pins::get().allows() && driver_.host_register(lane.windows, 2 * kLaneWindow, kPortable) == 0;
  return BK_OK;
}

void Device::close_lane(Lane& lane) {
  for (void* event : lane.events)
    if (event) driver_.event_destroy(event);
  if (lane.stream) driver_.stream_destroy(lane.stream);
  DriverResult result = 0;
  if (lane.is_pinned) result = driver_.host_unregister(lane.windows);
  const bool is_free = result == 0 || result == kIsLeaving;
  if (lane.windows && is_free) munmap(lane.windows, 2 * kLaneWindow);
  if (!is_free) Pins::get().count_leaked(2 * kLaneWindow);
}

bk_status Device::take_lane(Lane*& lane) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !unused_.empty() || lanes_ < kLanesMax; });
  if (!unused_.empty()) {
    lane = unused_.back().release();
    unused_.pop_back();
    return BK_OK;
  }
  ++lanes_;
  lock.unlock();
  auto made = std::make_unique<Lane>();
  const bk_status opened = open_lane(*made);
  if (opened == BK_OK) {
    lane = made.release();
    return BK_OK;
  }
  close_lane(*made);
  lock.lock();
  --lanes_;
  changed_.notify_one();
  return opened;
}

// D3: what may still write into its windows keeps them.
void Device::give_lane(Lane* lane, bool is_quiet) {
  const std::lock_guard guard(mutex_);
  if (is_quiet) unused_.emplace_back(lane);
  else {
    --lanes_;
    Pins::get().count_leaked(2 * kLaneWindow);
    const std::lock_guard keeping(all().mutex);
    all().lost.push_back(lane);
  }
  changed_.notify_one();
}

// Two windows, one of which the device fills or empties while the other one is the host's.
bk_status Device::carry(Lane& lane, void* to, const void* from, uint64_t bytes, bool to_device) {
  DriverResult result = 0;
  uint64_t begun = 0, ended = 0;
  const auto length_at = [bytes](uint64_t at) { return std::min(kLaneWindow, bytes - at); };
  const auto window_at = [&lane](uint64_t at) { return lane.windows + (at / kLaneWindow % 2) * kLaneWindow; };
  while (ended < bytes && result == 0) {
    if (begun < bytes && begun - ended < 2 * kLaneWindow) {
      char* const window = window_at(begun);
      const uint64_t length = length_at(begun);
      const auto device = reinterpret_cast<uintptr_t>(to_device ? to : from) + begun, host = reinterpret_cast<uintptr_t>(window);
      if (to_device) memcpy(window, static_cast<const char*>(from) + begun, length);
      result = driver_.copy(to_device ? device : host, to_device ? host : device, length, lane.stream);
      if (result == 0) result = driver_.event_record(lane.events[begun / kLaneWindow % 2], lane.stream);
      begun += length;
      continue;
    }
    result = driver_.event_wait(lane.events[ended / kLaneWindow % 2]);
    if (result == 0 && !to_device) memcpy(static_cast<char*>(to) + ended, window_at(ended), length_at(ended));
    ended += length_at(ended);
  }
  return result == 0 ? static_cast<bk_status>(BK_OK) : fail_by_driver(driver_, "a copy of the device", result);
}

bk_status Device::copy(void* to, const void* from, uint64_t bytes, bool to_device, bool is_pinned) {
  const Current current(driver_, context_);
  if (current.result() != 0) return fail_by_driver(driver_, "cuCtxPushCurrent", current.result());
  Lane* lane = nullptr;
  if (const bk_status taken = take_lane(lane); taken != BK_OK) return taken;
  bk_status copied = BK_OK;
  if (is_pinned) {
    const DriverResult result = driver_.copy(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes, lane->stream);
    if (result != 0) copied = fail_by_driver(driver_, "a copy of the device", result);
  } else copied = carry(*lane, to, from, bytes, to_device);
  const DriverResult quiet = driver_.stream_wait(lane->stream);
  give_lane(lane, quiet == 0);
  return copied == BK_OK && quiet != 0 ? fail_by_driver(driver_, "a copy of the device", quiet) : copied;
}

bk_status Device::pin(void* at, uint64_t bytes) {
  const Current current(driver_, context_);
  DriverResult result = current.result();
  if (result == 0) result = driver_.host_register(at, bytes, kPortable);
  return result == 0 ? static_cast<bk_status>(BK_OK) : fail_by_driver(driver_, "cuMemHostRegister", result);
}

bool Device::unpin(void* at) {
  const Current current(driver_, context_);
  DriverResult result = current.result();
  if (result == 0) result = driver_.host_unregister(at);
  return result == 0 || result == kIsLeaving;
}

DeviceMemory::~DeviceMemory() {
  const std::lock_guard guard(all().mutex);
  std::erase(all().memories, this);
}

bk_status open_device_memory(std::string_view name, void* base, uint64_t bytes, std::shared_ptr<DeviceMemory>& memory) {
  int ordinal = -1;
  const char* const end = name.data() + name.size();
  if (!name.starts_with(kPrefix) || name.size() > 16) return fail(BK_E_UNSUPPORTED, "no such kind of device");
  const auto [read, error] = std::from_chars(name.data() + kPrefix.size(), end, ordinal);
  if (error != std::errc() || read != end || ordinal < 0) return fail(BK_E_INVAL, "not the name of a device");
  auto made = std::make_shared<DeviceMemory>();
  if (const bk_status opened = Device::open(ordinal, made->device); opened != BK_OK) return opened;
  Kind kind;
  if (const bk_status asked = ask(made->device->driver(), base, kind); asked != BK_OK) return asked;
  const bool is_there = kind.kind == BK_MEMORY_DEVICE || kind.kind == BK_MEMORY_MANAGED;
  if (!is_there || kind.device != ordinal) return fail(BK_E_INVAL, "this is no memory of this device");
  made->base = static_cast<char*>(base);
  made->bytes = bytes;
  {
    const std::lock_guard guard(all().mutex);
    all().memories.push_back(made.get());
  }
  memory = std::move(made);
  Pins::get().heed_device();
  return BK_OK;
}

bk_status copy_known(DeviceMemory* device, void* to, const void* from, uint64_t bytes, bool is_pinned) {
  if (bytes == 0) return BK_OK;
  if (!device) {
    memmove(to, from, bytes);
    return BK_OK;
  }
  const bool to_device = lies_in(reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(device->base), bytes, device->bytes);
  return device->device->copy(to, from, bytes, to_device, is_pinned);
}

bk_status copy_any(void* to, const void* from, uint64_t bytes) {
  if (bytes == 0) return BK_OK;
  if (!to || !from) return fail(BK_E_INVAL, "no such memory");
  if (bytes > UINT64_MAX - reinterpret_cast<uintptr_t>(to) || bytes > UINT64_MAX - reinterpret_cast<uintptr_t>(from)) return fail(BK_E_INVAL, "no such memory");
  const Driver* const driver = Driver::opened();
  std::shared_ptr<Device> there, here;
  bk_status found = driver ? find_memory(to, bytes, there) : static_cast<bk_status>(BK_OK);
  if (found == BK_OK && driver) found = find_memory(from, bytes, here);
  if (found != BK_OK) return found;
  if (there && here) return there->copy(to, from, bytes, true, true);
  // Of what no region names the driver is asked: it may be a device's all the same, which ends whoever touches it.
  bool is_pinned = false;
  for (const void* at : {there ? nullptr : static_cast<const void*>(to), here ? nullptr : from}) {
    Kind kind;
    if (!driver || !at) continue;
    if (Pins::get().covers(at, bytes)) kind.kind = BK_MEMORY_PINNED;
    else if (const bk_status asked = ask(*driver, at, kind); asked != BK_OK) return asked;
    if (kind.kind == BK_MEMORY_DEVICE) return fail(BK_E_DEVICE, "memory of a device that no open region names");
    is_pinned |= kind.kind == BK_MEMORY_PINNED;
  }
  if (there) return there->copy(to, from, bytes, true, is_pinned);
  if (here) return here->copy(to, from, bytes, false, is_pinned);
  memmove(to, from, bytes);
  return BK_OK;
}

bk_status memory_kind(const void* at, bk_memory_fact& fact) {
  Kind kind;
  const Driver* const driver = Driver::opened();
  const bk_status asked = driver ? ask(*driver, at, kind) : static_cast<bk_status>(BK_OK);
  fact.kind = kind.kind;
  fact.device = kind.device;
  return asked;
}

// Windows first: all that goes to and from a device without its own memory being pinned goes through them.
void PinnedWindow::pin(DeviceMemory& memory, void* at, uint64_t bytes) {
  if (device_ || !Pins::get().allows()) return;
  device_ = memory.device;
  at_ = at;
  is_pinned_ = device_->pin(at, bytes) == BK_OK;
}

bool PinnedWindow::release() { return !std::exchange(is_pinned_, false) || device_->unpin(at_); }

}  // namespace garnet::bulk
