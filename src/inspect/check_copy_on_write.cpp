// Checks whether checkpoints can be copied on write.
#include "inspect/check.hpp"

namespace perdure::inspect {

Check judge_copy_on_write(const std::string& mode, const base::Result<os::WriteReach>& reach,
                          const std::string& huge_pages) {
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
  if (reach && mode != "copy" && !huge_pages.empty() && huge_pages != "always")
    check.finding += "; huge pages, whose protection takes a tenth of the time, are not given to programs " +
                     std::string(huge_pages == "never" ? "here" : "that do not ask for them") +
                     " (/sys/kernel/mm/transparent_hugepage/enabled: " + huge_pages + ")";
  if (!check.remedy.empty()) check.verdict = Verdict::warning;
  return check;
}

std::vector<Check> check_copy_on_write(const config::Config& config) {
  const auto opened = os::WriteProtection::open();
  const auto reach = opened ? base::Result<os::WriteReach>(opened->reach()) : base::fail(opened.error());
  const std::string huge_pages = bracketed(text_of("/sys/kernel/mm/transparent_hugepage/enabled"));
  return {judge_copy_on_write(config.text("capture.mode"), reach, huge_pages)};
}

}  // namespace perdure::inspect
