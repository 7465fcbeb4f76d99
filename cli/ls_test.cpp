// perdure ls lists versions, branches and quarantined segments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/libraries.hpp"
#include "cli/verb_testing.hpp"
#include "inspect/checkpoints.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Ls, ListsEveryVersionWithItsState) {
  SampleStore store;
  store.add("nbody", 1);
  store.add("nbody", 2, 4, {0, 3});
  const auto json = run_verb({"ls", "--json", store.path()}).json();
  ASSERT_EQ(json["checkpoints"].size(), 2u);
  EXPECT_EQ(json["checkpoints"][0]["state"], "complete");
  EXPECT_EQ(json["checkpoints"][0]["ranks"], 2);
  EXPECT_EQ(json["checkpoints"][1]["state"], "incomplete");
  EXPECT_EQ(json["checkpoints"][1]["missing_segments"], "1-2");
  EXPECT_EQ(json["checkpoints"][1]["missing_ranks"], "1-2");
  const Ran ran = run_verb({"ls", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out, HasSubstr("incomplete: segment 1-2 missing, rank 1-2"));
}

constexpr plan::Branch kOld = 0x3f9a12, kNew = 0x00beef;

/// Adds versions 100 to 300 of a run, and 10 and 100 of a start after it.
void add_two_runs(SampleStore& store) {
  for (std::uint64_t n : {1, 2, 3}) store.add_on(kOld, "run", 100 * n, n);
  store.add_on(kNew, "run", 10, 4);
  store.add_on(kNew, "run", 100, 5);
}

TEST(Ls, MarksTheLatestAndWhatIsOfABranchThatWasLeft) {
  SampleStore store;
  add_two_runs(store);
  const auto json = run_verb({"ls", "--json", store.path()}).json();
  ASSERT_EQ(json["checkpoints"].size(), 5U);
  for (const auto& one : json["checkpoints"]) {
    const bool old = one["branch"] == "3f9a12";
    EXPECT_EQ(one["branch"], old ? "3f9a12" : "00beef");
    EXPECT_EQ(one["left_branch"], old);
    EXPECT_EQ(one["latest"], one["version"] == 100 && !old) << one;
  }
  const Ran ran = run_verb({"ls", store.path()});
  EXPECT_THAT(ran.out, testing::ContainsRegex("run +100 .*00beef  latest"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("run +300 .*3f9a12  left branch"));
}

TEST(Ls, CountsWhatALineWentOnFromToIt) {
  SampleStore store;
  for (std::uint64_t version : {4, 5, 6}) store.add_on(kOld, "run", version, version);
  store.add_on(kNew, "run", 6, 7);
  ASSERT_TRUE(store::set_forks(store.store(), "run", {{kNew, kOld, 5, 1'700'000'000'000'000'005}}));
  const auto json = run_verb({"ls", "--json", store.path()}).json();
  std::vector<bool> left;
  for (const auto& one : json["checkpoints"]) left.push_back(one["left_branch"]);
  EXPECT_EQ(left, (std::vector<bool>{false, false, true, false}));
}

TEST(Show, TakesThePlainNumberForThatOfTheCurrentBranchAndOthersByTheirBranch) {
  SampleStore store;
  add_two_runs(store);
  const auto shown = [&](const std::string& what) {
    return run_verb({"show", what, "--json", "--store", store.path()}).json()["versions"];
  };
  ASSERT_EQ(shown("run").size(), 1U);
  EXPECT_EQ(shown("run")[0]["version"], 100) << "the newest, which ls marks";
  EXPECT_EQ(shown("run")[0]["branch"], "00beef");
  ASSERT_EQ(shown("run@100").size(), 1U);
  EXPECT_EQ(shown("run@100")[0]["branch"], "00beef");
  EXPECT_EQ(shown("run@3f9a12:100")[0]["branch"], "3f9a12");
  for (const char* verb : {"show", "cat"}) {
    std::vector<std::string> arguments{verb, "run@300"};
    if (verb == std::string("cat")) arguments.emplace_back("0");
    arguments.insert(arguments.end(), {"--store", store.path()});
    const Ran gone = run_verb(arguments);
    EXPECT_EQ(gone.status, kCannot) << verb;
    EXPECT_THAT(gone.err, HasSubstr("a branch that was left has it: run@3f9a12:300")) << verb;
  }
  EXPECT_EQ(run_verb({"show", "run@3f9a1:300", "--store", store.path()}).status, kUsage);
}

TEST(Verify, ReadsAVersionOfABranch) {
  SampleStore store;
  add_two_runs(store);
  const auto paths = store.add_on(kOld, "run", 400, 3);
  flip_byte(paths[0], 5000);
  EXPECT_EQ(run_verb({"verify", "run@00beef:100", "--store", store.path()}).status, kGood);
  EXPECT_EQ(run_verb({"verify", "run@3f9a12:400", "--store", store.path()}).status, kBad);
}

TEST(Ls, CallsAVersionWithADamagedManifestDamaged) {
  SampleStore store;
  const std::string path = store.add("nbody", 1)[0];
  flip_byte(path, fs::file_size(path) - 1);
  EXPECT_EQ(run_verb({"ls", "--json", store.path()}).json()["checkpoints"][0]["state"], "damaged");
}

TEST(Ls, ShowsWhatIsInQuarantineAndWhy) {
  SampleStore store;
  store.add("nbody", 1);
  const auto listing = store.store().list("nbody").value().front();
  ASSERT_TRUE(store.store().quarantine(listing.segments[0], listing.id,
                                       {PERDURE_CORRUPT, "x", "hash differs at offset 4096", "", false}));
  const auto json = run_verb({"ls", "--quarantine", "--json", store.path()}).json();
  ASSERT_EQ(json["quarantine"].size(), 1u);
  EXPECT_THAT(json["quarantine"][0]["report"]["why"].get<std::string>(), HasSubstr("hash differs"));
  EXPECT_EQ(run_verb({"ls", "--json", store.path()}).json()["checkpoints"][0]["quarantined"], 1);
  EXPECT_THAT(run_verb({"ls", store.path()}).out, HasSubstr("1 in quarantine"));
}

TEST(Ls, SurvivesAnythingThatLiesInQuarantine) {
  SampleStore store;
  fs::create_directory(store.path() + "/.quarantine");
  std::ofstream(store.path() + "/.quarantine/x") << "x";
  std::ofstream(store.path() + "/.quarantine/x.json") << std::string(100'000, '[');
  std::ofstream(store.path() + "/.quarantine/y") << "y";
  std::ofstream(store.path() + "/.quarantine/y.json") << R"({"name": 5, "version": -1, "why": [[[]]]})";
  const Ran ran = run_verb({"ls", "--quarantine", "--json", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_EQ(ran.json()["quarantine"].size(), 2u);
}

TEST(Ls, SaysThatAnEmptyStoreHasNoCheckpoints) {
  SampleStore store;
  EXPECT_EQ(run_verb({"ls", store.path()}).out, "no checkpoints\n");
  fs::create_directories(store.path() + "/nbody/.retired-0-" + std::string(32, 'a'));
  fs::create_directories(store.path() + "/lost+found");
  const Ran ran = run_verb({"ls", store.path()});
  EXPECT_EQ(ran.out, "no checkpoints\n") << "what was removed leaves a store, which may have a file system of its own";
  EXPECT_EQ(ran.status, kGood);
}

TEST(Ls, NamesTheStoreBelowOrAboveTheDirectoryThatIsNone) {
  SampleStore store;
  store.add("nbody", 1);
  EXPECT_EQ(run_verb({"ls", "--quarantine", store.path()}).status, kGood);
  const Ran quarantine = run_verb({"ls", "--quarantine", store.directory().path()});
  EXPECT_EQ(quarantine.status, kCannot) << "what is no store has nothing in quarantine, and that is no good news";
  EXPECT_THAT(quarantine.err, HasSubstr("below it there is a store: " + store.path()));
  const Ran beside = run_verb({"ls", store.directory().path()}), within = run_verb({"ls", store.path() + "/nbody"});
  EXPECT_EQ(beside.status, kCannot);
  EXPECT_THAT(beside.err, HasSubstr("below it there is a store: " + store.path()));
  EXPECT_EQ(within.status, kCannot);
  EXPECT_THAT(within.err, HasSubstr("name the store, " + store.path()));
}

TEST(Show, TellsRegionsAndChunksOfEveryRank) {
  SampleStore store;
  store.add("nbody", 1);
  store.add("nbody", 2);
  const auto json = run_verb({"show", "nbody@1", "--json", "--store", store.path()}).json();
  ASSERT_EQ(json["versions"].size(), 1u);
  const auto& piece = json["versions"][0]["segments"][1]["pieces"][0];
  EXPECT_EQ(piece["rank"], 1);
  EXPECT_EQ(piece["regions"].size(), 2u);
  EXPECT_EQ(piece["regions"][1]["id"], 7);
  ASSERT_EQ(piece["chunks"].size(), 2u);
  EXPECT_EQ(piece["chunks"][0]["offset"], 4096);
  EXPECT_EQ(piece["chunks"][0]["hash"].get<std::string>().size(), 32u);
  EXPECT_THAT(run_verb({"show", "nbody@1", "--verbose", "--store", store.path()}).out,
              HasSubstr(piece["chunks"][0]["hash"].get<std::string>()));
}

TEST(Show, TakesTheNewestCompleteVersionUnlessToldOtherwise) {
  SampleStore store;
  store.add("nbody", 1);
  store.add("nbody", 2);
  store.add("nbody", 3, 2, {0});
  EXPECT_EQ(run_verb({"show", "nbody", "--json", "--store", store.path()}).json()["versions"][0]["version"], 2);
  EXPECT_EQ(run_verb({"show", "nbody", "--all", "--json", "--store", store.path()}).json()["versions"].size(), 3u);
  const Ran missing = run_verb({"show", "nbody@9", "--store", store.path()});
  EXPECT_EQ(missing.status, kCannot);
  EXPECT_THAT(missing.err, HasSubstr("nbody version 9: no such checkpoint"));
  EXPECT_EQ(run_verb({"show", "other", "--store", store.path()}).status, kCannot);
}

TEST(Inventory, NamesWhatIsMissingAsRangesHoweverManyAreClaimed) {
  EXPECT_EQ(reader::missing_ranges({}, 0), "");
  EXPECT_EQ(reader::missing_ranges({0, 1, 2}, 3), "");
  EXPECT_EQ(reader::missing_ranges({1, 4}, 8), "0,2-3,5-7");
  EXPECT_EQ(reader::missing_ranges({0}, UINT32_MAX), "1-4294967294");
  EXPECT_EQ(ranges_text({0, 1, 2, 5}), "0-2,5");
}

TEST(Inventory, TheNewestCompleteVersionIsNotTheNewestOne) {
  SampleStore store;
  store.add("nbody", 1);
  store.add("nbody", 2, 2, {1});
  store.add("heat", 1, 2, {1});
  EXPECT_EQ(reader::newest_complete(store.store()).value(), (std::map<std::string, std::uint64_t>{{"nbody", 1}}));
}

TEST(Ls, ListsOneNameOnly) {
  SampleStore store;
  for (const char* name : {"nbody", "heat"}) store.add(name, 1);
  const Variable configured("PERDURE_STORE_PATH", store.path());
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"ls", "heat", "--json"}, {"ls", "heat", "--json", "--store", store.path()}}) {
    const auto json = run_verb(verb).json();
    ASSERT_EQ(json["checkpoints"].size(), 1U) << json;
    EXPECT_EQ(json["checkpoints"][0]["name"], "heat");
  }
  EXPECT_EQ(run_verb({"ls", "--json", store.path()}).json()["checkpoints"].size(), 2U);
}

TEST(Ls, SaysOfAnUnknownNameWhichNamesThereAre) {
  SampleStore store;
  for (const char* name : {"nbody", "heat"}) store.add(name, 1);
  const Ran ran = run_verb({"ls", "wind", "--store", store.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("wind: there is no such checkpoint in " + store.path()));
  EXPECT_THAT(ran.err, HasSubstr("its names are heat and nbody"));
}

/// Sets a time zone while it lives.
class Zone {
 public:
  explicit Zone(const std::string& zone) : variable_("TZ", zone) { ::tzset(); }
  ~Zone() = default;
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  Variable variable_;
};

TEST(LocalTime, CarriesItsZone) {
  constexpr std::uint64_t kTime = 1'700'000'000'000'000'000;
  {
    const Zone zone("CET-1");
    EXPECT_EQ(local_time(kTime), "2023-11-14 23:13:20 +01:00");
  }
  {
    const Zone zone("NST3:30");
    EXPECT_EQ(local_time(kTime), "2023-11-14 18:43:20 -03:30");
  }
  {
    const Zone zone("UTC0");
    EXPECT_EQ(local_time(kTime), "2023-11-14 22:13:20 +00:00");
  }
  EXPECT_EQ(local_time(0), "");
}

TEST(Ls, ShowsTimesWithTheirZoneAndKeepsNanosecondsForPrograms) {
  SampleStore store;
  store.add("nbody", 1);
  const Zone zone("CET-1");
  EXPECT_THAT(run_verb({"ls", store.path()}).out, HasSubstr("2023-11-14 23:13:20 +01:00"));
  EXPECT_THAT(run_verb({"show", "nbody", "--store", store.path()}).out, HasSubstr("2023-11-14 23:13:20 +01:00"));
  EXPECT_EQ(run_verb({"ls", "--json", store.path()}).json()["checkpoints"][0]["created_ns"], 1'700'000'000'000'000'001);
}

}  // namespace
}  // namespace perdure::cli
