// Regions of other processes' segments, mapped here: copying there is a copy within this process.
#pragma once
#include <cstdint>
#include <vector>

namespace garnet::bulk {

struct LocalRow;
struct LocalTable;

class LocalViews {
 public:
  LocalViews() = default;
  LocalViews(const LocalViews&) = delete;
  LocalViews& operator=(const LocalViews&) = delete;
  ~LocalViews();
  struct View {
    uint64_t key = 0;
    char* at = nullptr;  // null: it cannot be mapped
    uint64_t bytes = 0;  // that are mapped, whatever the row says now
    void* mapped = nullptr;
    uint64_t mapped_bytes = 0;
  };

  // The region of this row, as it was when it was first looked for.
  View find(int process, const LocalTable& table, const LocalRow& row, uint64_t key, uint64_t bytes);

 private:
  static View map(int process, const LocalRow& row, uint64_t key, uint64_t bytes);
  static void unmap(const View& view);

  std::vector<View> views_;
};

}  // namespace garnet::bulk
