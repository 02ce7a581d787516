// Memory of devices, by the driver's own interface (libcuda), which is opened when the first region of a device is, and never before.
//   D1  Whatever is done with a device leaves the thread's current context as it was, also when it fails.
//   D2  What kind of memory something is, is asked of the driver once for each region, and never concluded from an address.
//   D3  Nothing that was begun is under way any more when a copy has ended, also when it has failed: else its lane is not used again.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "garnet_bulk.h"

namespace garnet::bulk {

// What of the driver's interface is used here, in our own words: handles are pointers or numbers, and 0 is success.
using DriverResult = int;
using DriverAddress = unsigned long long;
struct Driver {
  DriverResult (*init)(unsigned flags);
  DriverResult (*device_count)(int* count);
  DriverResult (*device_get)(int* device, int ordinal);
  DriverResult (*retain)(void** context, int device);
  DriverResult (*release)(int device);
  DriverResult (*push)(void* context);
  DriverResult (*pop)(void** context);
  DriverResult (*attributes)(unsigned count, int* names, void** values, DriverAddress address);
  DriverResult (*host_register)(void* at, size_t bytes, unsigned flags);
  DriverResult (*host_unregister)(void* at);
  DriverResult (*copy)(DriverAddress to, DriverAddress from, size_t bytes, void* stream);
  DriverResult (*stream_create)(void** stream, unsigned flags);
  DriverResult (*stream_wait)(void* stream);
  DriverResult (*stream_destroy)(void* stream);
  DriverResult (*event_create)(void** event, unsigned flags);
  DriverResult (*event_record)(void* event, void* stream);
  DriverResult (*event_wait)(void* event);
  DriverResult (*event_destroy)(void* event);
  DriverResult (*error_name)(DriverResult result, const char** name);

  // Opens it; why it cannot be is this thread's last error.
  static const Driver* open();
  // The one that is open already, or null.
  static const Driver* opened();
};

bk_status fail_by_driver(const Driver& driver, const char* what, DriverResult result);

// A device's primary context, which is the application's too, kept for as long as somebody has this.
class Device {
 public:
  // By its number; it is found again for as long as anybody has it.
  static bk_status open(int ordinal, std::shared_ptr<Device>& device);
  // Any that is open, or null.
  static std::shared_ptr<Device> any();
  Device(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  // One side is memory of this device; `is_pinned` says whether the driver knows the other one.
  bk_status copy(void* to, const void* from, uint64_t bytes, bool to_device, bool is_pinned);
  bk_status pin(void* at, uint64_t bytes);
  // True: nothing of the driver's is left there.
  bool unpin(void* at);

 private:
  struct Lane {
    void* stream = nullptr;
    void* events[2] = {};
    char* windows = nullptr;
    bool is_pinned = false;
  };
  bk_status open();
  bk_status take_lane(Lane*& lane);
  bk_status open_lane(Lane& lane);
  void close_lane(Lane& lane);
  void give_lane(Lane* lane, bool is_quiet);
  bk_status carry(Lane& lane, void* to, const void* from, uint64_t bytes, bool to_device);

  const Driver& driver_;
  const int ordinal_;
  int device_ = 0;
  void* context_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Lane>> unused_;
  uint32_t lanes_ = 0;
};

// The context is current for as long as this is there (D1).
class Current {
 public:
  Current(const Driver& driver, void* context) : driver_(driver), result_(driver.push(context)) {}
  ~Current() {
    void* mine = nullptr;
    if (result_ == 0) driver_.pop(&mine);
  }
  Current(const Current&) = delete;
  DriverResult result() const { return result_; }

 private:
  const Driver& driver_;
  const DriverResult result_;
};

// A range of a device's memory that a region names.
struct DeviceMemory {
  std::shared_ptr<Device> device;
  char* base = nullptr;
  uint64_t bytes = 0;
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory();
};

// `name` is "cuda:" and the device's number.
bk_status open_device_memory(std::string_view name, void* base, uint64_t bytes, std::shared_ptr<DeviceMemory>& memory);

// Of `device`'s memory, at either side, and the host's; null: of the host's alone.
bk_status copy_known(DeviceMemory* device, void* to, const void* from, uint64_t bytes, bool is_pinned);
// Whose memory either side is, is looked up.
bk_status copy_any(void* to, const void* from, uint64_t bytes);
bk_status memory_kind(const void* at, bk_memory_fact& fact);

// Memory of the library's own that a driver pins where it can.
class PinnedWindow {
 public:
  void pin(DeviceMemory& memory, void* at, uint64_t bytes);
  bool is_pinned() const { return is_pinned_; }
  // True: it may be given back.
  bool release();

 private:
  std::shared_ptr<Device> device_;
  void* at_ = nullptr;
  bool is_pinned_ = false;
};

}  // namespace garnet::bulk
