// What went wrong, as far as words go: the text of this thread's last failed call.
#pragma once
#include <cstring>
#include <string>

#include "garnet_bulk.h"

namespace garnet::bulk {

std::string& last_error();

inline bk_status fail(bk_status status, std::string text) {
  last_error() = std::move(text);
  return status;
}

inline bk_status fail_by_errno(bk_status status, const std::string& what, int number) {
  char text[128] = "";
  return fail(status, what + ": " + strerror_r(number, text, sizeof text));
}

}  // namespace garnet::bulk
