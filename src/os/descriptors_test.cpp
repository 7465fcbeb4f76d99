#include "os/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "os/file.hpp"
#include "os/readiness.hpp"

namespace perdure::os {
namespace {

/// Runs `body` in a process of its own, because limits are those of a process.
int exit_code_of(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OpenDescriptors, AreListedAgainAndAgainAlsoWhenAllAreTaken) {
  const int code = exit_code_of([] {
    auto open = OpenDescriptors::open();
    if (!open) return 1;
    const auto before = open->list();
    if (!before) return 2;
    const rlimit low{64, 64};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return 3;
    std::vector<Fd> taken;
    for (;;) {
      Fd one(::dup(0));
      if (!one) break;
      taken.push_back(std::move(one));
    }
    const auto full = open->list();
    if (!full || full->size() != before->size() + taken.size()) return 4;
    const int last = taken.back().get();
    if (std::find(full->begin(), full->end(), last) == full->end()) return 5;
    taken.pop_back();
    const auto after = open->list();
    return after && after->size() + 1 == full->size() ? 0 : 6;
  });
  EXPECT_EQ(code, 0);
}

TEST(DescriptorLimit, IsNamedByWhoeverCannotWaitForDescriptors) {
  const int code = exit_code_of([] {
    const Fd one(::dup(0));
    rlimit usual{};
    if (!one || ::getrlimit(RLIMIT_NOFILE, &usual) != 0) return 1;
    const rlimit none{0, usual.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 2;
    Readiness readiness;
    if (::setrlimit(RLIMIT_NOFILE, &usual) != 0) return 3;  // sanitizers look at memory through a pipe
    const auto added = readiness.add(one, 1);
    if (added || added.error().text().find("Too many open files") == std::string::npos) return 4;
    const auto waited = readiness.wait(0);
    return !waited && waited.error().text().find("ulimit -n") != std::string::npos ? 0 : 5;
  });
  EXPECT_EQ(code, 0);
}

TEST(DescriptorLimit, IsRaisedAsFarAsItMayBeAndNoFurther) {
  const int code = exit_code_of([] {
    const rlimit low{64, 128};
    if (::setrlimit(RLIMIT_NOFILE, &low) != 0) return 1;
    if (descriptor_limit().now != 64 || descriptor_limit().most != 128) return 2;
    raise_descriptor_limit();
    return descriptor_limit().now == 128 && descriptor_limit().most == 128 ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace perdure::os
