// A target of provider `local` by hand, which says what a test wants.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "../../libs/native/bulk/src/local_wire.h"
#include "harness.h"

using namespace garnet::bulk;

#define LOCAL_TEST(name)                                                                                    \
  static void name(const char*);                                                                            \
  static const Listed listed_##name(#name, name, [](std::string_view provider) { return provider == "local"; }); \
  static void name([[maybe_unused]] const char* provider)

inline socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

inline uint64_t own_start() {
  char text[1024] = "";
  const Descriptor file(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  CHECK(read(file.get(), text, sizeof text - 1) > 0);
  const char* at = strrchr(text, ')');
  for (int field = 2; field < 22; ++field) at = strchr(at + 1, ' ');
  return strtoull(at + 1, nullptr, 10);
}

// None of it is waited for.
struct Forger {
  Forger() : name("bulk-forger-" + std::to_string(getpid())), listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address;
    const socklen_t length = address_of(name, address);
    CHECK(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) == 0 && listen(listener.get(), 8) == 0);
    welcome = {kLocalMagic, 0, own_start(), word, reinterpret_cast<uintptr_t>(&word)};
    table = Descriptor(memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    CHECK(ftruncate(table.get(), sizeof(LocalTable)) == 0);
  }

  // Connects to itself: the answer lies in the socket before the question is asked.
  bk_status meet(const Opened& own, bk_peer* peer) {
    bk_status status = BK_OK;
    const pid_t child = answer_in_child();
    status = bk_peer_add(own, name.data(), name.size(), kLong, peer);
    CHECK(waitpid(child, nullptr, 0) == child);
    return status;
  }

  // The table, mapped here too; it can no longer shrink.
  LocalTable* sealed_table() {
    fcntl(table.get(), F_ADD_SEALS, F_SEAL_SHRINK);
    void* const mapped = mmap(nullptr, sizeof(LocalTable), PROT_READ | PROT_WRITE, MAP_SHARED, table.get(), 0);
    CHECK(mapped != MAP_FAILED);
    return static_cast<LocalTable*>(mapped);
  }

  pid_t answer_in_child() {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      answer();
      _exit(0);
    }
    return child;
  }

  // In a child, which does not outlive a test that fails.
  void answer() {
    alarm(30);
    const int socket = greet();
    char end;
    [[maybe_unused]] ssize_t got = socket < 0 ? 0 : recv(socket, &end, 1, 0);  // until the other side has looked
  }

  // The next one who comes; his socket, which stays open.
  int greet() {
    const int socket = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
    LocalHello hello{};
    if (recv(socket, &hello, sizeof hello, 0) != sizeof hello) return -1;
    iovec part{&welcome, said};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * kDescriptorsMost)] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * descriptors);
    const std::vector<int> numbers(descriptors, table.get());
    memcpy(CMSG_DATA(head), numbers.data(), sizeof(int) * descriptors);
    sendmsg(socket, &message, MSG_NOSIGNAL);
    return socket;
  }

  static constexpr size_t kDescriptorsMost = 253;  // that the kernel lets one message carry
  std::string name;
  Descriptor listener, table;
  uint64_t word = 4711;
  LocalWelcome welcome{};
  size_t said = sizeof welcome, descriptors = 1;
};
