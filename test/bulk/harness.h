// Tests in a few lines: a test is a function with a sentence for a name, a check that does not hold ends the program and says where.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "garnet_bulk.h"

struct Test {
  const char* name;
  void (*run)(const char* provider);
  bool (*applies)(std::string_view provider);
};

std::vector<Test>& all_tests();

struct Listed {
  Listed(const char* name, void (*run)(const char*), bool (*applies)(std::string_view)) { all_tests().push_back({name, run, applies}); }
};

// `loop` in one process, by a script; the others between two processes.
#define LOOP_TEST(name)                                                                                     \
  static void name(const char*);                                                                            \
  static const Listed listed_##name(#name, name, [](std::string_view provider) { return provider == "loop"; }); \
  static void name([[maybe_unused]] const char* provider)
#define PROVIDER_TEST(name)                                                                                 \
  static void name(const char*);                                                                            \
  static const Listed listed_##name(#name, name, [](std::string_view provider) { return provider != "loop"; }); \
  static void name([[maybe_unused]] const char* provider)

#define CHECK(condition) \
  do {                   \
    if (!(condition)) broken(__FILE__, __LINE__, #condition, ""); \
  } while (false)
#define CHECK_IS(wanted, call)                                                                                          \
  do {                                                                                                                  \
    const bk_status got_ = (call);                                                                                      \
    if (got_ != (wanted)) broken(__FILE__, __LINE__, #call, std::string(bk_error_name(got_)) + ", " + last_words());    \
  } while (false)

[[noreturn]] void broken(const char* file, int line, const char* what, const std::string& got);
std::string last_words();

// Who hears which signal.
std::vector<void*> signals_now();
const std::vector<void*>& signals_at_start();

constexpr uint64_t kMs = 1'000'000, kLong = 120'000'000'000;  // nothing takes so long, on any machine, emulated ones included

// An endpoint that is closed and freed behind the test.
class Opened {
 public:
  explicit Opened(const char* provider, uint32_t flags = 0, uint32_t ring = 0, uint64_t timeout_ns = 0);
  ~Opened();
  Opened(const Opened&) = delete;
  operator bk_endpoint() const { return handle_; }
  std::string address() const;
  bk_peer meet(const std::string& address) const;
  bk_completion take() const;
  // Nothing there, also after all that is due has been done.
  void check_nothing() const;

 private:
  bk_endpoint handle_ = 0;
};

struct Memory {
  explicit Memory(uint64_t bytes, uint64_t seed) : held(bytes) { fill(seed); }
  void fill(uint64_t seed) {
    for (uint64_t at = 0; at < held.size(); ++at) held[at] = static_cast<char>((at * 2654435761u + seed * 40503u) >> 7);
  }
  char* at(uint64_t offset = 0) { return held.data() + offset; }
  std::vector<char> held;
};

bk_transfer transfer_of(bk_peer peer, const bk_local* local, uint32_t locals, const bk_remote* remote, uint32_t remotes, uint64_t user = 0);
bk_status simple(bk_endpoint endpoint, bk_peer peer, bool writes, void* local, const bk_region_name& name, uint64_t offset, uint64_t bytes,
                 uint64_t user = 0, uint64_t timeout_ns = 0, bk_op* op = nullptr);
