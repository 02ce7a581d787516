// An endpoint: one provider, one thread, one ring.
//   E1  A completion is in the ring only once the provider has let go of every piece of its transfer (provider.P1).
//   E2  A transfer whose time is over while the provider has pieces of it poisons the endpoint: the provider is stopped, nothing new is
//       taken, and what is under way ends when E1 allows it.
//   E3  A ring has room for every transfer that was taken: one is refused (BK_E_AGAIN) before that would not be so.
//   E4  Without BK_EXPOSES no region has rights for others.
//   E5  What another process can hold up (its memory may be pages that never come) is done on the endpoint's thread, outside of its lock, and nobody waits
//       for it longer than he said: a peer that is not proved in time poisons the endpoint, as a transfer does. It closes once the thread is back.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "ring.h"
#include "slots.h"
#include "transfer.h"
#include "window.h"

namespace garnet::bulk {

class Endpoint {
 public:
  explicit Endpoint(const bk_endpoint_config& config);
  ~Endpoint();

  bk_status open(const ProviderKind& kind);
  std::string address() const { return provider_->address(); }
  std::string text_of(int32_t error) const { return provider_->text_of(error); }
  void figures(bk_figures& out);
  bk_status close(uint64_t limit_ns);
  bool is_closed();

  bk_status add_peer(std::string_view address, uint64_t limit_ns, bk_peer* out);
  bk_status drop_peer(bk_peer peer, uint64_t limit_ns);
  bk_status open_region(const bk_region_config& config, bk_region* out, bk_region_name* name);
  bk_status close_region(bk_region region, uint64_t limit_ns);
  bk_status submit(const bk_transfer& transfer, bool writes, bk_op* out);
  bk_status cancel(bk_op op);

  Ring& ring() { return ring_; }
  bk_status script(const bk_loop_fault& fault);
  bk_status advance(uint64_t ns);

 private:
  enum State : uint32_t { Open, Poisoned, Closing, Closed };
  struct Order {
    enum Stage { Waits, Runs, Done };
    std::function<bk_status()> what;
    bk_status status = BK_E_CLOSED;
    std::string text;  // of what went wrong
    Stage stage = Waits;
  };

  bk_status judge_state() const;
  bk_status judge(const bk_transfer& transfer, uint64_t& bytes) const;
  std::shared_ptr<Order> put(std::function<bk_status()> what);
  bk_status order(std::function<bk_status()> what, uint64_t limit_ns = kNever);
  bk_status order_until(std::function<bk_status()> what, uint64_t limit_ns);
  void settle();
  void wake();

  // The thread's.
  void run();
  bool take_orders();
  bool take_order();
  bool heed();
  bool post();
  bool gather();
  bool deliver();
  void poison();
  void stop_provider();
  bool try_end();
  void finish(Transfer& transfer, Done& done);
  bool is_staged(const Region* own) const { return own ? own->device != nullptr : limits_.needs_regions; }
  void rest();

  const uint32_t flags_;
  const std::string bind_;
  const uint64_t timeout_ns_;
  const uint32_t capacity_;
  Clock clock_;
  std::unique_ptr<Provider> provider_;
  Limits limits_{};
  Ring ring_;
  int wake_ = -1;

  std::mutex mutex_;  // guards what follows, down to the thread's own
  std::condition_variable changed_;
  State state_ = Open;
  bool sleeping_ = false;
  Slots<std::unique_ptr<Region>> regions_;
  Slots<std::unique_ptr<Peer>> peers_;
  std::vector<Transfer> transfers_;
  std::vector<uint32_t> free_transfers_;
  std::vector<uint32_t> submitted_;
  std::vector<std::shared_ptr<Order>> orders_;
  uint64_t taken_ = 0;  // transfers ever taken
  uint64_t failed_ = 0, done_ = 0, read_ = 0, written_ = 0;
  std::atomic<uint64_t> staged_ = 0;

  std::vector<uint32_t> incoming_;
  std::vector<uint32_t> active_;
  std::vector<uint32_t> piece_owner_;
  std::vector<uint32_t> free_pieces_;
  std::vector<Done> gathered_;
  std::vector<pollfd> wakes_;
  std::unique_ptr<Windows> windows_;
  bool is_stopped_ = false;  // the provider is
  bool is_ending_ = false;
  bool is_poisoned_ = false;
  bool is_full_ = false;     // the provider would not take a piece
  bool was_idle_ = false;    // the last round did nothing
  uint64_t busy_at_ = 0;
  std::thread thread_;
};

}  // namespace garnet::bulk
