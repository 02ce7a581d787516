#include "connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace garnet::client {

namespace {

// What a server that is none, or hostile, can have a client set aside.
constexpr size_t kBufferBytes = 64 << 10, kItemsMax = 1024;
constexpr int64_t kBytesMax = 1 << 20;
constexpr unsigned kDepthMax = 4;

[[noreturn]] void broken(const char* what, int error) { throw Broken{std::string(what) + ": " + strerror(error)}; }
[[noreturn]] void not_spoken() { throw Broken{"the server does not speak the protocol of Redis"}; }

int64_t number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) not_spoken();
  return value;
}

void add_line(std::string& to, char kind, size_t number) { to.append(1, kind).append(std::to_string(number)).append("\r\n"); }

struct Addresses {
  addrinfo* first = nullptr;
  ~Addresses() {
    if (first) freeaddrinfo(first);
  }
};

}  // namespace

const Item* Item::field(std::string_view name) const {
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].kind == Kind::bytes && items[i].bytes == name) return &items[i + 1];
  return nullptr;
}

Connection::Connection(const std::string& host, unsigned port, unsigned timeout_ms)
    : timeout_ms_(timeout_ms), end_(Clock::now() + std::chrono::milliseconds(timeout_ms)), buffer_(kBufferBytes) {
  const auto open = [&](int family, const sockaddr* address, socklen_t bytes) {
    if (socket_ >= 0) close(socket_);
    socket_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return errno;
    if (connect(socket_, address, bytes) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    wait(POLLOUT);
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  };
  int error = ENOENT;
  try {
    if (host.starts_with('/')) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      if (host.size() >= sizeof address.sun_path) throw Broken{"the path of the socket is too long"};
      memcpy(address.sun_path, host.c_str(), host.size() + 1);
      error = open(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } else {
      Addresses found;
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      if (const int why = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found.first)) throw Broken{host + ": " + gai_strerror(why)};
      for (const addrinfo* one = found.first; one && error; one = one->ai_next) error = open(one->ai_family, one->ai_addr, one->ai_addrlen);
      const int yes = 1;
      if (!error) setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    if (error) broken("cannot connect", error);
  } catch (...) {
    if (socket_ >= 0) close(socket_);
    throw;
  }
}

std::string Connection::host() const {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  char name[NI_MAXHOST];
  auto* address = reinterpret_cast<sockaddr*>(&own);
  const bool is_network = getsockname(socket_, address, &length) == 0 && address->sa_family != AF_UNIX;
  if (!is_network || getnameinfo(address, length, name, sizeof name, nullptr, 0, NI_NUMERICHOST) != 0) return "127.0.0.1";
  return name;
}

Connection::~Connection() { close(socket_); }

Item Connection::call(const std::vector<std::string>& words, size_t before, std::span<const char> bytes, std::span<char> into) {
  end_ = Clock::now() + std::chrono::milliseconds(timeout_ms_);
  const bool has_bytes = bytes.data() != nullptr;
  std::string head, tail;
  add_line(head, '*', words.size() + has_bytes);
  std::string* text = &head;
  for (size_t i = 0; i <= words.size(); ++i) {
    if (has_bytes && i == before) {
      add_line(head, '$', bytes.size());
      tail = "\r\n";
      text = &tail;
    }
    if (i == words.size()) break;
    add_line(*text, '$', words[i].size());
    text->append(words[i]).append("\r\n");
  }
  send({{head.data(), head.size()}, {const_cast<char*>(bytes.data()), bytes.size()}, {tail.data(), tail.size()}});
  return read(into, 0);
}

Item Connection::call_each(const std::vector<std::string>& words, std::span<const std::span<char>> rooms) {
  end_ = Clock::now() + std::chrono::milliseconds(timeout_ms_);
  std::string text;
  add_line(text, '*', words.size());
  for (const std::string& word : words) {
    add_line(text, '$', word.size());
    text.append(word).append("\r\n");
  }
  send({{text.data(), text.size()}});
  return read({}, 0, rooms);
}

void Connection::send(std::vector<iovec> parts) {
  for (size_t at = 0; at < parts.size();) {
    if (parts[at].iov_len == 0) {
      ++at;
      continue;
    }
    msghdr message{};
    message.msg_iov = &parts[at];
    message.msg_iovlen = parts.size() - at;
    ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) wait(POLLOUT);
    else if (sent < 0 && errno != EINTR) broken("the connection has ended", errno);
    for (; sent > 0 && at < parts.size();) {
      const size_t count = std::min(static_cast<size_t>(sent), parts[at].iov_len);
      parts[at] = {static_cast<char*>(parts[at].iov_base) + count, parts[at].iov_len - count};
      sent -= static_cast<ssize_t>(count);
      if (parts[at].iov_len == 0) ++at;
    }
  }
}

Item Connection::read(std::span<char> into, unsigned depth, std::span<const std::span<char>> each) {
  const std::string_view text = line();
  if (text.empty()) not_spoken();
  const char kind = text[0];
  const std::string rest(text.substr(1));
  switch (kind) {
    case '-':
      throw Refused{rest};
    case '+':
      return {.kind = Item::Kind::bytes, .bytes = rest, .items = {}};
    case ':':
      return {.kind = Item::Kind::number, .number = number_of(rest), .bytes = {}, .items = {}};
    case '$':
      if (rest == "-1") return {};
      return read_bytes(number_of(rest), into);
    case '*': {
      if (rest == "-1") return {};
      const int64_t count = number_of(rest);
      if (depth == kDepthMax || count < 0 || count > static_cast<int64_t>(kItemsMax)) not_spoken();
      Item list{.kind = Item::Kind::list, .bytes = {}, .items = {}};
      bool is_value = false;
      for (int64_t i = 0; i < count; ++i) {
        const size_t number = static_cast<size_t>(i);
        const std::span<char> room = number < each.size() ? each[number] : is_value ? into : std::span<char>();
        list.items.push_back(read(room, depth + 1));
        is_value = i % 2 == 0 && list.items.back().bytes == "value";
      }
      return list;
    }
    default:
      not_spoken();
  }
}

Item Connection::read_bytes(int64_t count, std::span<char> into) {
  Item item{.kind = Item::Kind::bytes, .bytes = {}, .items = {}};
  if (into.data() != nullptr && count >= 0 && static_cast<uint64_t>(count) <= into.size()) {
    item.is_elsewhere = true;
    item.length = static_cast<uint64_t>(count);
    take(into.data(), item.length);
  } else {
    if (count < 0 || count > kBytesMax) not_spoken();
    item.bytes.resize(static_cast<size_t>(count));
    take(item.bytes.data(), item.bytes.size());
  }
  if (!line().empty()) not_spoken();
  return item;
}

// Valid until more is read.
std::string_view Connection::line() {
  for (size_t looked = 0;;) {
    const std::string_view all(buffer_.data() + start_, filled_ - start_);
    const size_t at = all.find("\r\n", looked == 0 ? 0 : looked - 1);
    if (at != std::string_view::npos) {
      start_ += at + 2;
      return all.substr(0, at);
    }
    looked = all.size();
    memmove(buffer_.data(), all.data(), all.size());
    start_ = 0;
    filled_ = looked;
    if (filled_ == buffer_.size()) not_spoken();
    filled_ += receive(buffer_.data() + filled_, buffer_.size() - filled_);
  }
}

void Connection::take(char* to, uint64_t count) {
  const size_t here = std::min<uint64_t>(count, filled_ - start_);
  memcpy(to, buffer_.data() + start_, here);
  start_ += here;
  for (uint64_t got = here; got < count;) got += receive(to + got, static_cast<size_t>(count - got));
}

size_t Connection::receive(char* to, size_t capacity) {
  for (;;) {
    const ssize_t got = recv(socket_, to, capacity, 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) throw Broken{"the server has closed the connection"};
    if (errno == EAGAIN) wait(POLLIN);
    else if (errno != EINTR) broken("the connection has ended", errno);
  }
}

void Connection::wait(short events) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    if (left <= 0) throw Broken{"the server has not answered in time"};
    pollfd one{socket_, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::min<int64_t>(left, INT32_MAX)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) broken("poll", errno);
  }
}

}  // namespace garnet::client
