/* The header is C, and its structures lie as managed code declares them. */
#include "garnet_bulk.h"

_Static_assert(sizeof(bk_endpoint_config) == 56, "bk_endpoint_config");
_Static_assert(sizeof(bk_region_config) == 40, "bk_region_config");
_Static_assert(sizeof(bk_segment_config) == 16, "bk_segment_config");
_Static_assert(sizeof(bk_region_name) == 24, "bk_region_name");
_Static_assert(sizeof(bk_local) == 24, "bk_local");
_Static_assert(sizeof(bk_remote) == 40, "bk_remote");
_Static_assert(sizeof(bk_transfer) == 56, "bk_transfer");
_Static_assert(sizeof(bk_completion) == 64, "bk_completion");
_Static_assert(sizeof(bk_ring_header) == 192, "bk_ring_header");
_Static_assert(sizeof(bk_ring) == 24, "bk_ring");
_Static_assert(sizeof(bk_provider_fact) == 256, "bk_provider_fact");
_Static_assert(sizeof(bk_figures) == 72, "bk_figures");
_Static_assert(sizeof(bk_loop_fault) == 40, "bk_loop_fault");

_Static_assert(sizeof(bk_memory_fact) == 16, "bk_memory_fact");
_Static_assert(sizeof(bk_pin_config) == 24, "bk_pin_config");
_Static_assert(sizeof(bk_pins) == 56, "bk_pins");

uint32_t version_by_c(void) { return bk_abi_version(); }
