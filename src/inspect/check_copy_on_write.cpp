#include "inspect/check.hpp"

namespace perdure::inspect {

Check judge_copy_on_write(const std::string& mode, const base::Result<os::WriteReach>& reach) {
  Check check{"copy on write", Verdict::ok, "", ""};
  if (!reach) {
    check.finding = "no: " + reach.error().text() + "; checkpoints copy in their call";
    if (mode != "copy") check.remedy = reach.error().remedy;
  } else if (*reach == os::WriteReach::program) {
    check.finding =
        "for writes of the program alone: with capture.mode=cow, writes of the kernel for it (read(2), "
        "transports of MPI) may fail with EFAULT; auto copies in the call";
    if (mode != "copy") check.remedy = "give access to /dev/userfaultfd, or set vm.unprivileged_userfaultfd to 1";
  } else {
    check.finding = "yes, also for writes of the kernel (userfaultfd)";
  }
  if (!check.remedy.empty()) check.verdict = Verdict::warning;
  return check;
}

std::vector<Check> check_copy_on_write(const config::Config& config) {
  const auto opened = os::WriteProtection::open();
  const auto reach = opened ? base::Result<os::WriteReach>(opened->reach()) : base::fail(opened.error());
  return {judge_copy_on_write(config.text("capture.mode"), reach)};
}

}  // namespace perdure::inspect
