// Providers of libfabric: `tcp` and `net` over a network, `shm` within a machine, `verbs` on hardware. Addresses are offsets into regions where
// the provider lets us choose, keys are random where it does; shared memory is never asked for addresses, as it checks nothing then.
// A fabric's end of a transfer that went wrong may never come: the endpoint's deadline ends it. What nothing ends: the locks of `shm` lie in
// memory that both processes map, and if one is killed while it has one, the thread of the other one's endpoint spins for ever (libfabric
// 1.17). For processes of one machine there is `local`, which has no such thing; `shm` is for those that live and die together.
#include "fabric_library.h"

#include "fault.h"
#include "provider.h"

#if BK_HAS_FABRIC
#include <algorithm>
#include <cstring>
#include <string_view>

namespace garnet::bulk {

namespace {

constexpr uint64_t kPieceBytes = 1024 * 1024;
constexpr uint32_t kPieces = 16;

// The `net` of libfabric 1.17 wakes whoever waits for a completion, and takes the wake back in a blocking read only: without one the queue's
// descriptor stays readable for ever, and the thread never rests. Rounds that found nothing behind a wake, until a read may block for a millisecond.
constexpr uint32_t kInVain = 64;
constexpr size_t kAddressMax = 256;
constexpr uint64_t kFlushBytes = 8;

struct Variant {
  const char* name;    // ours
  const char* fabric;  // libfabric's
  bool has_memory_rules;  // registered memory, keys of its own, addresses
  bool forgets;           // an address can be removed
};

// `shm` reuses the place of an address that was removed without telling the process that comes there: that one ends by a signal (1.17).
constexpr Variant kVariants[] = {
    {"tcp", "tcp;ofi_rxm", false, true}, {"net", "net", false, true}, {"shm", "shm", false, false}, {"verbs", "verbs;ofi_rxm", true, true}};

struct FabricPeer : PeerPart {
  std::string address;
  fi_addr_t number = FI_ADDR_NOTAVAIL;
};

struct FabricRegion : RegionPart {
  explicit FabricRegion(fid_mr* opened) : region(opened) {}
  fid_mr* region;
};

// What libfabric keeps of a piece while it has it; our own number lies behind it.
struct Context {
  fi_context2 fabrics;
  uint32_t slot;
  bool is_out;
  uint64_t bytes;
  bool is_to_be_flushed;  // a write, behind which its last bytes are read
  fi_addr_t peer;
  fi_rma_iov tail;
};

std::string words(int error) {
  const FabricLibrary& library = FabricLibrary::get();
  return library.strerror ? library.strerror(error < 0 ? -error : error) : "";
}

bk_status status_of(int error) {
  switch (error < 0 ? -error : error) {
    case FI_EACCES:
    case FI_EKEYREJECTED:
    case FI_EPERM:
    case FI_EFAULT:
      return BK_E_KEY;
    // Also what a software provider says of a key that the other side does not know: it ends the connection.
    case FI_ECANCELED:
    case FI_ECONNABORTED:
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_EHOSTUNREACH:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_EHOSTDOWN:
      return BK_E_PEER;
    case FI_ENOMEM:
      return BK_E_NOMEM;
    default:
      return BK_E_IO;
  }
}

// Of hardware, which has numbers of its own for what became of a piece.
bk_status status_of(const fi_cq_err_entry& wrong, bool is_hardware) {
  constexpr int kAccessRefused = 10, kNoAnswer = 12, kFlushed = 5;  // IBV_WC_REM_ACCESS_ERR, IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR
  if (!is_hardware || wrong.err != FI_EIO) return status_of(wrong.err);
  return wrong.prov_errno == kAccessRefused ? BK_E_KEY : wrong.prov_errno == kNoAnswer || wrong.prov_errno == kFlushed ? BK_E_PEER : BK_E_IO;
}

bk_status fail_by_fabric(const char* what, int error) { return fail(status_of(error), std::string(what) + ": " + words(error)); }

const Variant* variant_of(const char* name) {
  return std::ranges::find_if(kVariants, [name](const Variant& known) { return std::string_view(known.name) == name; });
}

// What this provider is here, for whom nothing is exposed unless it is asked for; null if it is not here.
fi_info* find_info(const Variant& variant, bool exposes, const std::string& bind, int& error) {
  const FabricLibrary& library = FabricLibrary::get();
  fi_info* hints = library.dupinfo(nullptr);
  fi_info* found = nullptr;
  if (!hints) return nullptr;
  hints->caps = FI_RMA | FI_READ | FI_WRITE | (exposes ? FI_REMOTE_READ | FI_REMOTE_WRITE : 0);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = variant.has_memory_rules ? FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY : 0;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->op_flags = variant.has_memory_rules ? 0 : FI_DELIVERY_COMPLETE;
  hints->fabric_attr->prov_name = strdup(variant.fabric);
  error = library.getinfo(FI_VERSION(1, 9), bind.empty() ? nullptr : bind.c_str(), nullptr, bind.empty() ? 0 : FI_SOURCE, hints, &found);
  library.freeinfo(hints);
  return error == 0 ? found : nullptr;
}

class Fabric final : public Provider {
 public:
  Fabric() {
    for (uint32_t slot = 0; slot < kPieces; ++slot) contexts_[slot] = {{}, slot, false, 0, false, 0, {}};
    flushes_.reserve(kPieces);
  }

  ~Fabric() override {
    abort();
    for (fid* opened : {own(flushed_), own(addresses_), own(queue_), own(events_), own(domain_), own(fabric_)})
      if (opened) fi_close(opened);
    if (info_) FabricLibrary::get().freeinfo(info_);
  }

  bk_status open(const Variant& variant, const Opening& opening) {
    int error = 0;
    info_ = find_info(variant, opening.exposes, opening.bind, error);
    if (!info_) return fail_by_fabric("this provider of libfabric", error);
    // A write is over when the bytes are there, not when they are on their way; only so is it told that it was refused.
    write_flags_ = variant.has_memory_rules ? 0 : FI_DELIVERY_COMPLETE;
    forgets_ = variant.forgets;
    flushes_writes_ = variant.has_memory_rules;
    needs_regions_ = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
    // Shared memory that is told addresses lets everybody write everywhere (provider.P3).
    if (!variant.has_memory_rules && info_->domain_attr->mr_mode != 0) return fail(BK_E_UNSUPPORTED, "this provider wants rules that it does not keep");
    fi_av_attr addresses{};
    addresses.type = info_->domain_attr->av_type;
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_CONTEXT;
    queue.size = kPieces * 4;
    fi_eq_attr events{};
    events.wait_obj = FI_WAIT_NONE;
    if ((error = FabricLibrary::get().fabric(info_->fabric_attr, &fabric_, nullptr)) != 0) return fail_by_fabric("fi_fabric", error);
    if (fi_eq_open(fabric_, &events, &events_, nullptr) != 0) events_ = nullptr;
    if ((error = fi_domain(fabric_, info_, &domain_, nullptr)) != 0) return fail_by_fabric("fi_domain", error);
    if ((error = fi_av_open(domain_, &addresses, &addresses_, nullptr)) != 0) return fail_by_fabric("fi_av_open", error);
    if ((error = open_queue(queue)) != 0) return fail_by_fabric("fi_cq_open", error);
    if ((error = fi_endpoint(domain_, info_, &endpoint_, nullptr)) != 0) return fail_by_fabric("fi_endpoint", error);
    if ((error = fi_ep_bind(endpoint_, &addresses_->fid, 0)) != 0) return fail_by_fabric("fi_ep_bind", error);
    if ((error = fi_ep_bind(endpoint_, &queue_->fid, FI_TRANSMIT | FI_RECV)) != 0) return fail_by_fabric("fi_ep_bind", error);
    // Without one some providers end the process over an error; others do not take one.
    if (events_) fi_ep_bind(endpoint_, &events_->fid, 0);
    if ((error = fi_enable(endpoint_)) != 0) return fail_by_fabric("fi_enable", error);
    if (flushes_writes_)
      if (const bk_status opened = open_flush(); opened != BK_OK) return opened;
    return take_name();
  }

  Limits limits() const override { return {kPieceBytes, kPieces, needs_regions_}; }
  std::string address() const override { return name_; }

  bk_status connect(std::string_view address, uint64_t, std::unique_ptr<PeerPart>& peer) override {
    if (address.empty() || address.size() > kAddressMax) return fail(BK_E_INVAL, "not the address of an endpoint of this provider");
    auto made = std::make_unique<FabricPeer>();
    // The provider reads as many bytes as it likes: behind what was said there are zeros.
    made->address.assign(address);
    made->address.resize(kAddressMax);
    peer = std::move(made);
    return BK_OK;
  }

  bk_status adopt(PeerPart& part) override {
    auto& peer = static_cast<FabricPeer&>(part);
    if (is_stopped_) return fail(BK_E_CLOSED, "the endpoint is closed");
    return fi_av_insert(addresses_, peer.address.data(), 1, &peer.number, 0, nullptr) == 1 ? static_cast<bk_status>(BK_OK)
                                                                                            : fail(BK_E_INVAL, "not the address of an endpoint of this provider");
  }

  void forget(PeerPart& part) override {
    auto& peer = static_cast<FabricPeer&>(part);
    if (!is_stopped_ && forgets_) fi_av_remove(addresses_, &peer.number, 1, 0);
  }

  bk_status expose(Region& region) override {
    if (region.access == 0 && !needs_regions_) return BK_OK;
    if (flushes_writes_ && (region.access & BK_REMOTE_WRITE) && !(region.access & BK_REMOTE_READ))
      return fail(BK_E_UNSUPPORTED, "what is written over this provider is read back: a region that may be written needs the right to be read");
    uint64_t rights = FI_READ | FI_WRITE;
    if (region.access & BK_REMOTE_READ) rights |= FI_REMOTE_READ;
    if (region.access & BK_REMOTE_WRITE) rights |= FI_REMOTE_WRITE;
    const size_t key_bytes = info_->domain_attr->mr_key_size;
    const uint64_t key = random_key() & (key_bytes >= 8 ? UINT64_MAX : (uint64_t{1} << (key_bytes * 8)) - 1);
    fid_mr* opened = nullptr;
    const int error = fi_mr_reg(domain_, region.base, region.bytes, rights, 0, key, 0, &opened, nullptr);
    if (error != 0) return fail_by_fabric("fi_mr_reg", error);
    region.part = std::make_unique<FabricRegion>(opened);
    region.key = fi_mr_key(opened);
    region.named_base = info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<uintptr_t>(region.base) : 0;
    return BK_OK;
  }

  void withdraw(Region&) override {}

  bool is_withdrawn(Region& region) override {
    auto* part = static_cast<FabricRegion*>(region.part.get());
    if (!part) return true;
    if (fi_close(&part->region->fid) != 0) return false;
    region.part.reset();
    return true;
  }

  Posted post(const Piece& piece, Done& done) override {
    const auto* part = piece.own ? static_cast<const FabricRegion*>(piece.own->part.get()) : nullptr;
    done.status = BK_E_INVAL;
    if (needs_regions_ && !part) return Posted::Over;
    Context& context = contexts_[piece.slot];
    context.bytes = piece.bytes;
    context.is_to_be_flushed = piece.writes && flushes_writes_;
    if (context.is_to_be_flushed) {
      const uint64_t length = std::min(kFlushBytes, piece.bytes);
      context.peer = static_cast<const FabricPeer*>(piece.peer)->number;
      context.tail = {piece.remote->base + piece.offset + piece.bytes - length, length, piece.remote->key};
    }
    void* description = part ? fi_mr_desc(part->region) : nullptr;
    const iovec here{piece.local, piece.bytes};
    const fi_rma_iov rma{piece.remote->base + piece.offset, piece.bytes, piece.remote->key};
    const fi_msg_rma message{&here, &description, 1, static_cast<const FabricPeer*>(piece.peer)->number, &rma, 1, &context, 0};
    const uint64_t flags = FI_COMPLETION | write_flags_;
    const ssize_t posted = piece.writes ? fi_writemsg(endpoint_, &message, flags) : fi_readmsg(endpoint_, &message, FI_COMPLETION);
    if (posted == -FI_EAGAIN) return Posted::Full;
    if (posted != 0) {
      done.error = static_cast<int32_t>(-posted);
      done.status = status_of(done.error);
      return Posted::Over;
    }
    context.is_out = true;
    return Posted::Out;
  }

  void poll(std::vector<Done>& done) override {
    if (is_stopped_) return report_rest(done);
    fi_cq_entry entries[kPieces];
    const bool is_roused = is_roused_;
    is_roused_ = false;
    const ssize_t count = roused_in_vain_ < kInVain ? fi_cq_read(queue_, entries, kPieces) : fi_cq_sread(queue_, entries, kPieces, nullptr, 1);
    roused_in_vain_ = is_roused && roused_in_vain_ < kInVain && count == -FI_EAGAIN ? roused_in_vain_ + 1 : 0;
    for (ssize_t at = 0; at < count; ++at) {
      auto* context = static_cast<Context*>(entries[at].op_context);
      if (context && context->is_out && context->is_to_be_flushed) flushes_.push_back(context);
      else report(context, BK_OK, 0, done);
    }
    fi_cq_err_entry wrong{};
    if (count == -FI_EAVAIL && fi_cq_readerr(queue_, &wrong, 0) == 1) report(wrong.op_context, status_of(wrong, flushes_writes_), wrong.err, done);
    std::erase_if(flushes_, [&](Context* context) { return flush(*context, done); });
    fi_eq_entry event;
    uint32_t kind = 0;
    if (events_ && fi_eq_read(events_, &kind, &event, sizeof event, 0) == -FI_EAVAIL) {
      fi_eq_err_entry unread{};
      fi_eq_readerr(events_, &unread, 0);
    }
  }

  // An endpoint that is closed moves nothing more (provider.P2).
  void abort() override {
    is_stopped_ = true;
    if (endpoint_ && fi_close(&endpoint_->fid) == 0) endpoint_ = nullptr;
  }

  Rest rest(std::vector<pollfd>& wakes) override {
    if (is_stopped_) return Rest::Wait;
    if (wake_ < 0 || !flushes_.empty()) return Rest::Soon;
    fid* all[] = {&queue_->fid};
    if (fi_trywait(fabric_, all, 1) != FI_SUCCESS) return Rest::Not;
    pollfd wake{wake_, POLLIN, 0};
    is_roused_ = ::poll(&wake, 1, 0) > 0;
    if (is_roused_) return Rest::Not;
    wakes.push_back(wake);
    return Rest::Wait;
  }

  std::string text_of(int32_t error) const override { return error == 0 ? "" : words(error); }

 private:
  template <typename Object>
  static fid* own(Object* object) {
    return object ? &object->fid : nullptr;
  }

  int open_queue(fi_cq_attr& attributes) {
    attributes.wait_obj = FI_WAIT_FD;
    if (fi_cq_open(domain_, &attributes, &queue_, nullptr) == 0) {
      if (fi_control(&queue_->fid, FI_GETWAIT, &wake_) == 0) return 0;
      wake_ = -1;
      return 0;
    }
    attributes.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(domain_, &attributes, &queue_, nullptr);
  }

  // The same memory twice has two keys, unless libfabric keeps registrations: then rights are not what was asked for, and a close is none (provider.P3).
  // Memory that nobody may reach need not have a key, so that this is asked of some bytes that are nothing, and for a moment only.
  bk_status open_flush() {
    static char nothing[kFlushBytes];
    fid_mr* twice[2] = {};
    int error = fi_mr_reg(domain_, flush_bytes_, sizeof flush_bytes_, FI_READ, 0, 0, 0, &flushed_, nullptr);
    for (fid_mr*& one : twice)
      if (error == 0) error = fi_mr_reg(domain_, nothing, sizeof nothing, FI_REMOTE_READ, 0, 0, 0, &one, nullptr);
    const bool is_kept = error == 0 && fi_mr_key(twice[0]) == fi_mr_key(twice[1]);
    for (fid_mr* one : twice)
      if (one) fi_close(&one->fid);
    if (error != 0) return fail_by_fabric("fi_mr_reg", error);
    return is_kept ? fail(BK_E_UNSUPPORTED, "libfabric keeps registrations: it was begun without FI_MR_CACHE_MAX_COUNT=0") : static_cast<bk_status>(BK_OK);
  }

  bk_status take_name() {
    char name[kAddressMax];
    size_t length = sizeof name;
    const int error = fi_getname(&endpoint_->fid, name, &length);
    if (error != 0) return fail_by_fabric("fi_getname", error);
    name_.assign(name, length);
    return BK_OK;
  }

  // A write that the hardware has taken may not have come to the other side's memory: what is read behind it over the same way has pushed it there.
  bool flush(Context& context, std::vector<Done>& done) {
    const iovec here{flush_bytes_ + context.slot * kFlushBytes, context.tail.len};
    void* description = fi_mr_desc(flushed_);
    const fi_msg_rma message{&here, &description, 1, context.peer, &context.tail, 1, &context, 0};
    context.is_to_be_flushed = false;
    const ssize_t posted = fi_readmsg(endpoint_, &message, FI_COMPLETION);
    if (posted == 0) return true;
    context.is_to_be_flushed = posted == -FI_EAGAIN;
    if (!context.is_to_be_flushed) report(&context, status_of(static_cast<int>(-posted)), static_cast<int32_t>(-posted), done);
    return !context.is_to_be_flushed;
  }

  static void report(void* of, bk_status status, int32_t error, std::vector<Done>& done) {
    auto* context = static_cast<Context*>(of);
    if (!context || !context->is_out) return;
    context->is_out = false;
    done.push_back({context->slot, status, error, status == BK_OK ? context->bytes : 0});
  }

  void report_rest(std::vector<Done>& done) {
    if (endpoint_) abort();
    if (endpoint_) return;
    for (Context& context : contexts_)
      if (context.is_out) report(&context, BK_E_CANCELED, 0, done);
  }

  bool needs_regions_ = false, flushes_writes_ = false, forgets_ = true, is_stopped_ = false, is_roused_ = false;
  uint32_t roused_in_vain_ = 0;
  uint64_t write_flags_ = 0;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_eq* events_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* queue_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_mr* flushed_ = nullptr;
  char flush_bytes_[kPieces * kFlushBytes] = {};
  std::vector<Context*> flushes_;  // written, and their flush not yet posted
  int wake_ = -1;
  std::string name_;
  Context contexts_[kPieces];
};

}  // namespace

bk_status judge_fabric(const char* name, std::string& reason) {
  const FabricLibrary& library = FabricLibrary::get();
  reason = library.missing;
  if (!reason.empty()) return BK_E_UNSUPPORTED;
  const KeptSignals kept;
  int error = 0;
  fi_info* found = find_info(*variant_of(name), true, "", error);
  if (found) library.freeinfo(found);
  else reason = "libfabric has no such provider here: " + words(error);
  return found ? BK_OK : BK_E_UNSUPPORTED;
}

bk_status make_fabric(const char* name, const Opening& opening, std::unique_ptr<Provider>& made) {
  const KeptSignals kept;
  auto fabric = std::make_unique<Fabric>();
  const bk_status opened = fabric->open(*variant_of(name), opening);
  if (opened == BK_OK) made = std::move(fabric);
  return opened;
}

}  // namespace garnet::bulk

#else

namespace garnet::bulk {

bk_status judge_fabric(const char*, std::string& reason) {
  reason = "this build was made without headers of libfabric that it knows (1.9 to 1.17)";
  return BK_E_UNSUPPORTED;
}

bk_status make_fabric(const char*, const Opening&, std::unique_ptr<Provider>&) { return BK_E_UNSUPPORTED; }

}  // namespace garnet::bulk
#endif
