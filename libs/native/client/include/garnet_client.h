/*
 * A connection to a Garnet server over which values of megabytes are put and got. Where the server reaches this process's memory (it is on
 * this machine, and of the same user) it reads and writes in the buffers; elsewhere the bytes go over the connection, with the same calls and
 * results. A C interface; what is inside is C++.
 *
 *   - A client is for one thread at a time, with its buffers.
 *   - Structures that are handed in begin with their size, so that a later version can add to their end.
 *   - While a call with a buffer is under way, its memory is the server's too.
 *   - Sizes are bytes, times milliseconds.
 */
#ifndef GARNET_CLIENT_H
#define GARNET_CLIENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GC_API __attribute__((visibility("default")))

typedef int32_t gc_status;
enum {
  GC_OK = 0,
  GC_NOTHING = 1,  /* there is no such key, or a condition of the options does not hold: nothing has changed */
  GC_INVAL = -1,   /* an argument that can never be right; gc_error names it */
  GC_REFUSED = -2, /* the server says why in gc_error; the connection goes on */
  GC_BROKEN = -3,  /* the connection has ended, or a call on it did not come to its end: connect anew */
  GC_NOMEM = -4
};

typedef struct gc_client gc_client;
typedef struct gc_buffer gc_buffer;

typedef struct gc_config {
  uint32_t size;
  uint32_t timeout;      /* of each call; 0 = 60,000 */
  const char* host;      /* a name or an address, or the path of a Unix socket, which begins with '/'; NULL = 127.0.0.1 */
  uint32_t port;         /* 0 = 6379 */
  uint32_t reserved;
  const char* user;      /* NULL = the user default */
  const char* password;  /* NULL = none is said */
  const char* providers; /* which may be used, the best first, with commas: local, verbs, net, inline; NULL = "local,inline" */
} gc_config;

/* Options of a put. */
enum { GC_IF_ABSENT = 1u, GC_IF_PRESENT = 2u, GC_HAS_AT = 4u, GC_HAS_CRC = 8u };
typedef struct gc_put_options {
  uint32_t size;
  uint32_t flags;
  uint64_t at;            /* GC_HAS_AT: where the bytes begin in the value, of which the rest stays */
  uint64_t expires;       /* how long the value is to live; 0 = for good */
  const char* if_version; /* only if the value there has that version; NULL = whatever it has */
  uint32_t crc;           /* GC_HAS_CRC: the CRC-32C that the bytes must have when they have come */
  uint32_t reserved;
} gc_put_options;

typedef struct gc_stored {
  char version[32]; /* of the whole value: what the options of later calls want; terminated */
  uint32_t crc;     /* CRC-32C of the bytes that have come */
  uint32_t reserved;
} gc_stored;

typedef struct gc_get_options {
  uint32_t size;
  uint32_t reserved;
  uint64_t from;          /* where the bytes begin in the value */
  uint64_t length;        /* at most so many; 0 = as many as there is room for */
  const char* if_version; /* else GC_REFUSED, with BULKVER in gc_error; NULL = whichever is there */
} gc_get_options;

typedef struct gc_fetched {
  uint64_t length; /* bytes that have come */
  uint64_t total;  /* bytes that the value has */
  char version[32];
  uint32_t crc;     /* of the bytes that have come */
  uint32_t missing; /* gc_get_many: 1 = there is no such key, or it holds no string, and nothing has come */
} gc_fetched;

/* A key, and the place in a buffer from which its value is put, or into which it is got. */
typedef struct gc_item {
  uint32_t size;
  uint32_t reserved;
  const void* key;
  uint64_t key_bytes;
  gc_buffer* buffer;
  uint64_t offset;
  uint64_t length; /* of a get: as many as there is room for */
} gc_item;

/* If it fails there is no client; what it has to say is written to `why`, terminated, cut if need be. */
GC_API gc_status gc_connect(const gc_config* config, gc_client** client, char* why, uint64_t capacity);
/* What carries the bytes: "local", or "inline", which is the connection. */
GC_API const char* gc_provider(const gc_client* client);
/* What the last call that did not succeed has to say. */
GC_API const char* gc_error(const gc_client* client);
/* Buffers must have been released before. */
GC_API void gc_close(gc_client* client);

/* Memory that the server reaches as fast as its own, filled with zeros. */
GC_API gc_status gc_allocate(gc_client* client, uint64_t bytes, gc_buffer** buffer);
/* Memory of the caller's, which stays where it is until it is released: the kernel copies from and to it, at a third of the speed. */
GC_API gc_status gc_register(gc_client* client, void* at, uint64_t bytes, gc_buffer** buffer);
GC_API void* gc_memory(const gc_buffer* buffer, uint64_t* bytes);
/* The server is not at the memory any more when it returns, whatever it returns; the buffer is gone. */
GC_API gc_status gc_release(gc_buffer* buffer);

/* `options` may be NULL, and so may `stored`. */
GC_API gc_status gc_put(gc_client* client, const void* key, uint64_t key_bytes, gc_buffer* from, uint64_t offset, uint64_t length,
                        const gc_put_options* options, gc_stored* stored);
GC_API gc_status gc_get(gc_client* client, const void* key, uint64_t key_bytes, gc_buffer* into, uint64_t offset, uint64_t capacity,
                        const gc_get_options* options, gc_fetched* fetched);

/* Up to 64 values at once, all of which take effect together, or none does: GC_NOTHING if a condition does not hold for one of the keys.
   Options of one value (a version, a place, a checksum) are GC_INVAL. `stored`, which may be NULL, has as many places as there are items. */
GC_API gc_status gc_put_many(gc_client* client, const gc_item* items, uint64_t count, const gc_put_options* options, gc_stored* stored);
/* Up to 64 values, all as they were at one moment. `fetched` has as many places as there are items. */
GC_API gc_status gc_get_many(gc_client* client, const gc_item* items, uint64_t count, gc_fetched* fetched);

#ifdef __cplusplus
}
#endif
#endif
