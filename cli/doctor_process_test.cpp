// perdure doctor --process judges the facilities of the kernel.
#include "cli/doctor_process.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <set>

#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

using inspect::Verdict;
using process::Facility;
using testing::AllOf;
using testing::HasSubstr;

TEST(DoctorOfProcesses, SaysOfEachFacilityWhatItIsForAndWhatToDoWithoutIt) {
  const auto here = judge_facilities({}, "");
  ASSERT_EQ(here.size(), process::kFacilities);
  std::set<std::string> names;
  for (const auto& check : here) {
    EXPECT_EQ(check.verdict, Verdict::ok) << check.name;
    EXPECT_EQ(check.remedy, "");
    EXPECT_THAT(check.finding, HasSubstr("here; "));
    names.insert(check.name);
  }
  EXPECT_EQ(names.size(), process::kFacilities);
  process::FacilityErrors none{};
  none.fill(EPERM);
  for (const auto& check : judge_facilities(none, "1")) {
    EXPECT_NE(check.verdict, Verdict::ok) << check.name;
    EXPECT_NE(check.remedy, "") << check.name;
    EXPECT_THAT(check.finding, HasSubstr("missing (Operation not permitted)"));
  }
}

TEST(DoctorOfProcesses, NamesWhoMayTraceWhom) {
  process::FacilityErrors errors{};
  errors[static_cast<std::size_t>(Facility::trace_sibling)] = EPERM;
  const auto check = judge_facilities(errors, "1")[static_cast<std::size_t>(Facility::trace_sibling)];
  EXPECT_EQ(check.verdict, Verdict::warning) << "what perdure launch starts can be captured";
  EXPECT_THAT(check.finding, HasSubstr("ptrace_scope is 1"));
  EXPECT_THAT(check.remedy, HasSubstr("perdure launch"));
}

TEST(DoctorOfProcesses, TriesThemHere) {
  const Ran text = run_verb({"doctor", "--process"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("process_vm_readv: "), HasSubstr("PAGEMAP_SCAN: "), HasSubstr(" problems, ")));
  const Ran ran = run_verb({"doctor", "--process", "--json"});
  EXPECT_EQ(ran.status, ran.json()["problems"] == 0 ? kGood : kBad);
  ASSERT_EQ(ran.json()["checks"].size(), process::kFacilities);
  EXPECT_EQ(ran.json()["checks"][0]["check"], "ptrace");
  EXPECT_EQ(ran.json()["checks"][0]["verdict"], "ok") << "the tests beside this one capture processes";
}

}  // namespace
}  // namespace perdure::cli
