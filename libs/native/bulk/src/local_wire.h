// Provider `local`: what the two processes tell each other. A Unix socket shows who they are; a page of memory that both map, one for each
// connection, says what is exposed, so that the side that exposes has nothing to do while bytes are copied.
//   L1  A process is the one behind the socket: same user by the socket's credentials, the start time of its pid, and a word of its memory
//       that it has told over the socket.
//   L2  Whoever copies counts itself into the region's row before it looks at the key, and out when it has let go; whoever withdraws a
//       region takes the key away before it looks at the count. Both in one order (sequentially consistent).
//       A region of a segment can be mapped: its row names the segment's descriptor in its process. It is mapped only if its size is sealed,
//       as memory that could be cut would end whoever touches it.
//   L3  What lies in the shared page is the other side's word: it is copied before it is judged, and used for nothing but addresses in
//       that other process.
//   L4  A process whose memory holds a thread of this one for long (pages that never come: userfaultfd, a file system of its own) is met by no other
//       endpoint here until that is over: it can hold up those that knew it before, and no more.
#pragma once
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "provider.h"

namespace garnet::bulk {

constexpr uint32_t kLocalMagic = 0x4b424c32;  // changes with anything in this file
constexpr uint32_t kRowsMax = 1024;           // regions of an endpoint; the low bits of a key say which row
constexpr uint32_t kConnectionsMax = 256;

struct LocalHello {
  uint32_t magic;
  uint32_t reserved;
};

struct LocalWelcome {
  uint32_t magic;
  uint32_t reserved;
  uint64_t start_time;  // of the process, in the kernel's ticks
  uint64_t word;        // lies at `word_at`, and changes with every endpoint
  uint64_t word_at;
};

struct LocalRow {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> base;
  std::atomic<uint64_t> bytes;
  std::atomic<uint32_t> access;
  std::atomic<uint32_t> users;
  std::atomic<uint64_t> segment_offset;
  std::atomic<int32_t> segment;  // a descriptor of that process, or -1
  uint32_t apart[5];
};

struct LocalTable {
  LocalRow rows[kRowsMax];
};
static_assert(sizeof(LocalRow) == 64 && std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

// The table, mapped.
class LocalMap {
 public:
  LocalMap() = default;
  LocalMap(LocalMap&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}
  LocalMap& operator=(LocalMap&& other) noexcept {
    std::swap(table_, other.table_);
    return *this;
  }
  ~LocalMap();
  bk_status open(int descriptor);
  LocalTable* operator->() const { return table_; }
  LocalTable* get() const { return table_; }

 private:
  LocalTable* table_ = nullptr;
};

// True for a file of the system's memory that cannot get shorter, with its size: what is touched there is there. Anything else is not
// even asked for its size, which a file system of somebody's own may take for ever to say.
bool is_lasting_memory(int file, uint64_t& bytes);

// 0 if there is no such process.
uint64_t start_time_of(int pid);

// The side that exposes: a socket with a name, a table for each process that has come.
class LocalTarget {
 public:
  bk_status open();
  const std::string& name() const { return name_; }
  bk_status expose(Region& region);
  void withdraw(const Region& region);
  // All of them, and nobody may come any more.
  void leave();
  // True once nobody is at it; its row may be another's then.
  bool is_withdrawn(const Region& region);
  void poll();
  void wakes(std::vector<pollfd>& into) const;
  // When it looks for connections again, of which there was one that could not be taken.
  uint64_t due() const { return accepts_at_ == 0 ? kNever : accepts_at_; }

 private:
  struct Connection {
    Descriptor socket;
    bool is_welcome = false;
    Descriptor memory;
    LocalMap table;
  };

  void accept();
  bk_status greet(Connection& connection) const;
  static void write_row(const LocalMap& table, const Region& region);

  std::string name_;
  Descriptor listener_;
  std::vector<Connection> connections_;
  std::vector<const Region*> rows_;
  std::unique_ptr<uint64_t> word_;
  uint64_t accepts_at_ = 0;
};

}  // namespace garnet::bulk
