// perdure capture --increments stores unchanged pages only once. Real programs come back completely, whatever happens
// to earlier images.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/processes_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<fs::path> borrowed_in(const ProcessPlace& place, const std::string& version) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(place.store))
    if (entry.path().filename().string().starts_with(".borrowed-") &&
        entry.path().parent_path().filename().string().starts_with(version))
      found.push_back(entry.path());
  return found;
}

Ran captured(const ProcessPlace& place, const Patient& patient, const std::string& increments = "8") {
  Ran ran =
      Perdure(place, {"capture", patient.number(), "--name", "image", "--increments", increments, "--json"}).wait();
  EXPECT_EQ(ran.status, kGood) << ran.err;
  return ran;
}

/// Captures three versions: 1 is complete by itself, 3 borrows from 2, and the store keeps them all.
void capture_thrice(const ProcessPlace& place, const Patient& patient) {
  const std::vector<std::string> keeps_all = {"PERDURE_RETENTION_KEEP_LAST=9"};
  for (const char* increments : {"0", "8", "8"})
    ASSERT_EQ(Perdure(place, {"capture", patient.number(), "--name", "image", "--increments", increments}, keeps_all)
                  .wait()
                  .status,
              kGood);
}

void flip_a_byte(const fs::path& file, std::int64_t from_end) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::int64_t>(fs::file_size(file)) - from_end;
  bytes.seekg(at);
  const char byte = static_cast<char>(bytes.get());
  bytes.seekp(at);
  bytes.put(static_cast<char>(byte ^ 1));
}

TEST(Increments, HaveOnlyWhatChangedAndComeBackWithoutTheVersionsBefore) {
  ProcessPlace place;
  Patient patient(place);
  const auto first = captured(place, patient).json();
  EXPECT_EQ(first["borrowed_bytes"], 0);
  const auto second = captured(place, patient).json(), third = captured(place, patient).json();
  for (const auto& later : {second, third}) {
    EXPECT_GT(later["borrowed_bytes"], later["page_bytes"]) << later;
    EXPECT_LT(later["page_bytes"], first["page_bytes"]);
  }
  EXPECT_EQ(run_verb({"verify", place.store}).status, kGood);
  const Ran pruned = run_verb({"prune", "--store", place.store, "--keep-last", "1", "--yes"});
  EXPECT_EQ(pruned.status, kGood) << pruned.err;
  EXPECT_FALSE(borrowed_in(place, "3").empty());
  EXPECT_TRUE(borrowed_in(place, "2").empty());
  EXPECT_EQ(run_verb({"verify", place.store}).status, kGood);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran back = resumed(place, {"image"});
  EXPECT_EQ(back.status, Patient::kStatus) << back.err;
  EXPECT_THAT(back.err, HasSubstr("image@3 goes on as process"));
}

TEST(Increments, ComeBackAndAreCapturedAgain) {
  ProcessPlace place;
  Patient patient(place);
  for (int version = 1; version <= 2; ++version) captured(place, patient);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran lazily = resumed(place, {"image", "--lazy"});
  EXPECT_EQ(lazily.status, Patient::kStatus) << lazily.err;
  EXPECT_THAT(lazily.err, HasSubstr("earlier images have some of them"));
}

TEST(Increments, ChainsAreBounded) {
  ProcessPlace place;
  Patient patient(place);
  std::size_t most = 0;
  int whole = 0;
  for (int version = 1; version <= 6; ++version) {
    whole += captured(place, patient, "2").json()["borrowed_bytes"] == 0 ? 1 : 0;
    most = std::max(most, borrowed_in(place, std::to_string(version)).size());
  }
  EXPECT_LE(most, 2);
  EXPECT_GE(whole, 1);
  EXPECT_LT(whole, 6);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(resumed(place, {"image"}).status, Patient::kStatus);
}

TEST(Increments, WhoseEarlierPagesAreGoneOrDamagedAreNotBroughtBack) {
  for (const bool damaged : {false, true}) {
    SCOPED_TRACE(damaged ? "damaged" : "gone");
    ProcessPlace place;
    Patient patient(place);
    for (int version = 1; version <= 2; ++version) captured(place, patient);
    EXPECT_EQ(patient.end(), Patient::kStatus);
    ASSERT_EQ(run_verb({"prune", "--store", place.store, "--keep-last", "1", "--yes"}).status, kGood);
    const auto borrowed = borrowed_in(place, "2");
    ASSERT_EQ(borrowed.size(), 1);
    constexpr std::int64_t kInItsPages = 64 * 1024;  // before the end of the segment
    if (damaged)
      flip_a_byte(borrowed.front(), kInItsPages);
    else
      fs::remove(borrowed.front());
    const Ran verified = run_verb({"verify", place.store});
    EXPECT_EQ(verified.status, damaged ? kBad : kGood) << "as of any version that is incomplete";
    EXPECT_THAT(verified.out, HasSubstr(damaged ? "DEFECT" : "incomplete: what it has of another version is missing"));
    EXPECT_EQ(run_verb({"ls", place.store}).out.find("incomplete") != std::string::npos, !damaged);
    const Ran back = resumed(place, {"image"});
    EXPECT_NE(back.status, Patient::kStatus);
    EXPECT_THAT(back.err, testing::AllOf(HasSubstr("image"), HasSubstr("what it has of version 1 is not there")));
    EXPECT_THAT(back.err, HasSubstr(damaged ? "its hash is" : "the store does not have it"));
    EXPECT_FALSE(fs::exists(place.file("result")));
  }
}

TEST(Increments, WhoseEarlierPagesAreDamagedLeaveTheTurnToAnOlderImage) {
  ProcessPlace place;
  Patient patient(place);
  capture_thrice(place, patient);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  ASSERT_EQ(borrowed_in(place, "3").size(), 1);
  flip_a_byte(borrowed_in(place, "3").front(), 64 * 1024);  // version 2 owns this file
  const Ran back = resumed(place, {"image"});
  EXPECT_EQ(back.status, Patient::kStatus) << back.err;
  EXPECT_THAT(back.err, HasSubstr("image@1 goes on as process"));
  EXPECT_THAT(back.err, testing::AllOf(HasSubstr("passed over"), HasSubstr("version 3"))) << "not in silence";
}

// Otherwise captures after the damage was found would be acknowledged, although nobody could resume them.
TEST(Increments, AreNotTakenOfImagesThatLackWhatWasSetAside) {
  ProcessPlace place;
  Patient patient(place);
  capture_thrice(place, patient);
  const auto store = store::make_store(place.store).value();
  const auto listings = store->list("image").value();
  for (const auto& listing : listings) {
    if (listing.id.version != 2) continue;
    const auto aside = store->quarantine(listing.segments.at(0), listing.id,
                                         {PERDURE_CORRUPT, "segment", "somebody found a damaged chunk", "", false});
    ASSERT_TRUE(aside) << aside.error().text();
  }
  EXPECT_THAT(run_verb({"ls", place.store}).out, HasSubstr("incomplete"));
  EXPECT_EQ(captured(place, patient).json()["borrowed_bytes"], 0) << "it is whole";
  EXPECT_GT(captured(place, patient).json()["borrowed_bytes"], 0) << "of that one";
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran back = resumed(place, {"image"});
  EXPECT_EQ(back.status, Patient::kStatus) << back.err;
  EXPECT_THAT(back.err, HasSubstr("image@5 goes on as process"));
}

// An unreadable segment is not known to be bad, and a later try can read it.
TEST(Increments, WhoseEarlierPagesCannotBeReadNowAreLeftForNoOlderImage) {
  ProcessPlace place;
  Patient patient(place);
  capture_thrice(place, patient);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran failed = Perdure(place, {"resume", "image"}, {"PERDURE_TEST_FAULTS=pread:/3/.borrowed-:EIO"}).wait();
  EXPECT_EQ(failed.status, kCannot);
  EXPECT_THAT(failed.err, testing::AllOf(HasSubstr(".borrowed-"), testing::Not(HasSubstr("goes on as process"))));
  const Ran back = resumed(place, {"image"});
  EXPECT_EQ(back.status, Patient::kStatus);
  EXPECT_THAT(back.err, HasSubstr("image@3 goes on as process"));
}

// A killed capture that has borrowed leaves no version.
TEST(Increments, OfACaptureThatWasKilledAreNone) {
  for (const char* point : {"borrow_linked", "increment_borrowed"}) {
    SCOPED_TRACE(point);
    ProcessPlace place;
    Patient patient(place);
    captured(place, patient);
    const Ran killed = Perdure(place, {"capture", patient.number(), "--name", "image", "--increments", "8"},
                               {std::string("PERDURE_TEST_CRASH=") + point})
                           .wait();
    EXPECT_EQ(killed.status, -SIGKILL);
    patient.works();
    EXPECT_EQ(run_verb({"verify", place.store}).status, kGood);
    EXPECT_GT(captured(place, patient).json()["borrowed_bytes"], 0);
    EXPECT_EQ(patient.end(), Patient::kStatus);
    EXPECT_EQ(resumed(place, {"image"}).status, Patient::kStatus);
  }
}

TEST(Increments, AreTakenWithPreCopyToo) {
  ProcessPlace place;
  Patient patient(place);
  const auto capture = [&] {
    const Ran ran =
        Perdure(place, {"capture", patient.number(), "--name", "image", "--increments", "8", "--pre-copy", "--json"})
            .wait();
    EXPECT_EQ(ran.status, kGood) << ran.err;
    return ran.json();
  };
  EXPECT_EQ(capture()["borrowed_bytes"], 0);
  EXPECT_GT(capture()["borrowed_bytes"], 0);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(resumed(place, {"image"}).status, Patient::kStatus);
}

TEST(Increments, ThatAreDamagedArePrunedForNothing) {
  ProcessPlace place;
  Patient patient(place);
  capture_thrice(place, patient);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  flip_a_byte(borrowed_in(place, "3").at(0), 64 * 1024);
  (void)run_verb({"prune", "--store", place.store, "--keep-last", "1", "--yes"});
  EXPECT_EQ(resumed(place, {"image"}).status, Patient::kStatus) << "the one that is whole was not given up";
}

TEST(Increments, AreNotExportedWithoutTheRest) {
  ProcessPlace place;
  Patient patient(place);
  for (int version = 1; version <= 2; ++version) captured(place, patient);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran ran = run_verb({"export", "image@2", "--store", place.store, "--to", place.directory / "out.zarr"});
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_THAT(ran.err, HasSubstr("other versions have the rest"));
  EXPECT_FALSE(fs::exists(place.directory / "out.zarr"));
}

TEST(Increments, AreForgottenWhole) {
  ProcessPlace place;
  Patient patient(place);
  for (int version = 1; version <= 2; ++version) captured(place, patient);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran forgotten = run_verb({"forget", "image", "--yes", "--store", place.store});
  EXPECT_EQ(forgotten.status, kGood) << forgotten.err;
  EXPECT_TRUE(borrowed_in(place, "").empty());
}

}  // namespace
}  // namespace perdure::cli
