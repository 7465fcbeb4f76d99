// Only the posix store promises this: its files, its errors, and its treatment of foreign entries.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "os/hooks.hpp"
#include "store/posix_layout.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using segment::Manifest;
using segment::VersionId;
using test_support::check_version;
using test_support::sample_version;
using test_support::write_segment;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

const VersionId kFirst{"nbody", 1, {1000, 7}};
const std::string kFile = segment::file_name(0, 1, kFirst.attempt);

bool no_matter_which(const VersionId&, std::uint32_t) { return true; }

/// Makes the calls named `call` on paths that contain `part` fail with `error_number`, and counts all calls.
class Failing : public os::Hooks {
 public:
  Failing(std::string call, std::string part, int error_number)
      : call_(std::move(call)), part_(std::move(part)), error_number_(error_number) {
    os::install_hooks(this);
  }
  ~Failing() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override {
    std::lock_guard lock(mutex_);
    ++counts_[operation.call];
    return call_ == operation.call && operation.path.find(part_) != std::string::npos ? error_number_ : 0;
  }
  int count(const std::string& call) { return counts_[call]; }

 private:
  std::string call_;
  std::string part_;
  int error_number_;
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

class PosixStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(fs::path(root_).parent_path());
    ASSERT_TRUE(store_->prepare());
  }
  std::vector<std::string> files() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      result.push_back(fs::relative(entry.path(), root_).string());
    std::sort(result.begin(), result.end());
    return result;
  }
  void touch(const std::string& path) const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << "something";
  }
  base::Status write_one() { return write_segment(*store_, sample_version(kFirst, 1)[0]); }

  test_support::TemporaryDirectory directory_;
  const std::string root_ = directory_ / "deep/er/store";
  std::unique_ptr<Store> store_ = make_store(root_).value();
};

TEST_F(PosixStoreTest, KeepsASegmentWhereTheDocumentationSays) {
  ASSERT_TRUE(write_one());
  EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/1", "nbody/1/" + kFile));
  EXPECT_THAT((*store_->open(store_->list("nbody")->at(0).segments[0]))->name(), root_ + "/nbody/1/" + kFile);
}

TEST_F(PosixStoreTest, LeavesNothingOfASegmentThatWasGivenUp) {
  {
    auto sink = store_->begin(sample_version(kFirst, 1)[0], 8192);
    ASSERT_TRUE(sink);
    const auto all = files();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_TRUE(all[2].starts_with("nbody/1/.tmp-") && all[2].ends_with("-" + kFile)) << all[2];
  }
  EXPECT_THAT(files(), testing::ElementsAre("nbody"));
}

TEST_F(PosixStoreTest, LeavesNothingOfARemovedVersionButItsName) {
  ASSERT_TRUE(write_one());
  ASSERT_TRUE(store_->remove(kFirst));
  EXPECT_THAT(files(), testing::ElementsAre("nbody"));
}

TEST_F(PosixStoreTest, IgnoresWhatIsNoSegment) {
  for (const char* path : {"core", "nbody/core", "nbody/1/core", "nbody/1/.hidden", "nbody/01/x", "nbody/-1/x",
                           ".git/x", "nbody/99999999999999999999/x", "nbody/18446744073709551615/x", "bad name/1/x"})
    touch(path);
  touch("nbody/01/" + kFile);
  touch("nbody/1/.tmp-core");
  ASSERT_TRUE(write_one());
  EXPECT_THAT(store_->names().value(), testing::ElementsAre("nbody"));
  ASSERT_EQ(store_->list("nbody").value().size(), 1U);
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value()[0]), "");
  const auto before = files();
  EXPECT_TRUE(store_->clean(no_matter_which));
  EXPECT_EQ(files(), before);
}

TEST_F(PosixStoreTest, DoesNotFollowSymbolicLinks) {
  ASSERT_TRUE(write_one());
  fs::create_directory_symlink(root_ + "/nbody", root_ + "/linked");
  fs::create_directory_symlink(root_ + "/nbody/1", root_ + "/nbody/2");
  const VersionId other{"nbody", 1, {1000, 8}};
  const std::string link = segment::file_name(0, 1, other.attempt);
  fs::create_symlink(root_ + "/nbody/1/" + kFile, root_ + "/nbody/1/" + link);
  EXPECT_THAT(store_->names().value(), testing::ElementsAre("nbody"));
  const auto listings = store_->list("nbody").value();
  ASSERT_EQ(listings.size(), 2U);
  EXPECT_EQ(check_version(*store_, listings[0]), "");
  EXPECT_EQ(read_version(*store_, listings[1]).error().code, PERDURE_PERMISSION);
}

TEST_F(PosixStoreTest, RefusesAPipeInPlaceOfASegment) {
  fs::create_directories(root_ + "/nbody/1");
  ASSERT_EQ(mkfifo((root_ + "/nbody/1/" + kFile).c_str(), 0600), 0);
  EXPECT_FALSE(read_version(*store_, store_->list("nbody").value().at(0)));
}

TEST_F(PosixStoreTest, TakesEightZeroBytesForNoCheckpoint) {
  fs::create_directories(root_ + "/nbody/1");
  std::ofstream(root_ + "/nbody/1/" + kFile) << std::string(8, '\0');
  auto version = read_version(*store_, store_->list("nbody").value().at(0));
  EXPECT_EQ(version.error().cause, "too short for a segment: 8 bytes, the smallest has 8192");
}

TEST_F(PosixStoreTest, SaysThatAMissingRootIsMissing) {
  auto missing = make_store(directory_ / "nowhere").value();
  for (const base::Error& error :
       {missing->names().error(), missing->list("nbody").error(), missing->clean(no_matter_which).error()}) {
    EXPECT_EQ(error.code, PERDURE_NOT_FOUND);
    EXPECT_EQ(error.object, directory_ / "nowhere");
    EXPECT_THAT(error.remedy, HasSubstr("store.path"));
  }
}

TEST_F(PosixStoreTest, SaysThatAFileIsInTheWay) {
  std::ofstream(directory_ / "file") << "x";
  auto store = make_store(directory_ / "file").value();
  for (const base::Error& error : {store->prepare().error(), store->names().error(), store->list("nbody").error(),
                                   store->begin(sample_version(kFirst, 1)[0], 8192).error()}) {
    EXPECT_THAT(error.object, HasSubstr(directory_ / "file"));
    EXPECT_FALSE(error.retryable) << error.text();
    EXPECT_FALSE(error.remedy.empty()) << error.text();
  }
}

TEST_F(PosixStoreTest, SaysThatAccessIsDenied) {
  for (int number : {EACCES, EROFS}) {
    Failing hooks("open", root_, number);
    auto written = write_one();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, PERDURE_PERMISSION);
    EXPECT_FALSE(written.error().retryable);
    EXPECT_FALSE(written.error().remedy.empty());
    EXPECT_EQ(store_->names().error().code, PERDURE_PERMISSION);
  }
}

TEST_F(PosixStoreTest, ReportsEveryFailingCallOfAFlushAndLeavesNothing) {
  for (const char* call : {"open", "fallocate", "pwrite", "fdatasync", "rename"}) {
    for (int number : {ENOSPC, EDQUOT, EIO}) {
      {
        Failing hooks(call, ".tmp-", number);
        auto written = write_one();
        ASSERT_FALSE(written) << call;
        EXPECT_EQ(written.error().code, number == EIO ? PERDURE_IO : PERDURE_NO_SPACE) << written.error().text();
        EXPECT_TRUE(written.error().retryable) << written.error().text();
        EXPECT_THAT(written.error().text(), testing::AllOf(HasSubstr(root_ + "/nbody/1/.tmp-"), HasSubstr(kFile)));
      }
      EXPECT_THAT(files(), testing::ElementsAre("nbody")) << call;
      ASSERT_TRUE(write_one()) << call;
      ASSERT_TRUE(store_->remove(kFirst));
    }
  }
}

TEST_F(PosixStoreTest, ReportsAFailingSyncOfADirectory) {
  for (const char* directory : {"store", "nbody", "nbody/1"}) {
    Failing hooks("fsync_dir", directory, EIO);
    auto written = write_one();
    ASSERT_FALSE(written) << directory;
    EXPECT_EQ(written.error().code, PERDURE_IO);
  }
}

/// Has one segment, whose publication fails after its rename.
class PublicationThatFails : public PosixStoreTest {
 protected:
  void write_and_fail(bool kept) {
    auto sink = store_->begin(manifest_, file_.size()).value();
    ASSERT_TRUE(sink->write(0, file_));
    sink->keep(kept);
    Failing hooks("fsync_dir", "nbody/1", EIO);
    const auto committed = sink->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, PERDURE_IO);
    EXPECT_TRUE(committed.error().retryable);
  }
  void expect_stored_once() {
    const auto listings = store_->list("nbody").value();
    ASSERT_EQ(listings.size(), 1U);
    EXPECT_EQ(check_version(*store_, listings[0]), "");
    EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/1", "nbody/1/" + kFile));
  }
  const Manifest manifest_ = sample_version(kFirst, 1)[0];
  const std::vector<std::byte> file_ = test_support::sample_file(manifest_);
};

TEST_F(PublicationThatFails, IsRepeatedFromTheBeginning) {
  write_and_fail(false);
  ASSERT_TRUE(write_one());
  expect_stored_once();
}

TEST_F(PublicationThatFails, IsResumedWithEverythingThatWasWritten) {
  for (int failures = 0; failures < 3; ++failures) {
    ASSERT_NO_FATAL_FAILURE(write_and_fail(true));
    auto sink = store_->resume(manifest_, file_.size());
    ASSERT_TRUE(sink) << sink.error().text();
    (*sink)->keep(true);
    std::vector<std::byte> read(file_.size());
    ASSERT_TRUE((*sink)->read(0, read));
    EXPECT_EQ(read, file_);
    Failing hooks("fsync_dir", "nbody/1", failures < 2 ? EIO : 0);
    EXPECT_EQ((*sink)->commit().has_value(), failures == 2);
  }
  expect_stored_once();
}

TEST_F(PublicationThatFails, CanBeDiscardedAndRemoved) {
  write_and_fail(true);
  EXPECT_TRUE(store_->discard(kFirst, 0, 1));
  EXPECT_TRUE(store_->remove(kFirst));
  EXPECT_THAT(files(), testing::ElementsAre("nbody"));
}

// A copy that was cut short must not be taken for the segment.
TEST_F(PublicationThatFails, IsResumedFromWhatIsWholeAlsoAfterAnInterruption) {
  write_and_fail(true);
  {
    Failing hooks("pwrite", ".tmp-", EIO);
    EXPECT_FALSE(store_->resume(manifest_, file_.size()));
  }
  touch("nbody/1/.tmp-" + kFile);
  auto sink = store_->resume(manifest_, file_.size());
  ASSERT_TRUE(sink) << sink.error().text();
  ASSERT_TRUE((*sink)->commit());
  expect_stored_once();
}

/// Spoils the first reading of a published segment, as bad memory does.
class BadMemoryOnce : public os::Hooks {
 public:
  void after(const os::Operation& operation, int) override {
    if (std::string_view(operation.call) != "pread" || !operation.path.ends_with("/" + std::string(kFile))) return;
    if (!operation.target.empty() && !spoiled_.exchange(true)) operation.target[0] ^= std::byte{1};
  }
  bool spoiled() const { return spoiled_; }

 private:
  std::atomic<bool> spoiled_ = false;
};

TEST_F(PosixStoreTest, OneBadReadingOfWhatIsPublishedSetsNothingAside) {
  ASSERT_TRUE(write_one());
  {
    BadMemoryOnce memory;
    const test_support::InstalledHooks installed(memory);
    const auto again = write_one();
    ASSERT_FALSE(again);
    EXPECT_TRUE(memory.spoiled());
    EXPECT_EQ(again.error().code, PERDURE_IO) << again.error().text();
    EXPECT_TRUE(again.error().retryable);
    EXPECT_THAT(again.error().text(), HasSubstr("damaged at the first reading, and whole at the second"));
  }
  EXPECT_THAT(store_->set_aside("nbody").value(), IsEmpty());
  ASSERT_TRUE(write_one()) << "the same content counts as written";
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, OnAFullDeviceDamageIsSetAsideWithoutAReport) {
  ASSERT_TRUE(write_one());
  const auto listed = store_->list("nbody").value().at(0);
  os::FaultRules full(os::parse_fault_rules("pwrite:" + root_ + ":ENOSPC").value());
  const test_support::InstalledHooks installed(full);
  ASSERT_TRUE(
      store_->quarantine(listed.segments[0], listed.id, base::Error{PERDURE_CORRUPT, "header", "its hash is wrong"}));
  EXPECT_THAT(store_->list("nbody").value(), IsEmpty()) << "its number is free again";
  ASSERT_EQ(store_->set_aside("nbody").value().size(), 1U);
  EXPECT_FALSE(fs::exists(store_->set_aside("nbody").value()[0].path + ".json"));
}

/// Has a temporary segment that is complete and was never published, and another file under the segment's name.
class ResumedBesideAnotherFile : public PosixStoreTest {
 protected:
  void leave_beside(std::vector<std::byte> published) {
    {
      auto sink = store_->begin(manifest_, file_.size()).value();
      ASSERT_TRUE(sink->write(0, file_));
      sink->keep(true);
    }
    std::ofstream(root_ + "/nbody/1/" + kFile, std::ios::binary)
        .write(reinterpret_cast<const char*>(published.data()), static_cast<std::streamsize>(published.size()));
    ASSERT_EQ(files().size(), 4U) << "both files";
  }
  const Manifest manifest_ = sample_version(kFirst, 1)[0];
  const std::vector<std::byte> file_ = test_support::sample_file(manifest_);
};

TEST_F(ResumedBesideAnotherFile, TakesItsOwnUpWhereThatIsDamaged) {
  auto damaged = file_;
  damaged[100] ^= std::byte{1};
  ASSERT_NO_FATAL_FAILURE(leave_beside(damaged));
  auto sink = store_->resume(manifest_, file_.size());
  ASSERT_TRUE(sink) << sink.error().text();
  std::vector<std::byte> read(file_.size());
  ASSERT_TRUE((*sink)->read(0, read));
  EXPECT_EQ(read, file_);
  ASSERT_TRUE((*sink)->commit());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  EXPECT_EQ(store_->set_aside("nbody").value().size(), 1U);
}

TEST_F(ResumedBesideAnotherFile, IsRefusedWhereThatIsAnotherSegmentAndLeavesBoth) {
  const Manifest other = test_support::sample_manifest(kFirst, 1, 0, 1, {0}, 3000, 1000);
  ASSERT_NO_FATAL_FAILURE(leave_beside(test_support::sample_file(other)));
  const auto before = files();
  const auto refused = store_->resume(manifest_, file_.size());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_EXISTS) << refused.error().text();
  EXPECT_EQ(files(), before);
}

TEST_F(PosixStoreTest, SyncsDataBeforeTheNameAndReservesRoomOnce) {
  Failing hooks("", "", 0);
  const auto through_the_cache = make_store(root_, {{"direct", "false"}}).value();
  ASSERT_TRUE(write_segment(*through_the_cache,
                            test_support::sample_manifest(kFirst, 1, 0, 1, {0}, 20 * base::MiB, base::MiB),
                            64 * base::MiB));
  EXPECT_EQ(hooks.count("fallocate"), 1);
  EXPECT_EQ(hooks.count("fdatasync"), 1);
  EXPECT_EQ(hooks.count("rename"), 1);
  EXPECT_EQ(hooks.count("fsync_dir"), 3);
  EXPECT_EQ(hooks.count("sync_file_range"), 3);  // 8 + 8 + the rest of 20 MiB and a manifest
}

TEST_F(PosixStoreTest, StoresAllOfASegmentHoweverLittleTheSystemTakesAtATime) {
  os::FaultRules faults(os::parse_fault_rules("short:" + root_ + ":1000").value());
  const test_support::InstalledHooks installed(faults);
  ASSERT_TRUE(write_one());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  auto sink =
      store_->resume(sample_version(kFirst, 1)[0], test_support::sample_file(sample_version(kFirst, 1)[0]).size());
  ASSERT_TRUE(sink) << sink.error().text();
  ASSERT_TRUE((*sink)->commit()) << "a copy of what is published";
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, GoesOnWithAPublishedSegmentThatIsCopiedInSeveralParts) {
  const Manifest manifest = test_support::sample_manifest(kFirst, 1, 0, 1, {0}, 9 * base::MiB, base::MiB);
  ASSERT_TRUE(write_segment(*store_, manifest, 64 * base::MiB));
  auto sink = store_->resume(manifest, test_support::sample_file(manifest).size());
  ASSERT_TRUE(sink) << sink.error().text();
  ASSERT_TRUE((*sink)->commit());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

// If room can be reserved, the file has its full length from the beginning.
TEST_F(PosixStoreTest, DoesNotPublishASegmentThatIsTooShortWhereRoomCannotBeReserved) {
  os::FaultRules faults(os::parse_fault_rules("fallocate::EOPNOTSUPP").value());
  const test_support::InstalledHooks installed(faults);
  const Manifest manifest = sample_version(kFirst, 1)[0];
  const auto file = test_support::sample_file(manifest);
  const base::ConstByteSpan all(file);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, all.first(file.size() - 4096)));
  const auto committed = sink->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, PERDURE_INTERNAL);
  EXPECT_THAT(committed.error().text(), HasSubstr(std::to_string(file.size() - 4096) + " bytes at its commit"));
  EXPECT_THAT(store_->list("nbody").value(), IsEmpty());
  ASSERT_TRUE(write_one()) << "all of it";
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, CallsAVanishedRootRetryableAndGoesOnWhenItReturns) {
  const Manifest manifest = sample_version(kFirst, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  fs::rename(root_, root_ + ".away");
  auto committed = sink->commit();
  ASSERT_FALSE(committed);
  EXPECT_TRUE(committed.error().retryable);
  EXPECT_THAT(committed.error().remedy, HasSubstr("bring the store's directory back"));
  sink.reset();
  auto again = store_->begin(manifest, file.size());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(again.error().object, root_);
  EXPECT_TRUE(again.error().retryable);
  EXPECT_FALSE(fs::exists(root_));
  fs::rename(root_ + ".away", root_);
  ASSERT_TRUE(write_one());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/1", "nbody/1/" + kFile));
}

TEST_F(PosixStoreTest, RemovesRecordsThatKilledWritersLeftHalfWritten) {
  const auto leave_some = [&] {
    for (const char* record : {".owner", ".incarnation"})
      touch(std::string("nbody/") + record + ".tmp-0123456789abcdef");
  };
  leave_some();
  ASSERT_TRUE(store_->set_owner("nbody", std::nullopt, {}));
  EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/.owner", "nbody/.owner.lock"));
  leave_some();
  EXPECT_TRUE(store_->residue().value().empty()) << "they may be being written";
  ASSERT_TRUE(store_->incarnation("nbody", Missing::make));
  EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/.incarnation", "nbody/.owner", "nbody/.owner.lock"));
}

// This is as if a file system is not mounted: a store that is made there hides that, and is gone with the next mount.
TEST_F(PosixStoreTest, IsNeitherMadeNorTakenForANewOneWhereTheDirectoryAroundItIsNotThere) {
  fs::remove_all(directory_ / "deep");
  for (const base::Error& error : {store_->prepare().error(), store_->names().error(), store_->list("nbody").error(),
                                   store_->owner("nbody").error(), write_one().error()}) {
    EXPECT_EQ(error.code, PERDURE_UNAVAILABLE) << error.text();
    EXPECT_EQ(error.object, root_);
    EXPECT_TRUE(error.retryable);
    EXPECT_THAT(error.remedy, HasSubstr("mkdir -p " + (directory_ / "deep/er")));
  }
  EXPECT_FALSE(fs::exists(directory_ / "deep"));
}

TEST_F(PosixStoreTest, MakesAnEmptiedRootUsableAgainByPreparing) {
  fs::remove_all(root_);
  EXPECT_FALSE(write_one());
  ASSERT_TRUE(store_->prepare());
  EXPECT_TRUE(write_one());
}

TEST_F(PosixStoreTest, ReplacesTheTemporaryFileOfAKilledWriter) {
  touch("nbody/1/.tmp-" + kFile);
  ASSERT_TRUE(write_one());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, CleansTemporaryFilesAndEmptyVersionsOfKilledWriters) {
  touch("nbody/1/.tmp-" + kFile);
  fs::create_directories(root_ + "/nbody/2");
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_THAT(files(), testing::ElementsAre("nbody"));
}

TEST_F(PosixStoreTest, HidesAndFinishesARemovalThatWasCutShort) {
  const VersionId other{"nbody", 1, {2000, 1}};
  for (const Manifest& manifest : sample_version(kFirst, 2)) ASSERT_TRUE(write_segment(*store_, manifest));
  for (const Manifest& manifest : sample_version(other, 2)) ASSERT_TRUE(write_segment(*store_, manifest));
  fs::create_directory(root_ + "/nbody/.retired-1-" + kFirst.attempt.hex());
  ASSERT_EQ(store_->list("nbody").value().size(), 1U);
  EXPECT_EQ(store_->list("nbody").value()[0].id, other);
  ASSERT_TRUE(store_->clean([](const VersionId&, std::uint32_t) { return false; }));
  EXPECT_EQ(files().size(), 4U);
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, TakesAFileForNoMarkOfARemoval) {
  ASSERT_TRUE(write_one());
  touch("nbody/.retired-1-" + kFirst.attempt.hex());
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, WritesAnAttemptAgainWhoseRemovalWasCutShort) {
  ASSERT_TRUE(write_one());
  fs::create_directory(root_ + "/nbody/.retired-1-" + kFirst.attempt.hex());
  ASSERT_TRUE(write_one());
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, LeavesATemporaryFileAloneWhileItsWriterLives) {
  const Manifest manifest = sample_version(kFirst, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  ASSERT_TRUE(store_->clean(no_matter_which));
  ASSERT_TRUE(store_->discard(kFirst, 0, 1));
  EXPECT_EQ(store_->resume(manifest, file.size()).error().code, PERDURE_BUSY);
  ASSERT_TRUE(store_->begin(manifest, file.size())) << "another writer has a file of its own";
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

// It may have the only copy of chunks whose slots were used again.
TEST_F(PosixStoreTest, LeavesAloneWhatAnotherWriterLeftOfTheSameSegment) {
  const auto as = [this](const char* writer) { return make_store(root_, {{kWriter, writer}}).value(); };
  const Manifest manifest = sample_version(kFirst, 1)[0];
  const auto file = test_support::sample_file(manifest);
  const auto begun_by = [&](Store& store) {
    auto sink = store.begin(manifest, file.size()).value();
    EXPECT_TRUE(sink->write(0, file));
    sink->keep(true);
  };
  const auto node = as("node"), spare = as("spare");
  begun_by(*node);
  EXPECT_EQ(spare->resume(manifest, file.size()).error().code, PERDURE_NOT_FOUND) << "it has none of its own";
  begun_by(*spare);
  begun_by(*spare);
  EXPECT_EQ(files().size(), 4U) << "one of each";
  ASSERT_TRUE(spare->discard(kFirst, 0, 1));
  EXPECT_EQ(files().size(), 3U);
  auto again = as("node")->resume(manifest, file.size());
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_TRUE((*again)->commit());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  begun_by(*spare);
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_EQ(files().size(), 3U) << "nobody writes it any more";
}

TEST_F(PosixStoreTest, TellsAWriterWhoseFileSomebodyRemovedToTryAgain) {
  const Manifest manifest = sample_version(kFirst, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  fs::remove(root_ + "/" + files().at(2));
  const auto committed = sink->commit();
  ASSERT_FALSE(committed);
  EXPECT_TRUE(committed.error().retryable);
  ASSERT_TRUE(write_one());
}

// A process died while it was forgetting a name: the cleaner goes on there.
TEST_F(PosixStoreTest, HidesAndFinishesAForgettingThatWasCutShort) {
  ASSERT_TRUE(write_one());
  fs::create_directory(root_ + "/nbody/.forgotten-00000000000003e7");
  EXPECT_EQ(store_->list("nbody").value().size(), 1U) << "999 is before 1000";
  fs::create_directory(root_ + "/nbody/.forgotten-00000000000003e8");
  EXPECT_THAT(store_->list("nbody").value(), IsEmpty());
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/.forgotten-00000000000003e8"));
  EXPECT_THAT(store_->residue().value(), IsEmpty());
}

TEST_F(PosixStoreTest, ForgetsWhatWasBegunUpToThatVeryTime) {
  touch("nbody/1/.tmp-" + kFile);
  ASSERT_TRUE(store_->forget("nbody", 999));
  EXPECT_TRUE(fs::exists(root_ + "/nbody/1/.tmp-" + kFile)) << "it is of 1000";
  ASSERT_TRUE(store_->forget("nbody", 1000));
  EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/.forgotten-00000000000003e8"));
}

TEST_F(PosixStoreTest, SetsAsideADamagedSegmentWhoseNameItNeeds) {
  ASSERT_TRUE(write_one());
  {
    std::fstream damaged(root_ + "/nbody/1/" + kFile);
    damaged.seekp(5000);
    damaged.put('x');
  }
  ASSERT_TRUE(write_one());
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  EXPECT_EQ(store_->set_aside("nbody").value().at(0).path, root_ + "/.quarantine/nbody.1." + kFile);
}

/// A file system without exclusive renames, and perhaps without second names for files.
class KnowsLess : public os::Hooks {
 public:
  explicit KnowsLess(bool links) : links_(links) { os::install_hooks(this); }
  ~KnowsLess() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override {
    const std::string_view call = operation.call;
    if (call == "rename" && operation.flags == RENAME_NOREPLACE) return EINVAL;
    return call == "link" && !links_ ? EPERM : 0;
  }

 private:
  const bool links_;
};

// Without an exclusive rename a second name does; without that, a look at the name.
TEST_F(PosixStoreTest, ReplacesNothingOnFileSystemsThatKnowLess) {
  for (const bool links : {true, false}) {
    const Manifest other = test_support::sample_manifest(kFirst, 2, 0, 1, {0, 1}, 5000, 4096);
    const KnowsLess file_system(links);
    ASSERT_TRUE(write_one());
    ASSERT_TRUE(write_one()) << "the same again";
    EXPECT_EQ(write_segment(*store_, other).error().code, PERDURE_EXISTS);
    EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
    EXPECT_THAT(files(), testing::ElementsAre("nbody", "nbody/1", "nbody/1/" + kFile));
    ASSERT_TRUE(store_->remove(kFirst));
  }
}

TEST_F(PosixStoreTest, WritesAReportBesideWhatItSetsAside) {
  ASSERT_TRUE(write_one());
  const auto segment = store_->list("nbody").value().at(0).segments[0];
  const base::Error why{PERDURE_CORRUPT, "x.pds", "chunk 0 of rank 0 at offset 4096 damaged \xff", "", false};
  ASSERT_TRUE(store_->quarantine(segment, kFirst, why));
  const std::string aside = root_ + "/.quarantine/nbody.1." + kFile;
  EXPECT_TRUE(fs::exists(aside));
  std::ifstream report(aside + ".json");
  const base::Json json = base::Json::parse(report);
  EXPECT_EQ(json["what"], root_ + "/nbody/1/" + kFile);
  EXPECT_EQ(json["offset"], 4096);
  EXPECT_EQ(json["code"], "corrupt");
  EXPECT_THAT(json["why"].get<std::string>(), HasSubstr("chunk 0 of rank 0 at offset 4096 damaged"));
  EXPECT_THAT(json["when"].get<std::string>(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_FALSE(fs::exists(root_ + "/nbody/1"));
}

/// Puts another writer's file in the place of `path` just before that is renamed for the first time.
class WrittenAnewBeforeTheRename : public os::Hooks {
 public:
  WrittenAnewBeforeTheRename(std::string path, std::string whole) : path_(std::move(path)), whole_(std::move(whole)) {
    os::install_hooks(this);
  }
  ~WrittenAnewBeforeTheRename() override { os::install_hooks(nullptr); }
  int before(const os::Operation& operation) override {
    if (std::string_view(operation.call) == "rename" && operation.path == path_ && !std::exchange(done_, true))
      fs::rename(whole_, path_);
    return 0;
  }
  bool done() const { return done_; }

 private:
  std::string path_, whole_;
  bool done_ = false;
};

// A new file came between the look and the rename: it is put back, and no report stays.
TEST_F(PosixStoreTest, PutsBackWhatWasWrittenAnewWhileItSetTheDamagedOneAside) {
  const std::string path = root_ + "/nbody/1/" + kFile, whole = directory_ / "whole";
  ASSERT_TRUE(write_one());
  fs::copy(path, whole);
  fs::resize_file(path, 100);
  auto damaged = store_->list("nbody").value().at(0).segments[0];
  damaged.identity = store_->open_anew(damaged).value()->identity();
  const base::Error why{PERDURE_CORRUPT, "x.pds", "damaged", "", false};
  {
    const WrittenAnewBeforeTheRename another(path, whole);
    EXPECT_EQ(store_->quarantine(damaged, kFirst, why).error().code, PERDURE_NOT_FOUND);
    EXPECT_TRUE(another.done());
  }
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  EXPECT_THAT(store_->set_aside("nbody").value(), IsEmpty());
  EXPECT_TRUE(fs::is_empty(root_ + "/.quarantine"));
}

TEST_F(PosixStoreTest, NeverOverwritesWhatItSetAsideBefore) {
  const base::Error why{PERDURE_CORRUPT, "x.pds", "damaged", "", false};
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(write_one());
    ASSERT_TRUE(store_->quarantine(store_->list("nbody").value().at(0).segments[0], kFirst, why));
  }
  const std::string aside = root_ + "/.quarantine/nbody.1." + kFile;
  for (const char* end : {"", ".2", ".3", ".json", ".2.json", ".3.json"}) EXPECT_TRUE(fs::exists(aside + end)) << end;
}

TEST_F(PosixStoreTest, AReportReplacesALongerOneWhoseSegmentWasTakenAway) {
  const std::string aside = root_ + "/.quarantine/nbody.1." + kFile;
  for (const std::string& cause : {std::string(500, 'x'), std::string("short")}) {
    ASSERT_TRUE(write_one());
    ASSERT_TRUE(store_->quarantine(store_->list("nbody").value().at(0).segments[0], kFirst,
                                   base::Error{PERDURE_CORRUPT, "x.pds", cause, "", false}));
    ASSERT_TRUE(fs::remove(aside)) << "somebody looked at it, and left the report";
  }
  std::ifstream report(aside + ".json");
  EXPECT_THAT(base::Json::parse(report)["why"].get<std::string>(), HasSubstr("short"));
}

// A process died after it had renamed a segment, before it saw which one that was: the cleaner goes on there.
TEST_F(PosixStoreTest, PutsBackWhatIsWholeWhereASettingAsideWasCutShort) {
  const std::string path = root_ + "/nbody/1/" + kFile, aside = root_ + "/.quarantine/nbody.1." + kFile;
  const auto cut_short = [&] {
    fs::create_directories(root_ + "/.quarantine");
    std::ofstream(aside + ".json") << "{}";
    fs::rename(path, aside + ".moving");
  };
  ASSERT_TRUE(write_one());
  cut_short();
  fs::remove(root_ + "/nbody/1");
  EXPECT_EQ(store_->set_aside("nbody").value().size(), 1U) << "until then it is no first start";
  EXPECT_EQ(store_->residue().value().at(0).report_text, "{}");
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
  EXPECT_TRUE(fs::is_empty(root_ + "/.quarantine"));
  cut_short();
  ASSERT_TRUE(write_one());
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_TRUE(fs::exists(aside) && fs::exists(aside + ".json")) << "its name is taken";
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, LeavesWhatIsDamagedAsideWhereThatWasCutShort) {
  ASSERT_TRUE(write_one());
  const std::string aside = root_ + "/.quarantine/nbody.1." + kFile;
  fs::create_directories(root_ + "/.quarantine");
  fs::rename(root_ + "/nbody/1/" + kFile, aside + ".moving");
  fs::resize_file(aside + ".moving", 100);
  ASSERT_TRUE(store_->clean(no_matter_which));
  EXPECT_THAT(store_->list("nbody").value(), IsEmpty());
  EXPECT_TRUE(fs::exists(aside));
  EXPECT_FALSE(fs::exists(aside + ".moving"));
}

// A rank reads a segment that its engine has not published yet.
TEST_F(PosixStoreTest, WhatAWriterHasNotPublishedYetIsSeenByOthersToo) {
  const auto engine = make_store(root_, {{kWriter, "engine"}}).value();
  const auto sink = engine->begin(sample_version(kFirst, 1)[0], 8192).value();
  EXPECT_EQ(store_->unpublished(kFirst, 0, 1).value().size(), 1U);
}

TEST_F(PosixStoreTest, CannotSetAsideWhereItCannotWriteAndSaysSo) {
  ASSERT_TRUE(write_one());
  const auto segment = store_->list("nbody").value().at(0).segments[0];
  for (const char* call : {"mkdir", "rename"}) {
    Failing hooks(call, root_, EROFS);
    auto status = store_->quarantine(segment, kFirst, base::Error{});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, PERDURE_PERMISSION);
  }
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, DoesNotHideWhatItCannotRemove) {
  ASSERT_TRUE(write_one());
  {
    Failing hooks("mkdir", ".retired", EROFS);
    EXPECT_EQ(store_->remove(kFirst).error().code, PERDURE_PERMISSION);
  }
  EXPECT_EQ(check_version(*store_, store_->list("nbody").value().at(0)), "");
}

TEST_F(PosixStoreTest, RemovesTheRestLaterWhenDeletingFailed) {
  ASSERT_TRUE(write_one());
  {
    Failing hooks("unlink", "/nbody/1/", EIO);
    EXPECT_EQ(store_->remove(kFirst).error().code, PERDURE_IO);
    EXPECT_THAT(store_->list("nbody").value(), IsEmpty());
  }
  EXPECT_TRUE(store_->remove(kFirst));
  EXPECT_THAT(files(), testing::ElementsAre("nbody"));
}

/// A file comes into the directory that is about to be removed.
class WriterComes : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    const bool removed = std::string_view(operation.call) == "rmdir" && operation.path.ends_with("/nbody/1");
    if (removed) std::ofstream(operation.path + "/.tmp-writer") << "x";
    return 0;
  }
};

TEST_F(PosixStoreTest, LeavesTheDirectoryOfAVersionToAWriterWhoComesMeanwhile) {
  ASSERT_TRUE(write_one());
  WriterComes writer;
  const test_support::InstalledHooks installed(writer);
  const auto removed = store_->remove(kFirst);
  EXPECT_TRUE(removed) << removed.error().text();
  EXPECT_TRUE(fs::exists(root_ + "/nbody/1/.tmp-writer"));
  EXPECT_THAT(store_->list("nbody").value(), IsEmpty());
}

TEST_F(PosixStoreTest, SaysThatTheDirectoryOfAVersionCannotBeRemoved) {
  ASSERT_TRUE(write_one());
  Failing hooks("rmdir", "/nbody/1", EIO);
  EXPECT_EQ(store_->remove(kFirst).error().code, PERDURE_IO);
}

TEST_F(PosixStoreTest, ShowsWhatIsNotItsOwnWhereverItLies) {
  ASSERT_TRUE(write_one());
  ASSERT_TRUE(store_->residue().value().empty());
  fs::copy(root_ + "/nbody/1/" + kFile, root_ + "/misplaced");
  fs::copy(root_ + "/nbody/1/" + kFile, root_ + "/nbody/copy.pds");
  for (const char* path : {"core", "nbody/core", "nbody/1/core", "nbody/1/folder/x", "bad name/x"}) touch(path);
  std::map<std::string, Residue> found;
  EXPECT_THAT(store_->quarantined().value(), IsEmpty());
  const auto residue = store_->residue().value();
  for (const Residue& one : residue) found[fs::relative(one.path, root_)] = one;
  std::vector<std::string> paths;
  for (const auto& [path, one] : found) {
    paths.push_back(path);
    const bool segment = path == "misplaced" || path == "nbody/copy.pds";
    EXPECT_EQ(one.kind, segment ? Residue::Kind::misplaced : Residue::Kind::foreign) << path;
    EXPECT_EQ(one.bytes > 0, !fs::is_directory(one.path)) << path;
    EXPECT_EQ(one.name, path.starts_with("nbody/") ? "nbody" : "") << path;
  }
  EXPECT_THAT(paths, testing::ElementsAre("bad name", "core", "misplaced", "nbody/1/core", "nbody/1/folder",
                                          "nbody/copy.pds", "nbody/core"));
}

TEST_F(PosixStoreTest, LeavesNothingOfWhatWasResumedAndGivenUp) {
  {
    const Manifest manifest = sample_version(kFirst, 1)[0];
    auto sink = store_->begin(manifest, 8192).value();
    sink->keep(true);
    sink.reset();
    ASSERT_EQ(files().size(), 3U) << "it was kept";
    ASSERT_TRUE(store_->resume(manifest, 8192));
  }
  EXPECT_THAT(files(), testing::ElementsAre("nbody"));
}

// If they counted as absent, they would be written anew: a store that lost everything, and a name without owner.
TEST_F(PosixStoreTest, DoesNotTakeRecordsThatCannotBeReadForAbsent) {
  ASSERT_TRUE(write_one());
  const std::uint64_t before = store_->incarnation("nbody", Missing::make).value();
  ASSERT_TRUE(store_->set_owner("nbody", std::nullopt, Owner{}));
  {
    Failing hooks("open", "nbody/.", EIO);
    EXPECT_EQ(store_->incarnation("nbody", Missing::make).error().code, PERDURE_IO);
    EXPECT_EQ(store_->incarnation("nbody", Missing::leave).error().code, PERDURE_IO);
    EXPECT_EQ(store_->owner("nbody").error().code, PERDURE_IO);
  }
  EXPECT_EQ(store_->incarnation("nbody", Missing::make).value(), before);
  EXPECT_EQ(store_->owner("nbody").value(), std::optional(Owner{}));
}

TEST(PosixLayout, ParsesItsOwnNamesAndNoOthers) {
  EXPECT_EQ(parse_version("0"), 0U);
  EXPECT_EQ(parse_version("9223372036854775807"), 9223372036854775807U);
  for (const char* name : {"", "00", "01", "+1", "-1", "1 ", "1x", "9223372036854775808", "99999999999999999999"})
    EXPECT_FALSE(parse_version(name)) << name;
  EXPECT_EQ(retired_mark(kFirst), ".retired-1-00000000000003e80000000000000007");
  EXPECT_EQ(parse_retired_mark(".retired-1-00000000000003e80000000000000007"), (RetiredMark{1, {1000, 7}}));
  for (const char* name :
       {".retired-1", ".retired--00000000000003e80000000000000007", ".retired-1-xx",
        ".retired-01-00000000000003e80000000000000007", ".retired-1-00000000000003E80000000000000007"})
    EXPECT_FALSE(parse_retired_mark(name)) << name;
}

TEST(PosixLayout, TellsTheTemporarySegmentsOfAWriter) {
  const std::string name = temporary_name(0xabc, 0xffffffff, kFile);
  EXPECT_EQ(name, ".tmp-00000abcffffffff-" + kFile);
  EXPECT_TRUE(parse_temporary(name));
  EXPECT_TRUE(is_temporary_of(0xabc, name));
  EXPECT_FALSE(is_temporary_of(0xabd, name));
  EXPECT_TRUE(is_temporary_of(0xabd, ".tmp-" + kFile)) << "of an older Perdure";
  EXPECT_FALSE(is_temporary_of(0xabc, kFile));
}

}  // namespace
}  // namespace perdure::store
