/*
 * Bulk: bytes between the memory of two processes, at the speed of memory or of a fabric. A C interface; what is inside is C++.
 *
 * An endpoint has a provider (what carries the bytes), a thread that does all of its work, and a ring of completions. One endpoint
 * exposes regions of its memory; another one, told their names by whatever way the two processes talk, reads and writes there.
 *
 *   - Every function returns BK_OK or an error that has a name; no exception and no callback crosses this line.
 *   - Handles are numbers with a generation: one that was closed, or never was, gives BK_E_HANDLE. 0 is never one.
 *   - Structures that are handed in begin with their size, so that a later version can add to their end.
 *   - Every function may be called from any thread, but for bk_wait and bk_take: one thread takes an endpoint's completions.
 *   - The memory of a transfer is the library's until its completion is in the ring, whatever that says. A completion is never there
 *     before the last byte has come to rest: what cannot be stopped in time poisons its endpoint, which takes nothing more, and ends
 *     once the provider has let go of all memory.
 *   - Times are nanoseconds. A limit of 0 means: look, and do not wait.
 */
#ifndef GARNET_BULK_H
#define GARNET_BULK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BK_API __attribute__((visibility("default")))
#define BK_ABI_VERSION 1u

typedef int32_t bk_status;
enum {
  BK_OK = 0,
  BK_E_INVAL = -1,        /* an argument that can never be right */
  BK_E_HANDLE = -2,       /* no such endpoint, region, peer or operation (any more) */
  BK_E_NOMEM = -3,
  BK_E_AGAIN = -4,        /* the ring has no room for one more completion: take some */
  BK_E_TIMEOUT = -5,
  BK_E_CANCELED = -6,
  BK_E_KEY = -7,          /* the other side does not allow it: key, right, or memory that is not there */
  BK_E_RANGE = -8,        /* not inside the region */
  BK_E_PEER = -9,         /* the other side is not there, or not whom it has to be */
  BK_E_UNSUPPORTED = -10, /* this build, this machine or this provider cannot do it */
  BK_E_BUSY = -11,        /* still in use: call again */
  BK_E_IO = -12,
  BK_E_DEVICE = -13,
  BK_E_CLOSED = -15,
  BK_E_VERSION = -17,
  BK_E_POISONED = -18,    /* an operation of this endpoint did not end in time */
  BK_E_DENIED = -19       /* this endpoint exposes nothing, or the system forbids it */
};

typedef uint64_t bk_endpoint;
typedef uint64_t bk_region;
typedef uint64_t bk_peer;
typedef uint64_t bk_op;

/* Of an endpoint: without BK_EXPOSES none of its memory can be reached by others, whatever is asked of it later. */
enum { BK_EXPOSES = 1u, BK_VIRTUAL_CLOCK = 2u /* `loop` only: time passes by bk_loop_advance */ };

typedef struct bk_endpoint_config {
  uint32_t size;
  uint32_t flags;
  const char* provider; /* "loop", "local", "tcp", "net", "shm" or "verbs"; not terminated */
  uint64_t provider_bytes;
  uint64_t timeout_ns;  /* of transfers that name none; 0 = 30 s */
  uint32_t ring_entries; /* a power of two, at most 65,536: transfers begun and not yet taken from the ring; 0 = 256 */
  uint32_t reserved;
  const char* bind;      /* an address of this machine that others are to come to, for providers with a network; not terminated */
  uint64_t bind_bytes;   /* 0 = whichever the provider takes */
} bk_endpoint_config;

/* Memory of the library's own, which a process that reaches a region in it by `local` maps, instead of having the kernel copy: some three
   times as fast. It is closed by whoever opened it, behind its regions. */
typedef uint64_t bk_segment;
enum { BK_SEGMENT_PIN = 1u /* in the background, as bk_pin_add does; for as long as it is open */ };
typedef struct bk_segment_config {
  uint32_t size;
  uint32_t flags;
  uint64_t bytes;
} bk_segment_config;

/* Rights that others have to a region; 0 = none, it is only used from here. */
enum { BK_REMOTE_READ = 1u, BK_REMOTE_WRITE = 2u };

typedef struct bk_region_config {
  uint32_t size;
  uint32_t access;
  void* base; /* stays mapped until bk_region_close or bk_endpoint_close has returned BK_OK */
  uint64_t bytes;
  /* "cuda:0": memory of this device, not terminated; 0 bytes = of the host. It has no rights for others: transfers that name it go by windows
     of the host's. The first of these opens the driver. */
  const char* device;
  uint64_t device_bytes;
} bk_region_config;

/* The name of a region, for those who are to reach it. */
typedef struct bk_region_name {
  uint64_t base;
  uint64_t bytes;
  uint64_t key;
} bk_region_name;

typedef struct bk_local {
  void* at;
  uint64_t bytes;
  bk_region region; /* the own region it lies in; 0 = none: memory of the host, which goes by windows where a provider wants regions */
} bk_local;

typedef struct bk_remote {
  bk_region_name region;
  uint64_t offset;
  uint64_t bytes;
} bk_remote;

enum { BK_VECTOR_MAX = 64 };

typedef struct bk_transfer {
  uint32_t size;
  uint32_t reserved;
  bk_peer peer;
  const bk_local* local; /* both lists are copied; together they name equally many bytes */
  const bk_remote* remote;
  uint32_t local_count;
  uint32_t remote_count;
  uint64_t timeout_ns; /* 0 = the endpoint's */
  uint64_t user;       /* comes back in the completion */
} bk_transfer;

typedef struct bk_completion {
  uint64_t user;
  bk_op op;
  bk_status status;
  int32_t provider_error; /* the provider's own number, or 0: bk_provider_text */
  uint64_t bytes;         /* that are known to have been moved; all of them if the status is BK_OK */
  uint64_t elapsed_ns;
  uint64_t reserved[3];
} bk_completion;

/*
 * The ring lies in memory that both sides read: entry `tail % capacity` is the next one as long as `tail` is not `head`. `head` is read
 * with acquire; whoever has taken an entry writes `tail` with release, which gives the entry back. Only the library writes the rest.
 */
typedef struct bk_ring_header {
  uint64_t head;
  uint64_t apart[7];
  uint64_t tail;
  uint64_t apart_too[7];
  uint32_t waiting;
  uint32_t capacity;
  uint64_t apart_as_well[7];
} bk_ring_header;

typedef struct bk_ring {
  uint32_t size;
  int32_t event; /* an eventfd, readable once somebody in bk_wait has something to take */
  bk_ring_header* header;
  const bk_completion* entries;
} bk_ring;

typedef struct bk_provider_fact {
  uint32_t size;
  bk_status status;      /* BK_OK: endpoints can be opened; else why not */
  char name[16];         /* both terminated */
  char reason[232];
} bk_provider_fact;

typedef struct bk_figures {
  uint32_t size;
  uint32_t state; /* 0 open, 1 poisoned, 2 closing, 3 closed */
  uint64_t transfers_open, regions_open, peers_open;
  uint64_t transfers_done, transfers_failed, bytes_read, bytes_written;
  uint64_t bytes_staged; /* that went by a window of this side */
} bk_figures;

/* What the driver says of memory; without one that is open all is the host's. */
enum { BK_MEMORY_HOST = 0, BK_MEMORY_PINNED = 1, BK_MEMORY_DEVICE = 2, BK_MEMORY_MANAGED = 3 };
typedef struct bk_memory_fact {
  uint32_t size;
  uint32_t kind;
  int32_t device; /* its number, or -1 */
  uint32_t reserved;
} bk_memory_fact;

/*
 * Pinning: memory of the host that the driver of a device knows is copied to and from it at several times the speed. It is done in the background, in
 * chunks, in the order in which it was asked for, and is never needed: what cannot be pinned is copied all the same.
 *   BK_PIN_AUTO    from when a region of a device is open. No device is touched in order to pin.
 *   BK_PIN_OFF     never.
 *   BK_PIN_FORCED  at once, by the first device.
 */
enum { BK_PIN_AUTO = 0, BK_PIN_OFF = 1, BK_PIN_FORCED = 2 };
typedef struct bk_pin_config {
  uint32_t size;
  uint32_t mode;
  uint64_t budget_bytes; /* 0 = a quarter of the machine's memory, and no more than this process may lock */
  uint64_t retry_ns;     /* how long after a failure it is tried again; 0 = a minute */
} bk_pin_config;

typedef uint64_t bk_pin;

typedef struct bk_pins {
  uint32_t size;
  uint32_t mode;
  uint64_t pinned_bytes, waiting_bytes, budget_bytes;
  uint64_t failures;       /* attempts that the driver refused */
  uint64_t skipped_bytes;  /* that the budget had no room for */
  uint64_t leaked_bytes;   /* that the driver would not let go of: their memory is never given back */
} bk_pins;

BK_API uint32_t bk_abi_version(void);
BK_API const char* bk_error_name(bk_status status);
/* What the last call of this thread that failed has to say; terminated, cut if need be. Returns the length of all of it. */
BK_API uint64_t bk_last_error(char* text, uint64_t capacity);
/* The nth provider that this build knows; BK_E_RANGE behind the last one. */
BK_API bk_status bk_provider_at(uint32_t index, bk_provider_fact* fact);

BK_API bk_status bk_endpoint_open(const bk_endpoint_config* config, bk_endpoint* endpoint);
/* capacity in, length out; BK_E_RANGE with the length if it does not fit. */
BK_API bk_status bk_endpoint_address(bk_endpoint endpoint, void* address, uint64_t* bytes);
BK_API bk_status bk_endpoint_figures(bk_endpoint endpoint, bk_figures* figures);
/* Takes nothing more, cancels what runs and lets go of all memory; BK_E_BUSY if that takes longer. The ring can be read until
   bk_endpoint_free, which wants a closed endpoint. */
BK_API bk_status bk_endpoint_close(bk_endpoint endpoint, uint64_t limit_ns);
BK_API bk_status bk_endpoint_free(bk_endpoint endpoint);

/* All its pages are there from the beginning, and hold zeros. */
BK_API bk_status bk_segment_open(const bk_segment_config* config, bk_segment* segment, void** at);
/* BK_E_BUSY: regions in it are open. */
BK_API bk_status bk_segment_close(bk_segment segment);

BK_API bk_status bk_peer_add(bk_endpoint endpoint, const void* address, uint64_t bytes, uint64_t limit_ns, bk_peer* peer);
/* Cancels the transfers with this peer first. */
BK_API bk_status bk_peer_drop(bk_endpoint endpoint, bk_peer peer, uint64_t limit_ns);

BK_API bk_status bk_region_open(bk_endpoint endpoint, const bk_region_config* config, bk_region* region, bk_region_name* name);
/* Nobody begins anything more in it, and once this has returned BK_OK nobody is at it. */
BK_API bk_status bk_region_close(bk_endpoint endpoint, bk_region region, uint64_t limit_ns);

BK_API bk_status bk_read(bk_endpoint endpoint, const bk_transfer* transfer, bk_op* op);
BK_API bk_status bk_write(bk_endpoint endpoint, const bk_transfer* transfer, bk_op* op);
/* Asks for an end: the completion says BK_E_CANCELED, or how it ended before that. */
BK_API bk_status bk_cancel(bk_endpoint endpoint, bk_op op);

BK_API bk_status bk_endpoint_ring(bk_endpoint endpoint, bk_ring* ring);
/* Until there is something to take: BK_OK; BK_E_TIMEOUT; BK_E_CLOSED if there will never be anything more. */
BK_API bk_status bk_wait(bk_endpoint endpoint, uint64_t limit_ns);
BK_API bk_status bk_take(bk_endpoint endpoint, bk_completion* out, uint32_t capacity, uint64_t limit_ns, uint32_t* taken);
BK_API uint64_t bk_provider_text(bk_endpoint endpoint, int32_t provider_error, char* text, uint64_t capacity);

/* Between any two memories of this process, the host's and a device's; whoever calls it waits. Memory of a device has to be in an open region,
   all of it. Nothing is under way any more when it returns, whatever it returns. */
BK_API bk_status bk_copy(void* to, const void* from, uint64_t bytes);
BK_API bk_status bk_memory_kind(const void* at, bk_memory_fact* fact);

BK_API bk_status bk_pin_configure(const bk_pin_config* config);
/* Whole pages, that nothing else has pinned here. 0 bytes are 0, which is none. */
BK_API bk_status bk_pin_add(void* at, uint64_t bytes, bk_pin* pin);
/* Until each of its chunks has been tried: BK_OK, or BK_E_BUSY. */
BK_API bk_status bk_pin_wait(bk_pin pin, uint64_t limit_ns);
/* BK_E_DEVICE: the driver does not let go of it. The pin is gone all the same, but its memory must never be given back. */
BK_API bk_status bk_pin_drop(bk_pin pin);
BK_API bk_status bk_pin_figures(bk_pins* figures);

/* Provider `loop`: what happens to one of the coming pieces (a transfer's bytes go in pieces of 64 KiB there), and time that passes. */
enum { BK_LOOP_DELAY = 1u, BK_LOOP_FAIL = 2u, BK_LOOP_TORN = 3u, BK_LOOP_HANG = 4u, BK_LOOP_FULL = 5u };

typedef struct bk_loop_fault {
  uint32_t size;
  uint32_t kind;     /* DELAY: done later. FAIL: nothing is moved. TORN: `bytes` are. HANG: for ever; stopped, it is done later all the
                        same. FULL: is not taken before then. */
  uint64_t skip;     /* pieces that go as usual first */
  uint64_t later_ns;
  uint64_t bytes;
  bk_status status;
  uint32_t reserved;
} bk_loop_fault;

BK_API bk_status bk_loop_script(bk_endpoint endpoint, const bk_loop_fault* fault);
/* Returns when all that is due by then has been done. */
BK_API bk_status bk_loop_advance(bk_endpoint endpoint, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
