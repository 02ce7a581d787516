// A driver of devices that there are none of, for tests: its memory cannot be touched but by its own copies, it notes its calls, and fails as it is told.
#pragma once
#include <cstdint>
#include <string>

constexpr int kStubDevices = 2;

// Memory of a device; not to be touched from here.
extern "C" char* stub_memory(int device, uint64_t bytes, bool is_managed);
extern "C" void stub_free(char* at);
// What lies there.
extern "C" char* stub_look(char* at);
// Calls of this name so far; null: of any.
extern "C" uint64_t stub_calls(const char* name);
// The nth call of this name from now on fails with this; 0 times nothing.
extern "C" void stub_fail(const char* name, uint64_t nth, int result, uint64_t times);
// Contexts that this thread has pushed, how often primary contexts are retained, and bytes that are registered.
extern "C" int stub_depth();
extern "C" int stub_retained();
extern "C" uint64_t stub_registered();
