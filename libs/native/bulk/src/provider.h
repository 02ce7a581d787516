// A provider carries pieces of transfers; the endpoint decides which, when and for how long. All but `connect` and `address` is called by
// the endpoint's thread alone.
//   P1  A piece is over when it is done: its memory is not touched any more then, by nobody.
//   P2  After `abort` nothing new is posted; every piece that is out is reported as done, as soon as P1 holds for it.
//   P3  Nothing that is exposed without a right to it can be reached: a provider that cannot promise it exposes nothing.
#pragma once
#include <poll.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clock.h"
#include "garnet_bulk.h"

namespace garnet::bulk {

// What a provider keeps of a peer and of a region.
struct PeerPart {
  virtual ~PeerPart() = default;
};
struct RegionPart {
  virtual ~RegionPart() = default;
};

class Segment;
struct DeviceMemory;

struct Region {
  char* base = nullptr;
  uint64_t bytes = 0;
  uint32_t access = 0;
  uint64_t key = 0;
  uint64_t named_base = 0;  // what others call its beginning
  uint64_t users = 0;       // own transfers that name it
  bool closing = false;
  std::shared_ptr<Segment> segment;     // that all of it lies in, if one does
  std::shared_ptr<DeviceMemory> device;  // whose memory it is, or the host's
  std::unique_ptr<RegionPart> part;
};

struct Piece {
  bool writes;
  uint32_t slot;  // comes back in Done
  char* local;
  uint64_t bytes;
  uint64_t offset;  // in the remote region
  const bk_region_name* remote;
  PeerPart* peer;
  const Region* own;  // that `local` lies in, or null
};

struct Done {
  uint32_t slot = 0;
  bk_status status = BK_OK;
  int32_t error = 0;
  uint64_t bytes = 0;
};

// Out: it is reported by `poll`. Over: it is done already. Full: not taken, offer it again.
enum class Posted { Out, Over, Full };

// What the thread may do when there is nothing to do: wait for descriptors, look again soon (no descriptor tells), or look at once.
enum class Rest { Wait, Soon, Not };

struct Limits {
  uint64_t piece_bytes;
  uint32_t pieces;           // out at once
  bool needs_regions = false;  // memory of this side has to be in a region
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual Limits limits() const = 0;
  virtual std::string address() const = 0;
  // By whichever thread asks, so that a peer that does not answer holds up nobody else.
  virtual bk_status connect(std::string_view address, uint64_t limit_ns, std::unique_ptr<PeerPart>& peer) = 0;
  // On the endpoint's thread, without its lock: may take as long as the other side likes (endpoint.E5).
  virtual bk_status prove(PeerPart&) { return BK_OK; }
  virtual bk_status adopt(PeerPart&) { return BK_OK; }
  virtual void forget(PeerPart&) {}
  virtual bk_status expose(Region& region) = 0;
  virtual void withdraw(Region& region) = 0;
  virtual bool is_withdrawn(Region& region) = 0;
  virtual Posted post(const Piece& piece, Done& done) = 0;
  virtual void poll(std::vector<Done>& done) = 0;
  virtual void abort() = 0;
  virtual Rest rest(std::vector<pollfd>& wakes) = 0;
  virtual uint64_t due() const { return kNever; }
  virtual std::string text_of(int32_t error) const = 0;
  virtual bk_status script(const bk_loop_fault&) { return BK_E_UNSUPPORTED; }
};

struct Opening {
  bool exposes;
  std::string bind;
  const Clock& clock;
};

struct ProviderKind {
  const char* name;
  // BK_OK if endpoints can be opened; else the text says why not.
  bk_status (*judge)(const char* name, std::string& reason);
  bk_status (*make)(const char* name, const Opening& opening, std::unique_ptr<Provider>& made);
};

bk_status judge_loop(const char* name, std::string& reason);
bk_status make_loop(const char* name, const Opening& opening, std::unique_ptr<Provider>& made);
bk_status judge_local(const char* name, std::string& reason);
bk_status make_local(const char* name, const Opening& opening, std::unique_ptr<Provider>& made);
bk_status judge_fabric(const char* name, std::string& reason);
bk_status make_fabric(const char* name, const Opening& opening, std::unique_ptr<Provider>& made);

// 64 bits that nobody can guess, never 0; 0 if the system has none.
uint64_t random_key();

// Both lengths come from others: their sum may not fit.
constexpr bool lies_in(uint64_t offset, uint64_t bytes, uint64_t whole) { return bytes <= whole && offset <= whole - bytes; }

}  // namespace garnet::bulk
