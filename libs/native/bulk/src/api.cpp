// The C interface: looks handles and sizes up, and lets no exception out.
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <system_error>

#include "endpoint.h"
#include "fault.h"
#include "pins.h"
#include "segment.h"

namespace garnet::bulk {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

uint64_t random_key() {
  uint64_t key = 0;
  while (getrandom(&key, sizeof key, 0) < 0 && errno == EINTR) {
  }
  return key;
}

namespace {

constexpr ProviderKind kKinds[] = {
    {"loop", judge_loop, make_loop},    {"local", judge_local, make_local},  {"tcp", judge_fabric, make_fabric},
    {"net", judge_fabric, make_fabric}, {"shm", judge_fabric, make_fabric}, {"verbs", judge_fabric, make_fabric},
};
constexpr uint32_t kRingMax = 65536;
constexpr uint64_t kBindMax = 255;  // a name of the domain system is not longer

struct Endpoints {
  std::mutex mutex;
  Slots<std::shared_ptr<Endpoint>> slots;
};

// Never destroyed: a thread of an endpoint that nobody closed may outlive the process's end.
Endpoints& endpoints() {
  static auto* const all = new Endpoints;
  return *all;
}

std::shared_ptr<Endpoint> find(bk_endpoint handle) {
  const std::lock_guard guard(endpoints().mutex);
  const auto* found = endpoints().slots.find(handle);
  return found ? *found : nullptr;
}

template <typename Call>
bk_status guarded(Call call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return BK_E_NOMEM;
  } catch (const std::system_error&) {
    return BK_E_NOMEM;  // a thread or a lock that is not to be had
  }
}

template <typename Call>
bk_status with(bk_endpoint handle, Call call) noexcept {
  return guarded([&] {
    const std::shared_ptr<Endpoint> endpoint = find(handle);
    return endpoint ? call(*endpoint) : fail(BK_E_HANDLE, "no such endpoint");
  });
}

// What an older caller's structure lacks is 0; what a newer one has beyond ours is not looked at.
template <typename Struct>
bool read_struct(const Struct* from, uint32_t least, Struct& to) {
  if (!from || from->size < least) return false;
  to = {};
  memcpy(&to, from, std::min<size_t>(from->size, sizeof to));
  return true;
}

template <typename Struct>
bool write_struct(Struct from, Struct* to) {
  if (!to || to->size < sizeof(uint32_t) * 2) return false;
  from.size = to->size;
  memcpy(to, &from, std::min<size_t>(to->size, sizeof from));
  return true;
}

uint64_t copy_text(const std::string& text, char* to, uint64_t capacity) {
  if (to && capacity != 0) {
    const uint64_t length = std::min<uint64_t>(text.size(), capacity - 1);
    memcpy(to, text.data(), length);
    to[length] = 0;
  }
  return text.size();
}

bk_status bad_struct() { return fail(BK_E_INVAL, "a structure is missing, or says a size that is too small"); }

bk_status open_endpoint(const bk_endpoint_config& config, bk_endpoint* out) {
  const uint32_t ring = config.ring_entries;
  if (ring > kRingMax || (ring & (ring - 1)) != 0) return fail(BK_E_INVAL, "ring_entries is no power of two, or more than 65,536");
  if (config.bind && config.bind_bytes > kBindMax) return fail(BK_E_INVAL, "not an address of this machine");
  if (config.flags & ~(BK_EXPOSES | BK_VIRTUAL_CLOCK)) return fail(BK_E_INVAL, "no such flag");
  const std::string_view name(config.provider ? config.provider : "", config.provider ? config.provider_bytes : 0);
  const auto* kind = std::ranges::find_if(kKinds, [name](const ProviderKind& known) { return known.name == name; });
  if (kind == std::end(kKinds)) return fail(BK_E_UNSUPPORTED, "no such provider");
  if ((config.flags & BK_VIRTUAL_CLOCK) && name != "loop") return fail(BK_E_INVAL, "only `loop` has a clock of its own");
  std::string reason;
  if (const bk_status judged = kind->judge(kind->name, reason); judged != BK_OK) return fail(judged, reason);
  auto endpoint = std::make_shared<Endpoint>(config);
  if (const bk_status opened = endpoint->open(*kind); opened != BK_OK) return opened;
  const std::lock_guard guard(endpoints().mutex);
  *out = endpoints().slots.add(std::move(endpoint));
  return BK_OK;
}

bk_status submit(bk_endpoint endpoint, const bk_transfer* transfer, bool writes, bk_op* op) {
  return with(endpoint, [&](Endpoint& found) {
    bk_transfer asked;
    return read_struct(transfer, sizeof asked, asked) ? found.submit(asked, writes, op) : bad_struct();
  });
}

}  // namespace
}  // namespace garnet::bulk

using namespace garnet::bulk;

uint32_t bk_abi_version(void) { return BK_ABI_VERSION; }

const char* bk_error_name(bk_status status) {
  switch (status) {
    case BK_OK: return "OK";
    case BK_E_INVAL: return "INVAL";
    case BK_E_HANDLE: return "HANDLE";
    case BK_E_NOMEM: return "NOMEM";
    case BK_E_AGAIN: return "AGAIN";
    case BK_E_TIMEOUT: return "TIMEOUT";
    case BK_E_CANCELED: return "CANCELED";
    case BK_E_KEY: return "KEY";
    case BK_E_RANGE: return "RANGE";
    case BK_E_PEER: return "PEER";
    case BK_E_UNSUPPORTED: return "UNSUPPORTED";
    case BK_E_BUSY: return "BUSY";
    case BK_E_IO: return "IO";
    case BK_E_DEVICE: return "DEVICE";
    case BK_E_CLOSED: return "CLOSED";
    case BK_E_VERSION: return "VERSION";
    case BK_E_POISONED: return "POISONED";
    case BK_E_DENIED: return "DENIED";
    default: return "UNKNOWN";
  }
}

uint64_t bk_last_error(char* text, uint64_t capacity) { return copy_text(last_error(), text, capacity); }

bk_status bk_provider_at(uint32_t index, bk_provider_fact* fact) {
  return guarded([&] {
    if (index >= std::size(kKinds)) return fail(BK_E_RANGE, "there are no more providers");
    bk_provider_fact known{};
    std::string reason;
    known.status = kKinds[index].judge(kKinds[index].name, reason);
    copy_text(kKinds[index].name, known.name, sizeof known.name);
    copy_text(reason, known.reason, sizeof known.reason);
    return write_struct(known, fact) ? static_cast<bk_status>(BK_OK) : bad_struct();
  });
}

bk_status bk_endpoint_open(const bk_endpoint_config* config, bk_endpoint* endpoint) {
  return guarded([&] {
    bk_endpoint_config read;
    if (!endpoint || !read_struct(config, sizeof read, read)) return bad_struct();
    return open_endpoint(read, endpoint);
  });
}

bk_status bk_endpoint_address(bk_endpoint endpoint, void* address, uint64_t* bytes) {
  return with(endpoint, [&](Endpoint& found) {
    if (!bytes) return bad_struct();
    const std::string own = found.address();
    const bool fits = address && *bytes >= own.size();
    *bytes = own.size();
    if (!fits) return fail(BK_E_RANGE, "the address is longer");
    memcpy(address, own.data(), own.size());
    return static_cast<bk_status>(BK_OK);
  });
}

bk_status bk_endpoint_figures(bk_endpoint endpoint, bk_figures* figures) {
  return with(endpoint, [&](Endpoint& found) {
    bk_figures known{};
    found.figures(known);
    return write_struct(known, figures) ? static_cast<bk_status>(BK_OK) : bad_struct();
  });
}

bk_status bk_endpoint_close(bk_endpoint endpoint, uint64_t limit_ns) {
  return with(endpoint, [&](Endpoint& found) { return found.close(limit_ns); });
}

bk_status bk_endpoint_free(bk_endpoint endpoint) {
  std::shared_ptr<Endpoint> last;  // destroyed outside the lock
  return guarded([&] {
    const std::lock_guard guard(endpoints().mutex);
    const auto* found = endpoints().slots.find(endpoint);
    if (!found) return fail(BK_E_HANDLE, "no such endpoint");
    if (!(*found)->is_closed()) return fail(BK_E_BUSY, "close it first");
    last = endpoints().slots.take(endpoint);
    return static_cast<bk_status>(BK_OK);
  });
}

bk_status bk_segment_open(const bk_segment_config* config, bk_segment* segment, void** at) {
  return guarded([&] {
    bk_segment_config read;
    if (!segment || !at || !read_struct(config, sizeof read, read)) return bad_struct();
    if (read.flags & ~BK_SEGMENT_PIN) return fail(BK_E_INVAL, "no such flag");
    return open_segment(read.bytes, (read.flags & BK_SEGMENT_PIN) != 0, segment, at);
  });
}

bk_status bk_segment_close(bk_segment segment) {
  return guarded([&] { return close_segment(segment); });
}

bk_status bk_peer_add(bk_endpoint endpoint, const void* address, uint64_t bytes, uint64_t limit_ns, bk_peer* peer) {
  return with(endpoint, [&](Endpoint& found) {
    if (!peer || !address) return bad_struct();
    return found.add_peer({static_cast<const char*>(address), bytes}, limit_ns, peer);
  });
}

bk_status bk_peer_drop(bk_endpoint endpoint, bk_peer peer, uint64_t limit_ns) {
  return with(endpoint, [&](Endpoint& found) { return found.drop_peer(peer, limit_ns); });
}

bk_status bk_region_open(bk_endpoint endpoint, const bk_region_config* config, bk_region* region, bk_region_name* name) {
  return with(endpoint, [&](Endpoint& found) {
    bk_region_config read;
    bk_region_name unasked;
    if (!region || !read_struct(config, offsetof(bk_region_config, device), read)) return bad_struct();
    if (!read.device) read.device_bytes = 0;
    return found.open_region(read, region, name ? name : &unasked);
  });
}

bk_status bk_region_close(bk_endpoint endpoint, bk_region region, uint64_t limit_ns) {
  return with(endpoint, [&](Endpoint& found) { return found.close_region(region, limit_ns); });
}

bk_status bk_read(bk_endpoint endpoint, const bk_transfer* transfer, bk_op* op) { return submit(endpoint, transfer, false, op); }

bk_status bk_write(bk_endpoint endpoint, const bk_transfer* transfer, bk_op* op) { return submit(endpoint, transfer, true, op); }

bk_status bk_cancel(bk_endpoint endpoint, bk_op op) {
  return with(endpoint, [&](Endpoint& found) { return found.cancel(op); });
}

bk_status bk_endpoint_ring(bk_endpoint endpoint, bk_ring* ring) {
  return with(endpoint, [&](Endpoint& found) {
    bk_ring known{};
    found.ring().describe(known);
    return write_struct(known, ring) ? static_cast<bk_status>(BK_OK) : bad_struct();
  });
}

bk_status bk_wait(bk_endpoint endpoint, uint64_t limit_ns) {
  return with(endpoint, [&](Endpoint& found) { return found.ring().wait(limit_ns); });
}

bk_status bk_take(bk_endpoint endpoint, bk_completion* out, uint32_t capacity, uint64_t limit_ns, uint32_t* taken) {
  return with(endpoint, [&](Endpoint& found) { return taken && (out || !capacity) ? found.ring().take(out, capacity, limit_ns, taken) : bad_struct(); });
}

uint64_t bk_provider_text(bk_endpoint endpoint, int32_t provider_error, char* text, uint64_t capacity) {
  uint64_t length = 0;
  with(endpoint, [&](Endpoint& found) {
    length = copy_text(found.text_of(provider_error), text, capacity);
    return static_cast<bk_status>(BK_OK);
  });
  return length;
}

bk_status bk_copy(void* to, const void* from, uint64_t bytes) {
  return guarded([&] { return copy_any(to, from, bytes); });
}

bk_status bk_memory_kind(const void* at, bk_memory_fact* fact) {
  return guarded([&] {
    bk_memory_fact known{};
    const bk_status asked = memory_kind(at, known);
    return write_struct(known, fact) ? asked : bad_struct();
  });
}

bk_status bk_pin_configure(const bk_pin_config* config) {
  return guarded([&] {
    bk_pin_config read;
    return read_struct(config, sizeof read, read) ? Pins::get().configure(read) : bad_struct();
  });
}

bk_status bk_pin_add(void* at, uint64_t bytes, bk_pin* pin) {
  return guarded([&] { return pin ? Pins::get().add(at, bytes, pin) : bad_struct(); });
}

bk_status bk_pin_wait(bk_pin pin, uint64_t limit_ns) {
  return guarded([&] { return Pins::get().wait(pin, limit_ns); });
}

bk_status bk_pin_drop(bk_pin pin) {
  return guarded([&] { return Pins::get().drop(pin); });
}

bk_status bk_pin_figures(bk_pins* figures) {
  return guarded([&] {
    bk_pins known{};
    Pins::get().figures(known);
    return write_struct(known, figures) ? static_cast<bk_status>(BK_OK) : bad_struct();
  });
}

bk_status bk_loop_script(bk_endpoint endpoint, const bk_loop_fault* fault) {
  return with(endpoint, [&](Endpoint& found) {
    bk_loop_fault read;
    return read_struct(fault, sizeof read, read) ? found.script(read) : bad_struct();
  });
}

bk_status bk_loop_advance(bk_endpoint endpoint, uint64_t ns) {
  return with(endpoint, [&](Endpoint& found) { return found.advance(ns); });
}
