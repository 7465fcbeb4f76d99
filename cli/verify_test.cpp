// perdure verify finds any changed byte, and names file, offset and rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "cli/verb_testing.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(Verify, SaysThatAGoodStoreIsGood) {
  SampleStore store;
  store.add("nbody", 1);
  store.add("heat", 3, 4);
  const Ran ran = run_verb({"verify", store.path()});
  EXPECT_EQ(ran.status, kGood) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 versions, 6 segments"));
  EXPECT_THAT(ran.out, HasSubstr("no defects"));
  const auto json = run_verb({"verify", "--json", store.path()}).json();
  EXPECT_EQ(json["good"], true);
  EXPECT_EQ(json["segments"], 6);
  EXPECT_TRUE(json["defects"].empty());
}

TEST(Verify, ReadsAsManyBytesAsTheStoreHas) {
  SampleStore store;
  std::uint64_t bytes = 0;
  for (const auto& path : store.add("nbody", 1, 3, {}, 100'000)) bytes += fs::file_size(path);
  EXPECT_EQ(run_verb({"verify", "--json", store.path()}).json()["bytes"], bytes);
}

/// Flips one byte, and expects the report to name file, offset and rank.
void expect_found(const SampleStore& store, const std::string& path, std::uint64_t offset, const std::string& rank) {
  flip_byte(path, offset, 0x10);
  const Ran ran = run_verb({"verify", store.path(), "--threads", "2"});
  EXPECT_EQ(ran.status, kBad) << offset;
  EXPECT_THAT(ran.out, HasSubstr("DEFECT " + path + ": offset ")) << offset;
  EXPECT_THAT(ran.out, HasSubstr(", rank " + rank)) << offset;
  const auto json = run_verb({"verify", "--json", store.path()}).json();
  ASSERT_FALSE(json["defects"].empty()) << offset;
  EXPECT_EQ(json["defects"][0]["file"], path);
  EXPECT_EQ(json["defects"][0]["rank"], rank) << offset;
  EXPECT_LE(json["defects"][0]["offset"].get<std::uint64_t>(), offset);
  flip_byte(path, offset, 0x10);
}

TEST(Verify, FindsAnyChangedByteWhereverItIsAndNamesFileOffsetAndRank) {
  SampleStore store;
  const std::string path = store.add("nbody", 1, 3)[1];
  const std::uint64_t size = fs::file_size(path);
  // Damages the header, both its ends, first and last byte of each chunk (at 4 KiB and 8 KiB), padding, manifest,
  // trailer.
  std::set<std::uint64_t> offsets{0,    1,    8,    9,     12,    100,       4095,      4096,    8191,
                                  8192, 9095, 9096, 12287, 12288, size - 64, size - 40, size - 1};
  std::mt19937_64 random(11);
  while (offsets.size() < 81) offsets.insert(random() % size);
  for (std::uint64_t offset : offsets) expect_found(store, path, offset, "1");
  EXPECT_EQ(run_verb({"verify", store.path()}).status, kGood) << "all flips were undone";
}

TEST(Verify, NamesAllRanksThatADamagedManifestServes) {
  SampleStore store;
  const segment::VersionId id{"nbody", 2, {5, 7}};
  const auto manifest = test_support::sample_manifest(id, 4, 0, 1, {0, 1, 2, 3}, 5000, 4096);
  ASSERT_TRUE(test_support::write_segment(store.store(), manifest));
  const std::string path = store.version_path("nbody", 2) + "/" + segment::file_name(0, 1, id.attempt);
  const std::uint64_t size = fs::file_size(path);
  expect_found(store, path, 10, "0-3");
  expect_found(store, path, size - 1, "0-3");
  expect_found(store, path, manifest.pieces[2].chunks[1].offset, "2");
}

TEST(Verify, ATruncatedEmptyOrZeroedSegmentIsADefect) {
  SampleStore store;
  const std::string path = store.add("nbody", 1)[0];
  const auto size = fs::file_size(path);
  for (std::uint64_t left : {size - 1, size / 2, std::uint64_t{4096}, std::uint64_t{8}, std::uint64_t{0}}) {
    fs::resize_file(path, left);
    const Ran ran = run_verb({"verify", store.path()});
    EXPECT_EQ(ran.status, kBad) << left;
    EXPECT_THAT(ran.out, HasSubstr(path)) << left;
  }
}

TEST(Verify, ARenamedSegmentIsADefectWhateverItIsCalledNow) {
  for (const std::string& name : {std::string("0001-of-0002.00000000000000010000000000000007.pds"),
                                  std::string("backup.pds"), std::string("backup")}) {
    SampleStore store;
    const std::string path = store.add("nbody", 1, 1)[0], target = store.version_path("nbody", 1) + "/" + name;
    fs::rename(path, target);
    const Ran ran = run_verb({"verify", store.path()});
    EXPECT_EQ(ran.status, kBad) << name;
    EXPECT_THAT(ran.out, HasSubstr("DEFECT " + target + ": offset 0, rank 0")) << name;
  }
}

TEST(Verify, ASegmentInAnotherVersionsDirectoryIsADefect) {
  SampleStore store;
  store.add("nbody", 1, 1);
  fs::rename(store.version_path("nbody", 1), store.version_path("nbody", 2));
  EXPECT_EQ(run_verb({"verify", store.path()}).status, kBad);
}

TEST(Verify, ALinkInPlaceOfASegmentIsADefect) {
  SampleStore store;
  const std::string path = store.add("nbody", 1, 1)[0];
  fs::rename(path, store.directory() / "elsewhere");
  fs::create_symlink(store.directory() / "elsewhere", path);
  EXPECT_EQ(run_verb({"verify", store.path()}).status, kBad);
}

TEST(Verify, ReportsAnIncompleteVersionAndIsOnlyStrictOnRequest) {
  SampleStore store;
  store.add("nbody", 1, 3, {0, 2});
  const Ran ran = run_verb({"verify", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out, HasSubstr("incomplete: nbody version 1"));
  EXPECT_EQ(run_verb({"verify", "--complete", store.path()}).status, kBad);
}

TEST(Verify, NotesForeignTemporaryAndRetiredFilesWithoutCallingThemDefects) {
  SampleStore store;
  const std::string path = store.add("nbody", 1, 1)[0];
  std::ofstream(store.path() + "/README") << "mine";
  std::ofstream(store.version_path("nbody", 1) + "/.tmp-" + fs::path(path).filename().string()) << "half";
  fs::create_directory(store.path() + "/nbody/.retired-0-" + std::string(32, 'a'));
  const Ran ran = run_verb({"verify", store.path()});
  EXPECT_EQ(ran.status, kGood) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("note: foreign file " + store.path() + "/README"));
  EXPECT_THAT(ran.out, HasSubstr("note: temporary file"));
  EXPECT_THAT(ran.out, HasSubstr("note: retired file"));
}

TEST(Verify, LooksOnlyAtTheCheckpointItWasAskedFor) {
  SampleStore store;
  const std::string bad = store.add("nbody", 1, 1)[0];
  store.add("nbody", 2, 1);
  store.add("heat", 1, 1);
  flip_byte(bad, 5000);
  EXPECT_EQ(run_verb({"verify", store.path(), "nbody@2"}).status, kGood);
  EXPECT_EQ(run_verb({"verify", "--store", store.path(), "heat"}).status, kGood);
  EXPECT_EQ(run_verb({"verify", "--store", store.path(), "nbody@1"}).status, kBad);
  EXPECT_EQ(run_verb({"verify", store.path(), "nbody"}).status, kBad);
  EXPECT_EQ(run_verb({"verify", store.path(), "nbody@9"}).status, kCannot);
}

TEST(Verify, TakesACheckpointOfTheConfiguredStore) {
  SampleStore store;
  store.add("nbody", 1, 1);
  const Variable configured("PERDURE_STORE_PATH", store.path());
  EXPECT_EQ(run_verb({"verify", "nbody@1"}).status, kGood);
  EXPECT_EQ(run_verb({"verify"}).status, kGood);
  const Ran version = run_verb({"verify", "nbody@2"});
  EXPECT_EQ(version.status, kCannot);
  EXPECT_THAT(version.err, HasSubstr("nbody version 2: no such checkpoint in " + store.path()));
  EXPECT_THAT(version.err, HasSubstr("(mismatch); its only version is 1"));
  EXPECT_THAT(run_verb({"verify", "nbody"}).out, HasSubstr("1 versions, 1 segments"));
  const Ran neither = run_verb({"verify", "nbdy"});
  EXPECT_EQ(neither.status, kCannot);
  EXPECT_THAT(neither.err, HasSubstr("nbdy: no such checkpoint in " + store.path()));
  EXPECT_THAT(neither.err, HasSubstr("did you mean nbody?"));
  EXPECT_THAT(neither.err, HasSubstr("there is no directory nbdy either"));
}

TEST(Verify, CannotSayAnythingAboutAStoreThatIsNotThere) {
  const Ran ran = run_verb({"verify", "/nonexistent/store"});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("/nonexistent/store"));
  EXPECT_EQ(run_verb({"verify", "/etc/passwd"}).status, kCannot);
}

// A scheduled verify must notice that it reads the wrong directory.
TEST(Verify, AnEmptyDirectoryIsNotCalledGood) {
  SampleStore store;
  const Ran ran = run_verb({"verify", store.path()});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(store.path() + ": there is no checkpoint in this store"));
  EXPECT_THAT(ran.err, HasSubstr("store.path"));
}

TEST(Verify, ADirectoryThatIsNoStoreIsNotCalledGoodAndTheRightOneIsNamed) {
  SampleStore store;
  store.add("nbody", 1);
  const Ran beside = run_verb({"verify", store.directory().path()});
  EXPECT_EQ(beside.status, kCannot);
  EXPECT_THAT(beside.err, HasSubstr("below it there is a store: " + store.path()));
  const Ran within = run_verb({"verify", store.path() + "/nbody"});
  EXPECT_EQ(within.status, kCannot);
  EXPECT_THAT(within.err, HasSubstr("the checkpoint nbody within one"));
  EXPECT_THAT(within.err, HasSubstr("name the store, " + store.path() + ","));
  EXPECT_THAT(run_verb({"verify", store.version_path("nbody", 1)}).err, HasSubstr("the checkpoint nbody@1 within one"));
  std::ofstream(store.directory() / "mine") << "x";
  fs::remove_all(store.path());
  const Ran other = run_verb({"verify", store.directory().path()});
  EXPECT_EQ(other.status, kCannot);
  EXPECT_THAT(other.err, HasSubstr("it holds other files, and no checkpoint"));
}

TEST(Verify, ReportsARankThatTwoSegmentsHold) {
  SampleStore store;
  const segment::VersionId id{"nbody", 1, {5, 7}};
  for (std::uint32_t index : {0U, 1U})
    ASSERT_TRUE(
        test_support::write_segment(store.store(), test_support::sample_manifest(id, 2, index, 2, {0}, 5000, 4096)));
  const Ran ran = run_verb({"verify", store.path()});
  EXPECT_EQ(ran.status, kBad);
  EXPECT_THAT(ran.out, HasSubstr("appears in two segments"));
}

}  // namespace
}  // namespace perdure::cli
