// Providers of libfabric.
#include "fault.h"
#include "provider.h"

namespace garnet::bulk {

bk_status judge_fabric(const char*, std::string& reason) {
  reason = "this build has no libfabric";
  return BK_E_UNSUPPORTED;
}

bk_status make_fabric(const char*, uint32_t, const Clock&, std::unique_ptr<Provider>&) { return BK_E_UNSUPPORTED; }

}  // namespace garnet::bulk
