#include "stub_driver.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace {

constexpr int kInvalidValue = 1, kInvalidContext = 201, kAlreadyRegistered = 712, kNotRegistered = 713, kInvalidDevice = 101;

struct Memory {
  uint64_t bytes;
  int device;
  bool is_managed;
  char* look;
};
struct Fault {
  uint64_t nth, times;
  int result;
};

std::mutex s_mutex;
std::map<std::string, uint64_t> s_calls;
std::map<std::string, Fault> s_faults;
std::map<char*, Memory> s_memory;
std::map<char*, uint64_t> s_registered;
int s_retained = 0;
int s_contexts[kStubDevices];
thread_local std::vector<void*> s_stack;

int called(const char* name) {
  const std::lock_guard guard(s_mutex);
  ++s_calls[name];
  const auto found = s_faults.find(name);
  if (found == s_faults.end() || found->second.times == 0) return 0;
  if (found->second.nth-- > 1) return 0;
  found->second.nth = 1;
  --found->second.times;
  return found->second.result;
}

// Where the bytes of this place lie, if it is memory of a device; else the place itself.
char* behind(uint64_t address) {
  auto* const at = reinterpret_cast<char*>(address);
  const std::lock_guard guard(s_mutex);
  auto found = s_memory.upper_bound(at);
  if (found == s_memory.begin()) return at;
  --found;
  return at < found->first + found->second.bytes ? found->second.look + (at - found->first) : at;
}

}  // namespace

extern "C" {

char* stub_memory(int device, uint64_t bytes, bool is_managed) {
  const int file = memfd_create("device", MFD_CLOEXEC);
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  auto* const at = static_cast<char*>(mmap(nullptr, bytes, is_managed ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, file, 0));
  auto* const look = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  close(file);
  const std::lock_guard guard(s_mutex);
  s_memory[at] = {bytes, device, is_managed, look};
  return at;
}

void stub_free(char* at) {
  const std::lock_guard guard(s_mutex);
  munmap(at, s_memory[at].bytes);
  munmap(s_memory[at].look, s_memory[at].bytes);
  s_memory.erase(at);
}

char* stub_look(char* at) { return behind(reinterpret_cast<uintptr_t>(at)); }

uint64_t stub_calls(const char* name) {
  const std::lock_guard guard(s_mutex);
  if (name) return s_calls[name];
  uint64_t all = 0;
  for (const auto& [each, count] : s_calls) all += count;
  return all;
}

void stub_fail(const char* name, uint64_t nth, int result, uint64_t times) {
  const std::lock_guard guard(s_mutex);
  s_faults[name] = {nth, times, result};
}

int stub_depth() { return static_cast<int>(s_stack.size()); }

int stub_retained() {
  const std::lock_guard guard(s_mutex);
  return s_retained;
}

uint64_t stub_registered() {
  const std::lock_guard guard(s_mutex);
  uint64_t all = 0;
  for (const auto& [at, bytes] : s_registered) all += bytes;
  return all;
}

#define ENTER()                                         \
  if (const int failed = called(__func__); failed != 0) \
  return failed

int cuInit(unsigned) {
  ENTER();
  return 0;
}

int cuDeviceGetCount(int* count) {
  ENTER();
  *count = kStubDevices;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  ENTER();
  *device = ordinal;
  return ordinal >= 0 && ordinal < kStubDevices ? 0 : kInvalidDevice;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  ENTER();
  const std::lock_guard guard(s_mutex);
  ++s_retained;
  *context = &s_contexts[device];
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  ENTER();
  const std::lock_guard guard(s_mutex);
  --s_retained;
  return 0;
}

int cuCtxPushCurrent_v2(void* context) {
  ENTER();
  s_stack.push_back(context);
  return 0;
}

int cuCtxPopCurrent_v2(void** context) {
  ENTER();
  if (s_stack.empty()) return kInvalidContext;
  *context = s_stack.back();
  s_stack.pop_back();
  return 0;
}

int cuPointerGetAttributes(unsigned count, int* names, void** values, unsigned long long address) {
  ENTER();
  auto* const at = reinterpret_cast<char*>(address);
  const std::lock_guard guard(s_mutex);
  const auto find = [at](const auto& all, const auto& bytes_of) {
    auto found = all.upper_bound(at);
    if (found == all.begin()) return all.end();
    --found;
    return at < found->first + bytes_of(found->second) ? found : all.end();
  };
  const auto memory = find(s_memory, [](const Memory& one) { return one.bytes; });
  const bool is_registered = find(s_registered, [](uint64_t bytes) { return bytes; }) != s_registered.end();
  if (memory == s_memory.end() && !is_registered) return kInvalidValue;
  for (unsigned each = 0; each < count; ++each) {
    if (names[each] == 2) *static_cast<unsigned*>(values[each]) = is_registered ? 1 : 2;
    if (names[each] == 8) *static_cast<unsigned*>(values[each]) = !is_registered && memory->second.is_managed;
    if (names[each] == 9) *static_cast<int*>(values[each]) = is_registered ? 0 : memory->second.device;
  }
  return 0;
}

int cuMemHostRegister_v2(void* at, size_t bytes, unsigned) {
  ENTER();
  if (s_stack.empty()) return kInvalidContext;
  const std::lock_guard guard(s_mutex);
  return s_registered.emplace(static_cast<char*>(at), bytes).second ? 0 : kAlreadyRegistered;
}

int cuMemHostUnregister(void* at) {
  ENTER();
  const std::lock_guard guard(s_mutex);
  return s_registered.erase(static_cast<char*>(at)) == 1 ? 0 : kNotRegistered;
}

int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes, void*) {
  ENTER();
  if (s_stack.empty()) return kInvalidContext;
  memcpy(behind(to), behind(from), bytes);
  return 0;
}

int cuStreamCreate(void** stream, unsigned) {
  ENTER();
  *stream = new char;
  return 0;
}

int cuStreamSynchronize(void*) {
  ENTER();
  return 0;
}

int cuStreamDestroy_v2(void* stream) {
  ENTER();
  delete static_cast<char*>(stream);
  return 0;
}

int cuEventCreate(void** event, unsigned) {
  ENTER();
  *event = new char;
  return 0;
}

int cuEventRecord(void*, void*) {
  ENTER();
  return 0;
}

int cuEventSynchronize(void*) {
  ENTER();
  return 0;
}

int cuEventDestroy_v2(void* event) {
  ENTER();
  delete static_cast<char*>(event);
  return 0;
}

int cuGetErrorName(int, const char** name) {
  *name = "STUB_ERROR";
  return 0;
}

}
