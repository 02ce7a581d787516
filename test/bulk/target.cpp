// The other process of a provider's tests: exposes memory as its stdin says, and answers a line to each.
//   open BYTES ACCESS SEED   = BASE BYTES KEY of region 0, 1, …; or the status, if there is none
//   judge N SEED             = 1 if region N holds what this seed makes
//   close N                  = the status; its memory is overwritten then
#include <unistd.h>

#include <iostream>
#include <memory>
#include <sstream>

#include "harness.h"

int run_target(const char* provider) {
  struct Exposed {
    std::unique_ptr<Memory> memory;
    bk_region region = 0;
  };
  std::vector<Exposed> exposed;
  const Opened endpoint(provider, BK_EXPOSES);
  const std::string address = endpoint.address();
  std::cout << getpid() << ' ' << address.size() << '\n';
  std::cout.write(address.data(), static_cast<std::streamsize>(address.size())) << std::endl;

  std::string line, word;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    uint64_t number = 0, access = 0, seed = 0;
    words >> word >> number >> access >> seed;
    if (word == "open") {
      Exposed made{std::make_unique<Memory>(number, seed)};
      bk_region_config config{sizeof config, static_cast<uint32_t>(access), made.memory->at(), number, nullptr, 0};
      bk_region_name name{};
      const bk_status opened = bk_region_open(endpoint, &config, &made.region, &name);
      if (opened != BK_OK) {
        std::cout << opened << std::endl;
        continue;
      }
      exposed.push_back(std::move(made));
      std::cout << name.base << ' ' << name.bytes << ' ' << name.key << std::endl;
    } else if (word == "judge") {
      // What the endpoint's thread wrote here before, it wrote before this: nobody but the other process knows of the order otherwise.
      bk_region_close(endpoint, 0, 0);
      const Memory wanted(exposed[number].memory->held.size(), access);
      std::cout << (exposed[number].memory->held == wanted.held ? 1 : 0) << std::endl;
    } else if (word == "close") {
      const bk_status status = bk_region_close(endpoint, exposed[number].region, kLong);
      // Closed memory is the owner's again: whoever still wrote there would be seen.
      exposed[number].memory->fill(0xdead);
      std::cout << status << std::endl;
    }
  }
  for (const Exposed& one : exposed) bk_region_close(endpoint, one.region, kLong);
  return 0;
}
