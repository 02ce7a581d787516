// The C interface of include/garnet_client.h over the connection, and over libgarnet-bulk where the server reaches this process's memory.
#include <garnet_bulk.h>
#include <garnet_client.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "connection.h"

using garnet::client::Broken;
using garnet::client::Connection;
using garnet::client::Item;
using garnet::client::Refused;

struct gc_client {
  std::optional<Connection> connection;
  bk_endpoint endpoint = 0;
  std::string provider = "inline", error;
  uint64_t last_id = 0;
  bool is_broken = false;

  bool reaches() const { return provider != "inline"; }
  ~gc_client();
};

struct gc_buffer {
  gc_client* client = nullptr;
  uint64_t id = 0;
  char* at = nullptr;
  uint64_t bytes = 0;
  bk_region region = 0;
  bk_segment segment = 0;
  bool is_own = false, is_named = false;
  ~gc_buffer();
};

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kLimit = 60 * kSecond;
constexpr uint32_t kTimeoutMs = 60'000, kPort = 6379;

struct Invalid {
  std::string why;
};

// Errors of the library below, as those of a server that cannot be reached that way.
void must(bk_status status, const char* what) {
  if (status == BK_OK) return;
  char why[256] = {};
  bk_last_error(why, sizeof why);
  throw Refused{std::string(what) + ": " + bk_error_name(status) + (why[0] ? std::string(", ") + why : "")};
}

// What of a structure the caller's version of it has; the rest is zero.
template <class T>
T taken(const T* given) {
  T own{};
  if (!given) return own;
  if (given->size < sizeof(uint32_t) || given->size > 4096) throw Invalid{"a structure does not say its size"};
  memcpy(&own, given, std::min<size_t>(given->size, sizeof own));
  return own;
}

template <class F>
Item to_its_end(gc_client& client, F&& make) {
  if (client.is_broken) throw Broken{"a call on this connection did not come to its end: connect anew"};
  client.is_broken = true;
  try {
    Item reply = make();
    client.is_broken = false;
    return reply;
  } catch (const Refused&) {
    client.is_broken = false;
    throw;
  }
}

Item call(gc_client& client, const std::vector<std::string>& words, size_t before = 0, std::span<const char> bytes = {}, std::span<char> into = {}) {
  return to_its_end(client, [&] { return client.connection->call(words, before, bytes, into); });
}

// No exception crosses the interface.
template <class F>
gc_status guarded(std::string& error, F&& work) noexcept {
  gc_status status = GC_NOMEM;
  try {
    try {
      return work();
    } catch (const Invalid& e) {
      status = GC_INVAL;
      error = e.why;
    } catch (const Refused& e) {
      status = GC_REFUSED;
      error = e.why;
    } catch (const Broken& e) {
      status = GC_BROKEN;
      error = e.why;
    } catch (const std::bad_alloc&) {
      error = "there is no memory";
    }
  } catch (...) {  // not even for the words
  }
  return status;
}

int64_t number(const Item& reply, const char* name) {
  const Item* field = reply.field(name);
  if (!field || field->kind != Item::Kind::number) throw Broken{"the server's reply lacks a number"};
  return field->number;
}

void keep_version(const Item& reply, char (&version)[32]) {
  const Item* field = reply.field("version");
  if (!field || field->kind != Item::Kind::bytes || field->bytes.size() >= sizeof version) throw Broken{"the server's reply lacks the version"};
  memcpy(version, field->bytes.c_str(), field->bytes.size() + 1);
}

constexpr std::string_view kReaching[] = {"local", "verbs", "net"};

// One for each provider that the server may choose; those that it does not are closed.
struct Endpoints {
  std::vector<std::pair<std::string, bk_endpoint>> all;

  ~Endpoints() {
    for (const auto& [name, endpoint] : all)
      if (bk_endpoint_close(endpoint, kLimit) == BK_OK) bk_endpoint_free(endpoint);
  }

  bool add(const std::string& name, const std::string& host) {
    bk_endpoint_config config{};
    config.size = sizeof config;
    config.flags = BK_EXPOSES;
    config.provider = name.data();
    config.provider_bytes = name.size();
    if (name != "local") {
      config.bind = host.data();
      config.bind_bytes = host.size();
    }
    bk_endpoint endpoint = 0;
    if (bk_endpoint_open(&config, &endpoint) != BK_OK) return false;
    all.emplace_back(name, endpoint);
    return true;
  }

  bk_endpoint take(std::string_view name) {
    const auto found = std::ranges::find_if(all, [name](const auto& one) { return one.first == name; });
    if (found == all.end()) return 0;
    const bk_endpoint endpoint = found->second;
    all.erase(found);
    return endpoint;
  }
};

void greet(gc_client& client, const gc_config& config) {
  if (config.password) {
    std::vector<std::string> words{"AUTH"};
    if (config.user) words.emplace_back(config.user);
    words.emplace_back(config.password);
    call(client, words);
  }
  std::string wanted = config.providers ? config.providers : "local,inline", reachable;
  Endpoints opened;
  for (size_t at = 0; at <= wanted.size();) {
    const size_t end = std::min(wanted.find(',', at), wanted.size());
    const std::string one = wanted.substr(at, end - at);
    at = end + 1;
    if (one != "inline") {
      if (std::ranges::find(kReaching, one) == std::end(kReaching)) throw Invalid{"no such provider: \"" + one + "\"; there are local, verbs, net and inline, with commas between them"};
      if (!opened.add(one, client.connection->host())) continue;  // goes without; `refused` of a HELLO would say no more
    }
    reachable += (reachable.empty() ? "" : ",") + one;
  }
  if (reachable.empty()) throw Refused{"none of the providers can be had in this process"};
  std::vector<std::string> words{"BULK.HELLO", "1", "PROVIDERS", reachable};
  for (const auto& [name, endpoint] : opened.all) {
    char address[512];
    uint64_t bytes = sizeof address;
    must(bk_endpoint_address(endpoint, address, &bytes), "the endpoint's address");
    words.insert(words.end(), {"ADDR", std::string(address, bytes)});
  }
  const Item reply = call(client, words);
  const Item* provider = reply.field("provider");
  if (provider && provider->bytes != "inline") client.endpoint = opened.take(provider->bytes);
  if (!provider || (provider->bytes != "inline" && !client.endpoint)) throw Broken{"the server has chosen a provider that nobody asked for"};
  client.provider = provider->bytes;
}

gc_status name(gc_client& client, std::unique_ptr<gc_buffer> buffer, gc_buffer** out) {
  buffer->client = &client;
  buffer->id = ++client.last_id;
  if (client.reaches()) {
    bk_region_config config{};
    config.size = sizeof config;
    config.access = BK_REMOTE_READ | BK_REMOTE_WRITE;
    config.base = buffer->at;
    config.bytes = buffer->bytes;
    bk_region_name name{};
    must(bk_region_open(client.endpoint, &config, &buffer->region, &name), "a region");
    call(client, {"BULK.REG", std::to_string(buffer->id), std::to_string(name.base), std::to_string(name.bytes), std::to_string(name.key)});
    buffer->is_named = true;
  }
  *out = buffer.release();
  return GC_OK;
}

// The words that say where the bytes are; those that go over the connection lie behind `before` words.
std::vector<std::string> place(const gc_client& client, const char* command, std::string key, const gc_buffer* buffer, uint64_t offset, uint64_t length,
                               bool is_get) {
  if (!buffer || buffer->client != &client) throw Invalid{"the buffer is not this client's"};
  if (offset > buffer->bytes || length > buffer->bytes - offset) throw Invalid{"not all of that is in the buffer"};
  if (client.reaches()) return {command, std::move(key), std::to_string(buffer->id), std::to_string(offset), std::to_string(length)};
  if (is_get) return {command, std::move(key), "INLINE", std::to_string(length)};
  return {command, std::move(key), "INLINE"};
}

void add(std::vector<std::string>& words, const char* name, std::string value) {
  words.emplace_back(name);
  words.push_back(std::move(value));
}

gc_status put(gc_client& client, std::string key, gc_buffer* from, uint64_t offset, uint64_t length, const gc_put_options& options, gc_stored* stored) {
  std::vector<std::string> words = place(client, "BULK.PUT", std::move(key), from, offset, length, false);
  const size_t before = words.size();
  if (options.flags & GC_HAS_AT) add(words, "AT", std::to_string(options.at));
  if (options.flags & GC_IF_ABSENT) words.emplace_back("NX");
  if (options.flags & GC_IF_PRESENT) words.emplace_back("XX");
  if (options.if_version) add(words, "IFVER", options.if_version);
  if (options.expires) add(words, "PX", std::to_string(options.expires));
  if (options.flags & GC_HAS_CRC) add(words, "CRC", std::to_string(options.crc));
  const std::span<const char> bytes = client.reaches() ? std::span<const char>() : std::span<const char>(from->at + offset, length);
  const Item reply = call(client, words, before, bytes);
  if (reply.kind == Item::Kind::nothing) return GC_NOTHING;
  gc_stored had{};
  keep_version(reply, had.version);
  had.crc = static_cast<uint32_t>(number(reply, "crc"));
  if (stored) *stored = had;
  return GC_OK;
}

gc_fetched fetched_of(const Item& reply, uint64_t capacity) {
  gc_fetched had{};
  had.length = static_cast<uint64_t>(number(reply, "len"));
  had.total = static_cast<uint64_t>(number(reply, "total"));
  keep_version(reply, had.version);
  had.crc = static_cast<uint32_t>(number(reply, "crc"));
  if (had.length > capacity) throw Broken{"the server says that more bytes have come than there was room for"};
  return had;
}

gc_status get(gc_client& client, std::string key, gc_buffer* into, uint64_t offset, uint64_t capacity, const gc_get_options& options, gc_fetched* fetched) {
  std::vector<std::string> words = place(client, "BULK.GET", std::move(key), into, offset, capacity, true);
  if (options.from) add(words, "FROM", std::to_string(options.from));
  if (options.length) add(words, "LEN", std::to_string(options.length));
  if (options.if_version) add(words, "IFVER", options.if_version);
  const std::span<char> room = client.reaches() ? std::span<char>() : std::span<char>(into->at + offset, capacity);
  const Item reply = call(client, words, 0, {}, room);
  if (reply.kind == Item::Kind::nothing) return GC_NOTHING;
  const gc_fetched had = fetched_of(reply, capacity);
  const Item* value = reply.field("value");
  if (!client.reaches() && (!value || !value->is_elsewhere || value->length != had.length))
    throw Broken{"the server says that other bytes have come than have"};
  if (fetched) *fetched = had;
  return GC_OK;
}

std::string key_of(const void* key, uint64_t bytes) {
  if (!key && bytes) throw Invalid{"there is no key"};
  return {static_cast<const char*>(key), static_cast<size_t>(bytes)};
}

constexpr uint64_t kManyMax = 64;

// The words of a command with several items; those of a put that go over the connection have the values in them.
std::vector<std::string> places(const gc_client& client, const char* command, std::span<const gc_item> items, bool is_get) {
  if (items.empty() || items.size() > kManyMax) throw Invalid{"there are 1 to 64 items"};
  std::vector<std::string> words{command, std::to_string(items.size())};
  for (const gc_item& item : items) {
    if (item.size != sizeof item) throw Invalid{"an item does not say its size, or another one than it has here"};
    std::vector<std::string> own = place(client, command, key_of(item.key, item.key_bytes), item.buffer, item.offset, item.length, is_get);
    words.insert(words.end(), std::make_move_iterator(own.begin() + 1), std::make_move_iterator(own.end()));
    if (client.reaches()) continue;
    words.insert(words.end() - (is_get ? 1 : 0), "0");
    if (!is_get) words.emplace_back(item.buffer->at + item.offset, item.length);
  }
  return words;
}

const Item& one_of(const Item& reply, uint64_t number, uint64_t count) {
  if (reply.kind != Item::Kind::list || reply.items.size() != count) throw Broken{"the server's reply has not an answer for each item"};
  return reply.items[number];
}

gc_status put_many(gc_client& client, std::span<const gc_item> items, const gc_put_options& options, gc_stored* stored) {
  if (options.flags & (GC_HAS_AT | GC_HAS_CRC) || options.if_version) throw Invalid{"a place, a checksum and a version are those of one value"};
  std::vector<std::string> words = places(client, "BULK.MPUT", items, false);
  if (options.flags & GC_IF_ABSENT) words.emplace_back("NX");
  if (options.flags & GC_IF_PRESENT) words.emplace_back("XX");
  if (options.expires) add(words, "PX", std::to_string(options.expires));
  const Item reply = call(client, words);
  if (reply.kind == Item::Kind::nothing) return GC_NOTHING;
  for (uint64_t i = 0; i < items.size(); ++i) {
    const Item& one = one_of(reply, i, items.size());
    gc_stored had{};
    keep_version(one, had.version);
    had.crc = static_cast<uint32_t>(number(one, "crc"));
    if (stored) stored[i] = had;
  }
  return GC_OK;
}

gc_status get_many(gc_client& client, std::span<const gc_item> items, gc_fetched* fetched) {
  const std::vector<std::string> words = places(client, "BULK.MGET", items, true);
  std::vector<std::span<char>> rooms;
  for (const gc_item& item : items)
    if (!client.reaches()) rooms.emplace_back(item.buffer->at + item.offset, item.length);
  const Item reply = to_its_end(client, [&] { return client.connection->call_each(words, rooms); });
  for (uint64_t i = 0; i < items.size(); ++i) {
    const Item& one = one_of(reply, i, items.size());
    fetched[i] = {};
    fetched[i].missing = one.kind == Item::Kind::nothing;
    if (fetched[i].missing) continue;
    fetched[i] = fetched_of(one, items[i].length);
    if (client.reaches()) continue;
    const Item* value = one.field("value");
    if (!value || !value->is_elsewhere || value->length != fetched[i].length) throw Broken{"the server says that other bytes have come than have"};
  }
  return GC_OK;
}

}  // namespace

gc_client::~gc_client() {
  connection.reset();
  if (endpoint && bk_endpoint_close(endpoint, kLimit) == BK_OK) bk_endpoint_free(endpoint);
}

gc_buffer::~gc_buffer() {
  // Memory that somebody may still be at is not given back.
  if (region && bk_region_close(client->endpoint, region, kLimit) != BK_OK) return;
  if (segment) bk_segment_close(segment);
  else if (is_own) free(at);
}

gc_status gc_connect(const gc_config* config, gc_client** client, char* why, uint64_t capacity) {
  std::string error;
  const gc_status status = guarded(error, [&] {
    if (!client) throw Invalid{"there is no place for the client"};
    *client = nullptr;
    const gc_config own = taken(config);
    auto made = std::make_unique<gc_client>();
    if (own.port > UINT16_MAX) throw Invalid{"no such port"};
    made->connection.emplace(own.host ? own.host : "127.0.0.1", own.port ? own.port : kPort, own.timeout ? own.timeout : kTimeoutMs);
    greet(*made, own);
    *client = made.release();
    return GC_OK;
  });
  if (why && capacity) {
    const size_t count = std::min<uint64_t>(capacity - 1, error.size());
    memcpy(why, error.data(), count);
    why[count] = 0;
  }
  return status;
}

const char* gc_provider(const gc_client* client) { return client ? client->provider.c_str() : ""; }

const char* gc_error(const gc_client* client) { return client ? client->error.c_str() : "there is no client"; }

void gc_close(gc_client* client) { delete client; }

gc_status gc_allocate(gc_client* client, uint64_t bytes, gc_buffer** buffer) {
  if (!client || !buffer) return GC_INVAL;
  *buffer = nullptr;
  return guarded(client->error, [&] {
    if (bytes == 0) throw Invalid{"a buffer has a byte at least"};
    auto made = std::make_unique<gc_buffer>();
    made->bytes = bytes;
    if (client->provider == "local") {
      const bk_segment_config config{sizeof config, 0, bytes};
      void* at = nullptr;
      must(bk_segment_open(&config, &made->segment, &at), "memory for the buffer");
      made->at = static_cast<char*>(at);
    } else {
      made->at = static_cast<char*>(calloc(1, bytes));
      made->is_own = true;
      if (!made->at) throw std::bad_alloc();
    }
    return name(*client, std::move(made), buffer);
  });
}

gc_status gc_register(gc_client* client, void* at, uint64_t bytes, gc_buffer** buffer) {
  if (!client || !buffer) return GC_INVAL;
  *buffer = nullptr;
  return guarded(client->error, [&] {
    if (!at || bytes == 0) throw Invalid{"a buffer has a byte at least"};
    auto made = std::make_unique<gc_buffer>();
    made->at = static_cast<char*>(at);
    made->bytes = bytes;
    return name(*client, std::move(made), buffer);
  });
}

void* gc_memory(const gc_buffer* buffer, uint64_t* bytes) {
  if (bytes) *bytes = buffer ? buffer->bytes : 0;
  return buffer ? buffer->at : nullptr;
}

gc_status gc_release(gc_buffer* buffer) {
  if (!buffer) return GC_INVAL;
  gc_client* client = buffer->client;
  const std::unique_ptr<gc_buffer> owned(buffer);
  return guarded(client->error, [&] {
    if (owned->is_named) call(*client, {"BULK.UNREG", std::to_string(owned->id)});
    return GC_OK;
  });
}

gc_status gc_put(gc_client* client, const void* key, uint64_t key_bytes, gc_buffer* from, uint64_t offset, uint64_t length, const gc_put_options* options,
                 gc_stored* stored) {
  if (!client) return GC_INVAL;
  return guarded(client->error, [&] { return put(*client, key_of(key, key_bytes), from, offset, length, taken(options), stored); });
}

gc_status gc_get(gc_client* client, const void* key, uint64_t key_bytes, gc_buffer* into, uint64_t offset, uint64_t capacity, const gc_get_options* options,
                 gc_fetched* fetched) {
  if (!client) return GC_INVAL;
  return guarded(client->error, [&] { return get(*client, key_of(key, key_bytes), into, offset, capacity, taken(options), fetched); });
}

gc_status gc_put_many(gc_client* client, const gc_item* items, uint64_t count, const gc_put_options* options, gc_stored* stored) {
  if (!client || (!items && count)) return GC_INVAL;
  return guarded(client->error, [&] { return put_many(*client, {items, count}, taken(options), stored); });
}

gc_status gc_get_many(gc_client* client, const gc_item* items, uint64_t count, gc_fetched* fetched) {
  if (!client || ((!items || !fetched) && count)) return GC_INVAL;
  return guarded(client->error, [&] { return get_many(*client, {items, count}, fetched); });
}
