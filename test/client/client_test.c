/* The C interface of libgarnet-client, in C: what is put is got, by each provider, and errors are told. client_test HOST [net] */
#include <garnet_client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
  do { \
    if (!(what)) { \
      fprintf(stderr, "%s:%d: not so: %s; %s\n", __FILE__, __LINE__, #what, gc_error(client)); \
      exit(1); \
    } \
  } while (0)

enum { kBytes = 3000001 };

static void fill(unsigned char* at, uint64_t bytes, unsigned seed) {
  for (uint64_t i = 0; i < bytes; ++i) at[i] = (unsigned char)(i * 31 + (i >> 8) + seed);
}

static void try_with(const char* host, const char* providers, const char* expected) {
  gc_client* client = NULL;
  char why[256];
  gc_config config = {sizeof config, 0, host, 0, 0, NULL, NULL, providers};
  if (gc_connect(&config, &client, why, sizeof why) != GC_OK) {
    fprintf(stderr, "%s: %s\n", providers, why);
    exit(1);
  }
  CHECK(strcmp(gc_provider(client), expected) == 0);
  gc_buffer *from = NULL, *into = NULL;
  unsigned char* own = malloc(kBytes);
  CHECK(gc_allocate(client, kBytes, &from) == GC_OK);
  CHECK(gc_register(client, own, kBytes, &into) == GC_OK);
  uint64_t bytes = 0;
  unsigned char* at = gc_memory(from, &bytes);
  CHECK(bytes == kBytes);

  gc_stored stored;
  gc_fetched fetched;
  for (uint64_t length = 0; length < kBytes; length = length * 3 + 1) {
    fill(at, kBytes, (unsigned)length);
    memset(own, 0xee, kBytes);
    CHECK(gc_put(client, "c", 1, from, 1, length, NULL, &stored) == GC_OK);
    CHECK(gc_get(client, "c", 1, into, 0, kBytes, NULL, &fetched) == GC_OK);
    CHECK(fetched.length == length && fetched.total == length && fetched.crc == stored.crc && strcmp(fetched.version, stored.version) == 0);
    CHECK(memcmp(own, at + 1, length) == 0 && own[length] == 0xee);
  }

  /* All of it, a part of it, and a part put. */
  CHECK(gc_put(client, "c", 1, from, 0, kBytes, NULL, &stored) == GC_OK);
  gc_get_options part = {sizeof part, 0, 1000000, 1234567, stored.version};
  CHECK(gc_get(client, "c", 1, into, 7, kBytes - 7, &part, &fetched) == GC_OK);
  CHECK(fetched.length == 1234567 && fetched.total == kBytes && memcmp(own + 7, at + 1000000, 1234567) == 0);
  gc_put_options in_the_midst = {sizeof in_the_midst, GC_HAS_AT, 5, 0, NULL, 0, 0};
  CHECK(gc_put(client, "c", 1, from, 100, 10, &in_the_midst, &stored) == GC_OK);
  CHECK(gc_get(client, "c", 1, into, 0, 100, NULL, &fetched) == GC_OK);
  CHECK(fetched.length == 100 && fetched.total == kBytes && memcmp(own + 5, at + 100, 10) == 0 && memcmp(own, at, 5) == 0);

  /* Conditions, and what is refused. */
  gc_put_options absent = {sizeof absent, GC_IF_ABSENT, 0, 0, NULL, 0, 0}, other = {sizeof other, 0, 0, 0, "0000000000000000", 0, 0};
  gc_put_options wrong = {sizeof wrong, GC_HAS_CRC, 0, 0, NULL, 1, 0};
  CHECK(gc_put(client, "c", 1, from, 0, 5, &absent, NULL) == GC_NOTHING);
  CHECK(gc_put(client, "c", 1, from, 0, 5, &other, NULL) == GC_REFUSED && strncmp(gc_error(client), "BULKVER", 7) == 0);
  CHECK(gc_put(client, "c", 1, from, 0, 5, &wrong, NULL) == GC_REFUSED && strncmp(gc_error(client), "BULKCRC", 7) == 0);
  CHECK(gc_get(client, "nobody", 6, into, 0, 10, NULL, NULL) == GC_NOTHING);
  CHECK(gc_put(client, "c", 1, from, 1, kBytes, NULL, NULL) == GC_INVAL);
  CHECK(gc_put(client, "c", 1, from, UINT64_MAX, 1, NULL, NULL) == GC_INVAL);
  CHECK(gc_get(client, "c", 1, NULL, 0, 1, NULL, NULL) == GC_INVAL);
  gc_put_options sizeless = {0, 0, 0, 0, NULL, 0, 0};
  CHECK(gc_put(client, "c", 1, from, 0, 5, &sizeless, NULL) == GC_INVAL);
  CHECK(gc_get(client, "c", 1, into, 0, 10, NULL, &fetched) == GC_OK && fetched.total == kBytes);

  /* Several at once: together or not at all, and each where it is to be. */
  fill(at, kBytes, 9);
  gc_item items[3] = {{sizeof(gc_item), 0, "m1", 2, from, 0, 2000000}, {sizeof(gc_item), 0, "m2", 2, from, 5, 0}, {sizeof(gc_item), 0, "m3", 2, from, kBytes - 7, 7}};
  gc_stored many[3];
  gc_fetched found[3];
  CHECK(gc_put_many(client, items, 3, NULL, many) == GC_OK);
  CHECK(gc_put_many(client, items, 2, &absent, NULL) == GC_NOTHING);
  CHECK(gc_put_many(client, items, 2, &wrong, NULL) == GC_INVAL && gc_put_many(client, items, 2, &in_the_midst, NULL) == GC_INVAL);
  CHECK(gc_put_many(client, items, 0, NULL, NULL) == GC_INVAL && gc_put_many(client, items, 65, NULL, NULL) == GC_INVAL);
  memset(own, 0xee, kBytes);
  gc_item wanted[3] = {{sizeof(gc_item), 0, "m3", 2, into, 1, 100}, {sizeof(gc_item), 0, "nobody", 6, into, 200, 100}, {sizeof(gc_item), 0, "m1", 2, into, 300, kBytes - 300}};
  CHECK(gc_get_many(client, wanted, 3, found) == GC_OK);
  CHECK(!found[0].missing && found[0].length == 7 && found[0].crc == many[2].crc && strcmp(found[0].version, many[2].version) == 0);
  CHECK(found[1].missing && found[1].length == 0 && !found[2].missing && found[2].total == 2000000 && strcmp(found[2].version, many[0].version) == 0);
  CHECK(memcmp(own + 1, at + kBytes - 7, 7) == 0 && memcmp(own + 300, at, 2000000) == 0);
  CHECK(own[0] == 0xee && own[8] == 0xee && own[200] == 0xee && own[299] == 0xee && own[2000300] == 0xee);
  wanted[2].length = kBytes;
  CHECK(gc_get_many(client, wanted, 3, found) == GC_INVAL);
  wanted[2].size = 0;
  CHECK(gc_get_many(client, wanted, 3, found) == GC_INVAL);

  CHECK(gc_release(from) == GC_OK);
  CHECK(gc_release(into) == GC_OK);
  gc_close(client);
  free(own);
  printf("c, %s: passed\n", expected);
}

int main(int count, char** words) {
  if (count < 2) return 2;
  gc_client* client = NULL;
  char why[256];
  gc_config nowhere = {sizeof nowhere, 0, "127.0.0.1", 1, 0, NULL, NULL, NULL};
  CHECK(gc_connect(&nowhere, &client, why, sizeof why) == GC_BROKEN && client == NULL && strstr(why, "refused"));
  try_with(words[1], "inline", "inline");
  try_with(words[1], "local,inline", "local");
  for (int at = 2; at < count; ++at) { /* those of libfabric that the machine has */
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s,inline", words[at]);
    try_with(words[1], wanted, words[at]);
  }
  return 0;
}
