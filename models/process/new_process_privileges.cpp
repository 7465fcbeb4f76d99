// Limits a new process to the rights of the captured one, whatever its maker may do.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>

#include "process/new_process.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {

// Applies to all threads, which are made later. Dropping from the bounding set needs a privilege. Without it, the
// capabilities themselves are still dropped.
base::Status NewProcess::give_up_bounding(const Privileges& has) {
  constexpr std::uint64_t kCapabilities = 64;
  for (std::uint64_t one = 0; one < kCapabilities; ++one) {
    const std::uint64_t bit = std::uint64_t{1} << one;
    if ((has.bounding & bit) == 0 || (image_->privileges.bounding & bit) != 0) continue;
    const auto dropped = ask({SYS_prctl, PR_CAPBSET_DROP, one, 0, 0, 0}, "give up a capability of");
    if (!dropped) {
      notes_.push_back("capabilities that it could never have had stay within its reach: " + dropped.error().text());
      break;
    }
  }
  return {};
}

base::Status NewProcess::give_up_capabilities(pid_t thread, const Privileges& has) {
  const Privileges left = common_capabilities(has, image_->privileges);
  if (left.permitted == has.permitted && left.effective == has.effective && left.inheritable == has.inheritable)
    return {};
  const __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = [](std::uint64_t set) { return static_cast<std::uint32_t>(set); };
  const auto high = [](std::uint64_t set) { return static_cast<std::uint32_t>(set >> 32); };
  const std::array<__user_cap_data_struct, 2> sets = {
      {{low(left.effective), low(left.permitted), low(left.inheritable)},
       {high(left.effective), high(left.permitted), high(left.inheritable)}}};
  PERDURE_TRY(const auto header_at, put(bytes_of(header)));
  PERDURE_TRY(const auto sets_at, put(bytes_of(sets), 64));
  PERDURE_CHECK(ask(thread, {SYS_capset, header_at, sets_at}, "give up capabilities of"));
  return {};
}

}  // namespace perdure::process
