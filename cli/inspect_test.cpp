// perdure inspect shows real programs.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Inspect, OfARunningProcessShowsWhatItHasAndTouchesNothing) {
  ProcessPlace place;
  Patient patient(place);
  const std::string before = view_of(patient.process());
  const Ran text = run_verb({"inspect", patient.number()});
  EXPECT_EQ(text.status, kGood) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("process " + patient.number()), HasSubstr("patient"), HasSubstr("heap"),
                              HasSubstr(place.file("beats")), HasSubstr("nothing stands in the way of a capture")));
  const Ran ran = run_verb({"inspect", patient.number(), "--json"});
  const auto json = ran.json();
  EXPECT_EQ(json["image"], false);
  EXPECT_EQ(json["process"], patient.process());
  EXPECT_EQ(json["threads"].size(), 3U);
  EXPECT_NE(json["threads"][0]["processors"], "");
  EXPECT_EQ(json["obstacles"].size(), 0U);
  EXPECT_EQ(view_of(patient.process()), before);
  EXPECT_THAT(run_verb({"inspect", patient.number(), "--topology"}).out, HasSubstr("<object type=\"NUMANode\""));
  EXPECT_EQ(run_verb({"inspect", patient.number(), "--topology", "--json"}).status, kUsage);
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

TEST(Inspect, NamesWhatStandsInTheWayOfACapture) {
  ProcessPlace place;
  Patient patient(place, {"socket"});
  const Ran text = run_verb({"inspect", patient.number()});
  EXPECT_EQ(text.status, kBad);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("in the way of a capture stands:"), HasSubstr("TCP"), HasSubstr("--force-without fd:3")));
  EXPECT_EQ(run_verb({"inspect", patient.number(), "--json"}).json()["obstacles"][0]["drop"], "fd:3");
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

TEST(Inspect, OfAnImageShowsItsRecordAndWhatStandsInTheWayHere) {
  ProcessPlace place;
  Patient patient(place);
  ASSERT_EQ(Perdure(place, {"capture", patient.number()}).wait().status, kGood);
  const Ran taken = run_verb({"inspect", "patient", "--store", place.store});
  EXPECT_EQ(taken.status, kBad);
  EXPECT_THAT(taken.out, HasSubstr("its number " + patient.number() + " is taken, by 'patient'"));
  const auto there = run_verb({"inspect", patient.number(), "--json"}).json();
  const std::string machine = run_verb({"inspect", patient.number(), "--topology"}).out;
  EXPECT_EQ(run_verb({"inspect", "patient@1", "--store", place.store, "--topology"}).out, machine);
  patient.kill();
  const Ran ran = run_verb({"inspect", "patient@1", "--store", place.store, "--json"});
  const auto image = ran.json();
  EXPECT_EQ(image["image"], true);
  EXPECT_EQ(image["process"], there["process"]);
  ASSERT_EQ(image["threads"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    for (const char* field : {"number", "name", "processors"})
      EXPECT_EQ(image["threads"][i][field], there["threads"][i][field]) << field;
  EXPECT_EQ(image["arguments"], there["arguments"]);
  EXPECT_EQ(image["version"], "1");
  const Ran text = run_verb({"inspect", "patient", "--store", place.store});
  EXPECT_THAT(text.out, AllOf(HasSubstr("captured"), HasSubstr("kernel"), HasSubstr("pages"), HasSubstr("registers"),
                              HasSubstr(place.file("beats"))));
  std::filesystem::remove(place.file("beats"));
  EXPECT_THAT(run_verb({"inspect", "patient", "--store", place.store}).out,
              HasSubstr("'" + place.file("beats") + "' is not here"));
}

TEST(Inspect, OfADamagedImageShowsNothing) {
  ProcessPlace place;
  Patient patient(place);
  ASSERT_EQ(Perdure(place, {"capture", patient.number(), "--stop"}).wait().status, kGood);
  EXPECT_EQ(patient.was_killed(), -SIGKILL);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place.store))
    if (entry.path().extension() == ".pds") flip_byte(entry.path(), content_of(entry.path()).find(PERDURE_PATIENT));
  const Ran ran = run_verb({"inspect", "patient", "--store", place.store});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_EQ(ran.out, "");
}

TEST(Inspect, OfWhatIsNoProcessAndNoImageIsRefused) {
  SampleStore ordinary;
  ordinary.add("nbody", 3, 1);
  const Ran other = run_verb({"inspect", "nbody", "--store", ordinary.path()});
  EXPECT_EQ(other.status, kCannot);
  EXPECT_THAT(other.err, HasSubstr("what is stored there is no process"));
  EXPECT_EQ(run_verb({"inspect", "nobody", "--store", ordinary.path()}).status, kCannot);
  EXPECT_EQ(run_verb({"inspect", "0"}).status, kUsage);
  EXPECT_EQ(run_verb({"inspect", "99999999999"}).status, kUsage);
  EXPECT_EQ(run_verb({"inspect", "2147483647"}).status, kCannot);
}

}  // namespace
}  // namespace perdure::cli
