// libfabric, opened when it is first asked for. Only a few of its functions are symbols; all else goes through tables in its objects.
#pragma once
#if __has_include(<rdma/fi_domain.h>) && __has_include(<rdma/fi_endpoint.h>)
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
// Its symbols have versions, and the structures behind them grew: a header and the version that goes with it are known together.
#define BK_HAS_FABRIC (FI_MAJOR_VERSION == 1 && FI_MINOR_VERSION >= 9 && FI_MINOR_VERSION <= 17)
#else
#define BK_HAS_FABRIC 0
#endif

#if BK_HAS_FABRIC
#include <string>

namespace garnet::bulk {

struct FabricLibrary {
  int (*getinfo)(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints, fi_info** info) = nullptr;
  void (*freeinfo)(fi_info* info) = nullptr;
  fi_info* (*dupinfo)(const fi_info* info) = nullptr;
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) = nullptr;
  const char* (*strerror)(int number) = nullptr;
  std::string missing;  // why it cannot be used, or nothing

  static const FabricLibrary& get();
};

// Libraries under libfabric take over the signals by which a process ends when they are loaded, and its provider for shared memory when it
// is opened; a runtime turns some of them into exceptions. Whoever opens something of libfabric has those back as they were that a library took which
// came with it. What another thread sets meanwhile stays: a runtime that lost its SIGCHLD would wait for its children for ever.
class KeptSignals {
 public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals&) = delete;

 private:
  struct State;
  State* const state_;
};

}  // namespace garnet::bulk
#endif
