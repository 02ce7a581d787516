// bulk-test PROVIDER [NAME]: the tests of a provider. bulk-test --target PROVIDER: the other process of one (target.cpp).
#include <csignal>
#include <cstring>

#include "harness.h"

extern "C" uint32_t version_by_c(void);
int run_target(const char* provider);
std::string why_no_gpu();

std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

void broken(const char* file, int line, const char* what, const std::string& got) {
  const char* name = strrchr(file, '/');
  printf("  failed: %s:%d: %s%s%s\n", name ? name + 1 : file, line, what, got.empty() ? "" : " gave ", got.c_str());
  fflush(stdout);
  std::_Exit(1);
}

std::string last_words() {
  char text[512];
  bk_last_error(text, sizeof text);
  return text;
}

Opened::Opened(const char* provider, uint32_t flags, uint32_t ring, uint64_t timeout_ns) {
  bk_endpoint_config config{};
  config.size = sizeof config;
  config.flags = flags;
  config.provider = provider;
  config.provider_bytes = strlen(provider);
  config.ring_entries = ring;
  config.timeout_ns = timeout_ns;
  CHECK_IS(BK_OK, bk_endpoint_open(&config, &handle_));
}

Opened::~Opened() {
  CHECK_IS(BK_OK, bk_endpoint_close(handle_, kLong));
  CHECK_IS(BK_OK, bk_endpoint_free(handle_));
}

std::string Opened::address() const {
  uint64_t bytes = 0;
  bk_endpoint_address(handle_, nullptr, &bytes);
  std::string address(bytes, 0);
  CHECK_IS(BK_OK, bk_endpoint_address(handle_, address.data(), &bytes));
  return address;
}

bk_peer Opened::meet(const std::string& address) const {
  bk_peer peer = 0;
  CHECK_IS(BK_OK, bk_peer_add(handle_, address.data(), address.size(), kLong, &peer));
  return peer;
}

bk_completion Opened::take() const {
  bk_completion completion{};
  uint32_t taken = 0;
  CHECK_IS(BK_OK, bk_take(handle_, &completion, 1, kLong, &taken));
  CHECK(taken == 1);
  return completion;
}

void Opened::check_nothing() const {
  CHECK_IS(BK_OK, bk_loop_advance(handle_, 0));
  CHECK_IS(BK_E_TIMEOUT, bk_wait(handle_, 0));
}

bk_transfer transfer_of(bk_peer peer, const bk_local* local, uint32_t locals, const bk_remote* remote, uint32_t remotes, uint64_t user) {
  bk_transfer transfer{};
  transfer.size = sizeof transfer;
  transfer.peer = peer;
  transfer.local = local;
  transfer.local_count = locals;
  transfer.remote = remote;
  transfer.remote_count = remotes;
  transfer.user = user;
  return transfer;
}

bk_status simple(bk_endpoint endpoint, bk_peer peer, bool writes, void* local, const bk_region_name& name, uint64_t offset, uint64_t bytes, uint64_t user,
                 uint64_t timeout_ns, bk_op* op) {
  const bk_local here{local, bytes, 0};
  const bk_remote there{name, offset, bytes};
  bk_transfer transfer = transfer_of(peer, &here, 1, &there, 1, user);
  transfer.timeout_ns = timeout_ns;
  return writes ? bk_write(endpoint, &transfer, op) : bk_read(endpoint, &transfer, op);
}

std::vector<void*> signals_now() {
  std::vector<void*> all;
  for (int number = 1; number < 32; ++number) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    all.push_back(reinterpret_cast<void*>(action.sa_handler));
  }
  return all;
}

const std::vector<void*>& signals_at_start() {
  static const std::vector<void*> first = signals_now();
  return first;
}

// 77: this machine has no such provider.
static int judge(const char* provider) {
  if (strcmp(provider, "stub") == 0) return 0;
  if (strcmp(provider, "gpu") == 0) {
    const std::string why_not = why_no_gpu();
    if (!why_not.empty()) printf("gpu: skipped, %s\n", why_not.c_str());
    return why_not.empty() ? 0 : 77;
  }
  bk_provider_fact fact{};
  fact.size = sizeof fact;
  for (uint32_t at = 0; bk_provider_at(at, &fact) == BK_OK; ++at) {
    if (strcmp(fact.name, provider) != 0) continue;
    if (fact.status != BK_OK) printf("%s: skipped, %s\n", provider, fact.reason);
    return fact.status == BK_OK ? 0 : 77;
  }
  printf("%s: no such provider\n", provider);
  return 2;
}

int main(int count, char** arguments) {
  signals_at_start();
  if (count == 3 && strcmp(arguments[1], "--target") == 0) return run_target(arguments[2]);
  if (count < 2 || version_by_c() != BK_ABI_VERSION) return 64;
  const char* provider = arguments[1];
  if (const int judged = judge(provider); judged != 0) return judged;
  int run = 0;
  for (const Test& test : all_tests()) {
    if (!test.applies(provider) || (count > 2 && !strstr(test.name, arguments[2]))) continue;
    printf("%s: %s\n", provider, test.name);
    fflush(stdout);
    test.run(provider);
    ++run;
  }
  printf("%s: %d passed\n", provider, run);
  return run == 0 ? 1 : 0;
}
