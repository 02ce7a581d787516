// A connection over which commands of the Redis protocol (RESP2) go, one at a time, each with a time in which it has to end.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garnet::client {

// The connection cannot be gone on with.
struct Broken {
  std::string why;
};

// The server has said why not.
struct Refused {
  std::string why;
};

struct Item {
  enum class Kind { nothing, number, bytes, list } kind = Kind::nothing;
  int64_t number = 0;
  std::string bytes;
  uint64_t length = 0;     // of bytes that went where the caller wanted them, and are not here
  bool is_elsewhere = false;
  std::vector<Item> items;

  // What stands behind a name in a list of pairs; null without it.
  const Item* field(std::string_view name) const;
};

class Connection {
 public:
  Connection(const std::string& host, unsigned port, unsigned timeout_ms);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // This machine's address on it, without the port; that of the machine itself on a Unix socket.
  std::string host() const;

  // Sends the words, and the bytes as one more behind `before` of them where they are not null; the reply's field "value" goes `into`.
  Item call(const std::vector<std::string>& words, size_t before = 0, std::span<const char> bytes = {}, std::span<char> into = {});

  // Sends the words; the field "value" of the reply's item of that number goes to the room of that number.
  Item call_each(const std::vector<std::string>& words, std::span<const std::span<char>> rooms);

 private:
  using Clock = std::chrono::steady_clock;

  void send(std::vector<iovec> parts);
  Item read(std::span<char> into, unsigned depth, std::span<const std::span<char>> each = {});
  Item read_bytes(int64_t count, std::span<char> into);
  std::string_view line();
  void take(char* to, uint64_t count);
  size_t receive(char* to, size_t capacity);
  void wait(short events) const;

  int socket_ = -1;
  unsigned timeout_ms_;
  Clock::time_point end_;
  std::vector<char> buffer_;
  size_t start_ = 0, filled_ = 0;
};

}  // namespace garnet::client
