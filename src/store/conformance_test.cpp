// Every store must pass these tests. A new member is one line in kMembers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>

#include "store/emulated.hpp"
#include "store/halt_record.hpp"
#include "store/versions.hpp"
#include "support/directory_on.hpp"
#include "support/installed_hooks.hpp"
#include "support/memory_objects.hpp"
#include "support/s3_server.hpp"
#include "support/sanitized.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

namespace fs = std::filesystem;
using segment::Manifest;
using segment::VersionId;
using test_support::check_version;
using test_support::FileSystem;
using test_support::sample_version;
using test_support::write_segment;
using testing::ElementsAre;
using testing::IsEmpty;

struct Member {
  const char* name;
  const char* kind;  ///< the kind in its properties
  std::function<std::unique_ptr<Store>(const std::string& directory)> open;
  FileSystem on = FileSystem::usual;
  bool refuses_direct = false;  ///< its file system takes no O_DIRECT, as some of networks do not
  std::shared_ptr<Objects> (*objects)(const std::string& directory) = nullptr;  ///< of a store of objects
};
void PrintTo(const Member& member, std::ostream* out) { *out << member.name; }

std::unique_ptr<Store> open_posix(const std::string& directory) { return make_store(directory + "/store").value(); }
/// It is too fast to be noticed: the tests check that it changes nothing else.
std::unique_ptr<Store> open_emulated(const std::string& directory) {
  device::Device fast;
  fast.throughput = device::Curve::constant(1e12);
  return emulate(open_posix(directory), std::make_shared<device::Emulator>(fast, 1, 0));
}

/// Stores of one directory share a bucket.
std::shared_ptr<Objects> memory_objects(const std::string& directory) {
  return std::make_shared<test_support::MemoryObjects>(test_support::memory_bucket(directory));
}
std::shared_ptr<Objects> s3_objects(const std::string& directory) {
  return test_support::objects_of_s3("b" + base::hash128(base::as_bytes(directory)).hex());
}
std::unique_ptr<Store> open_memory(const std::string& directory) {
  return std::make_unique<Versions>(memory_objects(directory));
}
std::unique_ptr<Store> open_s3(const std::string& directory) {
  return std::make_unique<Versions>(s3_objects(directory));
}

const Member kMembers[] = {
    {"posix", "posix", open_posix},
    {"emulated", "posix", open_emulated},
    {"memory", "memory", open_memory, FileSystem::usual, false, memory_objects},
    {"s3", "s3", open_s3, FileSystem::usual, false, s3_objects},
};
const Member kElsewhere[] = {
    {"posix_on_overlay", "posix", open_posix, FileSystem::overlay},
    {"posix_in_memory", "posix", open_posix, FileSystem::memory},
    {"posix_on_sectors_of_4k", "posix", open_posix, FileSystem::sectors_of_4k},
    {"posix_without_direct", "posix", open_posix, FileSystem::usual, true},
};

class RefusesDirect : public os::Hooks {
 public:
  int before(const os::Operation& operation) override { return (operation.flags & O_DIRECT) != 0 ? EINVAL : 0; }
};

const VersionId kOne{"nbody", 1, {1000, 7}};

bool never(const VersionId&, std::uint32_t) { return false; }
bool always(const VersionId&, std::uint32_t) { return true; }

class StoreConformance : public testing::TestWithParam<Member> {
 protected:
  void SetUp() override {
    if (!directory_.missing().empty()) GTEST_SKIP() << directory_.missing();
    if (GetParam().kind == std::string("s3") && !test_support::S3Server::of_process().missing().empty())
      GTEST_SKIP() << test_support::S3Server::of_process().missing();
    if (GetParam().refuses_direct) hooks_.emplace(refuses_direct_);
    store_ = open();
    ASSERT_TRUE(store_->prepare());
  }
  std::unique_ptr<Store> open() { return GetParam().open(directory_.path()); }

  void write(const VersionId& id, std::uint32_t count) {
    for (const Manifest& manifest : sample_version(id, count)) ASSERT_TRUE(write_segment(*store_, manifest));
  }
  /// Gives the listings of `name`; a name that is not there has none.
  std::vector<VersionListing> list(const std::string& name = "nbody") {
    auto listings = store_->list(name);
    if (listings) return *listings;
    EXPECT_EQ(listings.error().code, PERDURE_NOT_FOUND) << listings.error().text();
    return {};
  }
  /// A store that cannot resume a segment says so, and has nothing else to show in such a test.
  bool resumable() {
    if (store_->properties().resumable) return true;
    const Manifest manifest = sample_version(kOne, 1)[0];
    EXPECT_EQ(store_->resume(manifest, 20000).error().code, PERDURE_UNSUPPORTED);
    auto sink = store_->begin(manifest, 20000).value();
    EXPECT_TRUE(sink->write(0, std::vector<std::byte>(20000)));
    std::vector<std::byte> read(1);
    EXPECT_EQ(sink->read(0, read).error().code, PERDURE_UNSUPPORTED);
    sink->keep(true);
    sink.reset();
    EXPECT_THAT(list(), IsEmpty());
    EXPECT_THAT(store_->unpublished(kOne, 0, 1).value(), IsEmpty());
    EXPECT_TRUE(store_->discard(kOne, 0, 1));
    EXPECT_TRUE(store_->discard(kOne, 0, 1)) << "repeatable";
    return false;
  }
  test_support::DirectoryOn directory_{GetParam().on};
  RefusesDirect refuses_direct_;
  std::optional<test_support::InstalledHooks> hooks_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreConformance, WhatIsPublishedCanBeMadeLastingByAnybody) {
  write(kOne, 2);
  EXPECT_TRUE(open()->make_lasting(kOne));
  EXPECT_TRUE(open()->make_lasting(kOne)) << "repeatable";
}

TEST_P(StoreConformance, SaysWhatItIs) {
  EXPECT_EQ(store_->properties().kind, GetParam().kind);
  EXPECT_FALSE(store_->properties().location.empty());
  EXPECT_TRUE(store_->properties().writable);
}

TEST_P(StoreConformance, IsEmptyAtFirstAndMayBePreparedAgain) {
  EXPECT_TRUE(store_->prepare());
  EXPECT_THAT(store_->names().value(), IsEmpty());
  EXPECT_EQ(store_->list("nbody").error().code, PERDURE_NOT_FOUND);
  EXPECT_TRUE(store_->clean(always));
}

Owner sample_owner(const std::string& launch) {
  return {"default", "", launch, "n1/boot/pid:[1]", 4711, 12345, "alice", 1'000'000'000, 30'000'000'000, 0, false};
}

TEST_P(StoreConformance, ANameHasOneOwnerWhichIsReplacedOnlyByWhoKnewIt) {
  const Owner first = sample_owner("first"), second = sample_owner("second");
  EXPECT_EQ(store_->owner("nbody").value(), std::nullopt);
  ASSERT_TRUE(store_->set_owner("nbody", std::nullopt, first));
  EXPECT_EQ(open()->owner("nbody").value(), first);
  EXPECT_EQ(store_->set_owner("nbody", std::nullopt, second).error().code, PERDURE_EXISTS);
  EXPECT_EQ(store_->set_owner("nbody", second, second).error().code, PERDURE_EXISTS);
  EXPECT_EQ(store_->owner("nbody").value(), first);
  Owner renewed = first;
  ++renewed.beat;
  ASSERT_TRUE(store_->set_owner("nbody", first, renewed));
  EXPECT_EQ(store_->set_owner("nbody", first, second).error().code, PERDURE_EXISTS) << "it was renewed meanwhile";
  ASSERT_TRUE(store_->set_owner("nbody", renewed, second));
  EXPECT_EQ(store_->owner("nbody").value(), second);
  EXPECT_EQ(store_->owner("other").value(), std::nullopt);
  EXPECT_THAT(store_->residue().value(), IsEmpty());
  EXPECT_THAT(list(), IsEmpty());
  ASSERT_TRUE(store_->forget("nbody", 1));
  EXPECT_EQ(store_->owner("nbody").value(), std::nullopt);
}

TEST_P(StoreConformance, WhoRunsANameIsKeptBesideItsOwnerOrNotAtAll) {
  const Owner owner = sample_owner("owner"), first = sample_owner("first"), second = sample_owner("second");
  EXPECT_EQ(runner(*store_, "nbody").value(), std::nullopt);
  const auto refused = set_runner(*store_, "nbody", std::nullopt, first);
  ASSERT_FALSE(refused);
  if (refused.error().code == PERDURE_UNSUPPORTED) return;
  EXPECT_EQ(refused.error().code, PERDURE_NOT_FOUND) << "there is nothing of that name";
  ASSERT_TRUE(store_->set_owner("nbody", std::nullopt, owner));
  ASSERT_TRUE(set_runner(*store_, "nbody", std::nullopt, first));
  EXPECT_EQ(runner(*open(), "nbody").value(), first);
  EXPECT_EQ(set_runner(*store_, "nbody", std::nullopt, second).error().code, PERDURE_EXISTS);
  ASSERT_TRUE(set_runner(*store_, "nbody", first, second));
  EXPECT_EQ(runner(*store_, "nbody").value(), second);
  EXPECT_EQ(store_->owner("nbody").value(), owner);
  EXPECT_THAT(store_->residue().value(), IsEmpty());
  ASSERT_TRUE(store_->forget("nbody", 1));
  EXPECT_EQ(runner(*store_, "nbody").value(), std::nullopt);
}

TEST_P(StoreConformance, KeepsWhenTheProgramsOfANameAreToEnd) {
  EXPECT_EQ(halt_at(*store_, "nbody").value(), 0U);
  EXPECT_EQ(set_halt(*store_, "nbody", 4711).error().code, PERDURE_NOT_FOUND);
  ASSERT_TRUE(store_->set_owner("nbody", std::nullopt, sample_owner("owner")));
  ASSERT_TRUE(set_halt(*store_, "nbody", 4711));
  EXPECT_EQ(halt_at(*open(), "nbody").value(), 4711U);
  EXPECT_THAT(store_->residue().value(), IsEmpty());
  for (int times = 0; times < 2; ++times) ASSERT_TRUE(set_halt(*store_, "nbody", 0));
  EXPECT_EQ(halt_at(*store_, "nbody").value(), 0U);
}

TEST_P(StoreConformance, WhereBranchesBeginIsKeptBesideAName) {
  const std::vector<plan::Fork> first{{7, 0, 5, 50}}, second{{8, 7, 9, 90}, {7, 0, 5, 50}};
  EXPECT_TRUE(forks(*store_, "nbody").value().empty());
  const auto set = set_forks(*store_, "nbody", first);
  if (!set && set.error().code == PERDURE_UNSUPPORTED) return;
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(forks(*open(), "nbody").value(), first);
  ASSERT_TRUE(set_forks(*store_, "nbody", second));
  EXPECT_EQ(forks(*store_, "nbody").value(), second);
  EXPECT_TRUE(forks(*store_, "other").value().empty());
  EXPECT_THAT(store_->residue().value(), IsEmpty());
  EXPECT_THAT(list(), IsEmpty());
  ASSERT_TRUE(store_->forget("nbody", 1));
  EXPECT_TRUE(forks(*store_, "nbody").value().empty());
}

TEST_P(StoreConformance, AnIncarnationLastsUntilTheStoreIsRemoved) {
  EXPECT_EQ(store_->incarnation("nbody", Missing::leave).value(), kNoIncarnation);
  const auto first = store_->incarnation("nbody", Missing::make).value();
  EXPECT_GT(first, kNoIncarnation);
  write(kOne, 1);
  ASSERT_TRUE(store_->remove(kOne));
  ASSERT_TRUE(store_->forget("nbody", 1));
  for (const auto missing : {Missing::leave, Missing::make})
    EXPECT_EQ(open()->incarnation("nbody", missing).value(), first);
  EXPECT_NE(store_->incarnation("other", Missing::make).value(), first);
  EXPECT_THAT(store_->residue().value(), IsEmpty());
  if (GetParam().objects != nullptr) {
    const auto objects = GetParam().objects(directory_.path());
    const auto all = objects->list("", Depth::all).value();
    for (const ObjectInfo& one : all) ASSERT_TRUE(objects->remove(one.key));
  } else {
    fs::remove_all(directory_ / "store");
    EXPECT_EQ(store_->incarnation("nbody", Missing::make).error().code, PERDURE_NOT_FOUND) << "it may be unmounted";
  }
  ASSERT_TRUE(store_->prepare());
  EXPECT_EQ(store_->incarnation("nbody", Missing::leave).value(), kNoIncarnation);
  EXPECT_NE(store_->incarnation("nbody", Missing::make).value(), first);
}

TEST_P(StoreConformance, WhoeverAsksForAnIncarnationAtOnceGetsTheSame) {
  std::vector<std::uint64_t> seen(8);
  std::vector<std::thread> all;
  for (auto& mine : seen) all.emplace_back([&] { mine = open()->incarnation("nbody", Missing::make).value_or(0); });
  for (auto& thread : all) thread.join();
  EXPECT_THAT(seen, testing::Each(testing::AllOf(seen[0], testing::Gt(kNoIncarnation))));
}

TEST_P(StoreConformance, OfManyWhoWantANameAtOnceOneGetsIt) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&, i] {
      const auto taken = open()->set_owner("nbody", std::nullopt, sample_owner(std::to_string(i)));
      if (taken) ++winners;
      if (!taken) {
        EXPECT_EQ(taken.error().code, PERDURE_EXISTS) << taken.error().text();
      }
    });
  for (auto& thread : all) thread.join();
  EXPECT_EQ(winners, 1);
}

TEST_P(StoreConformance, GivesBackWhatWasWritten) {
  write(kOne, 3);
  const auto listings = list();
  ASSERT_EQ(listings.size(), 1U);
  EXPECT_EQ(listings[0].id, kOne);
  EXPECT_EQ(listings[0].segment_count, 3U);
  EXPECT_TRUE(listings[0].all_present());
  EXPECT_EQ(check_version(*store_, listings[0]), "");
  EXPECT_EQ(read_version(*store_, listings[0]).value(), sample_version(kOne, 3));
}

// Blocks are written in three ways: pages at pages, from an odd offset, and all at once.
TEST_P(StoreConformance, GivesBackLargeBlocks) {
  const Manifest manifest = test_support::sample_manifest(kOne, 1, 0, 1, {0}, 2 * base::MiB, 256 * base::KiB);
  for (const std::size_t block : {256 * base::KiB, 300 * base::KiB + 8, 4 * base::MiB}) {
    ASSERT_TRUE(write_segment(*store_, manifest, block)) << block;
    EXPECT_EQ(check_version(*open(), list().at(0)), "") << block;
    ASSERT_TRUE(store_->remove(kOne));
  }
}

TEST_P(StoreConformance, ShowsItsContentToAnotherProcess) {
  write(kOne, 2);
  auto other = open();
  EXPECT_THAT(other->names().value(), ElementsAre("nbody"));
  EXPECT_EQ(check_version(*other, other->list("nbody").value().at(0)), "");
}

TEST_P(StoreConformance, ShowsNothingBeforeTheCommit) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size());
  ASSERT_TRUE(sink) << sink.error().text();
  EXPECT_THAT(list(), IsEmpty());
  ASSERT_TRUE((*sink)->write(0, file));
  EXPECT_THAT(list(), IsEmpty());
  ASSERT_TRUE((*sink)->commit());
  EXPECT_EQ(list().size(), 1U);
  sink->reset();
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, ShowsNothingOfASegmentThatWasGivenUp) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  {
    auto sink = store_->begin(manifest, file.size());
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->write(0, file));
  }
  EXPECT_THAT(list(), IsEmpty());
  ASSERT_TRUE(write_segment(*store_, manifest));
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, RefusesTheCommitOfASegmentThatIsNotWhole) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  auto sink = store_->begin(manifest, 8192);
  ASSERT_TRUE(sink);
  EXPECT_EQ((*sink)->write(8000, std::vector<std::byte>(193)).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ((*sink)->write(~0ULL, std::vector<std::byte>(1)).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_P(StoreConformance, RefusesToUseASinkAfterItsCommit) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(sink->write(0, file).error().code, PERDURE_CLOSED);
  EXPECT_EQ(sink->commit().error().code, PERDURE_CLOSED);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, TakesTheSameSegmentAgain) {
  write(kOne, 1);
  write(kOne, 1);
  ASSERT_EQ(list().size(), 1U);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

// The second writer is an engine that was taken for dead, or a spare node that took its place.
TEST_P(StoreConformance, PublishesOfTwoWritersOfOneSegmentOnlyWhatIsWhole) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto first = store_->begin(manifest, file.size()).value();
  auto second = open()->begin(manifest, file.size()).value();
  ASSERT_TRUE(first->write(0, file));
  ASSERT_TRUE(second->write(0, base::ConstByteSpan(file).first(100)));
  ASSERT_TRUE(first->commit());
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
  second.reset();
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
  EXPECT_THAT(store_->residue().value(), IsEmpty());
}

TEST_P(StoreConformance, NeverOverwritesWhatIsPublished) {
  write(kOne, 2);
  const Manifest another = test_support::sample_manifest(kOne, 2, 1, 2, {0, 1}, 5000, 4096);
  const auto refused = write_segment(*store_, another);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_EXISTS) << refused.error().text();
  EXPECT_FALSE(refused.error().retryable);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
  EXPECT_THAT(store_->residue().value(), IsEmpty());
}

TEST_P(StoreConformance, DoesNotTakeOtherContentOfTheSameShapeForTheSame) {
  const bool goes_on = resumable();
  write(kOne, 1);
  Manifest another = sample_version(kOne, 1)[0];
  another.pieces[0].chunks[1].hash = base::hash128({});
  EXPECT_EQ(write_segment(*store_, another).error().code, PERDURE_EXISTS);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
  if (!goes_on) return;
  const auto resumed = store_->resume(another, test_support::sample_file(another).size());
  EXPECT_TRUE(resumed) << resumed.error().text() << ": who goes on may not know the hashes yet";
}

TEST_P(StoreConformance, SetsNothingAsideThatWasWrittenAnewSinceItWasRead) {
  if (GetParam().objects != nullptr && !GetParam().objects(directory_.path())->properties().tags_tell_puts)
    return;  // equal bytes are the same object there
  write(kOne, 1);
  auto seen = list().at(0).segments[0];
  seen.identity = store_->open_anew(seen).value()->identity();
  ASSERT_NE(seen.identity, "");
  const base::Error why{PERDURE_CORRUPT, "here", "damaged", "", false};
  ASSERT_TRUE(store_->quarantine(list().at(0).segments[0], kOne, why));
  write(kOne, 1);
  EXPECT_EQ(store_->quarantine(seen, kOne, why).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, TellsWhatItSetAsideOfAName) {
  EXPECT_THAT(store_->set_aside("nbody").value(), IsEmpty());
  write(kOne, 2);
  write({"nbody.1", 1, {1000, 7}}, 1);
  const base::Error why{PERDURE_CORRUPT, "here", "damaged", "", false};
  ASSERT_TRUE(store_->quarantine(list().at(0).segments[1], kOne, why));
  ASSERT_TRUE(store_->quarantine(list("nbody.1").at(0).segments[0], {"nbody.1", 1, {1000, 7}}, why));
  const auto aside = store_->set_aside("nbody").value();
  ASSERT_EQ(aside.size(), 1U);
  EXPECT_EQ(aside[0].id, kOne);
  EXPECT_TRUE(aside[0].path.starts_with(store_->properties().location + "/.quarantine")) << aside[0].path;
  EXPECT_TRUE(store_->properties().directory.empty() || fs::exists(aside[0].path)) << aside[0].path;
  EXPECT_THAT(store_->set_aside("other").value(), IsEmpty());
}

// A node that was away comes back with forgotten versions: they are not published any more.
TEST_P(StoreConformance, ForgetsANameUpToATimeForEverybody) {
  const VersionId younger{"nbody", 1, {3000, 7}};
  const base::Error why{PERDURE_CORRUPT, "here", "damaged", "", false};
  EXPECT_EQ(store_->forgotten("nbody").value(), 0U);
  write(kOne, 2);
  write({"other", 1, {1000, 7}}, 1);
  ASSERT_TRUE(store_->quarantine(list().at(0).segments[1], kOne, why));
  const Manifest late = sample_version(kOne, 2)[1];
  const auto file = test_support::sample_file(late);
  ASSERT_TRUE(store_->forget("nbody", 2000));
  EXPECT_EQ(store_->forgotten("nbody").value(), 2000U);
  EXPECT_THAT(list(), IsEmpty());
  EXPECT_THAT(store_->set_aside("nbody").value(), IsEmpty());
  EXPECT_EQ(store_->residue().value().size(), 1U) << "what was set aside stays where it is";
  EXPECT_EQ(store_->begin(late, file.size()).error().code, PERDURE_CLOSED);
  EXPECT_EQ(list("other").size(), 1U);
  write(younger, 1);
  ASSERT_TRUE(store_->forget("nbody", 1500)) << "an earlier time changes nothing";
  ASSERT_EQ(list().size(), 1U);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
  ASSERT_TRUE(store_->clean(always));
  EXPECT_EQ(store_->forgotten("nbody").value(), 2000U);
  EXPECT_EQ(list().size(), 1U);
  ASSERT_TRUE(store_->forget("nbody", 3000));
  EXPECT_THAT(list(), IsEmpty());
}

TEST_P(StoreConformance, TakesTheSameBytesAgain) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, std::vector<std::byte>(file.size(), std::byte{1})));
  ASSERT_TRUE(sink->write(0, file));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, GoesOnWithASegmentThatWasKept) {
  if (!resumable()) return;
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  const base::ConstByteSpan all(file);
  {
    auto sink = store_->begin(manifest, file.size()).value();
    ASSERT_TRUE(sink->write(0, all.first(5000)));
    sink->keep(true);
  }
  EXPECT_THAT(list(), IsEmpty());
  auto sink = open()->resume(manifest, file.size());
  ASSERT_TRUE(sink) << sink.error().text();
  std::vector<std::byte> read(5000);
  ASSERT_TRUE((*sink)->read(0, read));
  EXPECT_TRUE(std::equal(read.begin(), read.end(), file.begin()));
  EXPECT_EQ((*sink)->read(file.size(), base::ByteSpan(read).first(1)).error().code, PERDURE_INVALID_ARGUMENT);
  ASSERT_TRUE((*sink)->write(5000, all.subspan(5000)));
  ASSERT_TRUE((*sink)->commit());
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, ShowsWhatIsNotPublishedYetToWhoAsksForIt) {
  if (!resumable()) return;
  const Manifest manifest = sample_version(kOne, 2)[1];
  EXPECT_THAT(store_->unpublished(kOne, 1, 2).value(), IsEmpty());
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, base::ConstByteSpan(file).first(5000)));
  const auto begun = open()->unpublished(kOne, 1, 2).value();
  ASSERT_EQ(begun.size(), 1U);
  std::vector<std::byte> read(5000);
  ASSERT_TRUE(begun[0]->read(0, read));
  EXPECT_TRUE(std::equal(read.begin(), read.end(), file.begin()));
  EXPECT_THAT(store_->unpublished(kOne, 0, 2).value(), IsEmpty());
  EXPECT_THAT(store_->unpublished({kOne.name, kOne.version + 1, kOne.attempt}, 1, 2).value(), IsEmpty());
  ASSERT_TRUE(sink->write(0, file));
  ASSERT_TRUE(sink->commit());
  EXPECT_THAT(store_->unpublished(kOne, 1, 2).value(), IsEmpty());
  EXPECT_TRUE(begun[0]->read(0, read)) << "who has it open goes on reading";
}

TEST_P(StoreConformance, GoesOnWithWhatWasPublishedAndNeverHidesIt) {
  if (!resumable()) return;
  write(kOne, 2);
  const Manifest manifest = sample_version(kOne, 2)[1];
  const auto file = test_support::sample_file(manifest);
  for (const bool commits : {false, true}) {
    auto sink = store_->resume(manifest, file.size());
    ASSERT_TRUE(sink) << sink.error().text();
    std::vector<std::byte> read(file.size());
    ASSERT_TRUE((*sink)->read(0, read));
    EXPECT_EQ(read, file);
    EXPECT_EQ(check_version(*store_, list().at(0)), "");
    (*sink)->keep(!commits);
    if (!commits) continue;
    ASSERT_TRUE((*sink)->commit());
  }
  ASSERT_EQ(list().size(), 1U);
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, ResumesOnlyWhatIsThereAndFits) {
  if (!resumable()) return;
  const Manifest manifest = sample_version(kOne, 1)[0];
  EXPECT_EQ(store_->resume(manifest, 20000).error().code, PERDURE_NOT_FOUND);
  {
    auto sink = store_->begin(manifest, 20000).value();
    ASSERT_TRUE(sink->write(0, std::vector<std::byte>(20000)));
    sink->keep(true);
  }
  EXPECT_EQ(store_->resume(manifest, 10000).error().code, PERDURE_CORRUPT);
  {
    auto sink = store_->resume(manifest, 20000).value();
    sink->keep(true);
    sink->keep(false);
  }
  EXPECT_EQ(store_->resume(manifest, 20000).error().code, PERDURE_NOT_FOUND);
}

TEST_P(StoreConformance, DiscardsWhatWasKept) {
  if (!resumable()) return;
  const Manifest manifest = sample_version(kOne, 1)[0];
  store_->begin(manifest, 20000).value()->keep(true);
  ASSERT_TRUE(store_->discard(kOne, 0, 1));
  EXPECT_EQ(store_->resume(manifest, 20000).error().code, PERDURE_NOT_FOUND);
  EXPECT_TRUE(store_->discard(kOne, 0, 1));
  write(kOne, 1);
  EXPECT_TRUE(store_->discard(kOne, 0, 1));
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, NeverMixesTwoAttempts) {
  const VersionId first{"nbody", 1, {1000, 7}};
  const VersionId second{"nbody", 1, {2000, 3}};
  ASSERT_TRUE(write_segment(*store_, sample_version(first, 2)[0]));
  ASSERT_TRUE(write_segment(*store_, sample_version(second, 2)[1]));
  const auto listings = list();
  ASSERT_EQ(listings.size(), 2U);
  for (const VersionListing& listing : listings) {
    EXPECT_FALSE(listing.all_present());
    auto version = read_version(*store_, listing);
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code, PERDURE_NOT_FOUND);
  }
}

TEST_P(StoreConformance, NeverMixesTwoWaysToCutAnAttempt) {
  ASSERT_TRUE(write_segment(*store_, sample_version(kOne, 1)[0]));
  ASSERT_TRUE(write_segment(*store_, sample_version(kOne, 2)[0]));
  const auto listings = list();
  ASSERT_EQ(listings.size(), 2U);
  EXPECT_TRUE(listings[0].all_present());
  EXPECT_FALSE(listings[1].all_present());
}

TEST_P(StoreConformance, ListsNamesVersionsAndAttemptsInOrder) {
  for (const VersionId& id : std::vector<VersionId>{{"nbody", 10, {1, 1}},
                                                    {"nbody", 9, {5, 1}},
                                                    {"heat.2d", 0, {1, 1}},
                                                    {"nbody", 9, {4, 9}},
                                                    {"nbody", 100, {1, 1}},
                                                    {"Zeta", 9223372036854775807, {1, 1}}})
    write(id, 1);
  EXPECT_THAT(store_->names().value(), ElementsAre("Zeta", "heat.2d", "nbody"));
  std::vector<std::string> order;
  for (const VersionListing& listing : list())
    order.push_back(std::to_string(listing.id.version) + ":" + std::to_string(listing.id.attempt.created_ns));
  EXPECT_THAT(order, ElementsAre("9:4", "9:5", "10:1", "100:1"));
  EXPECT_EQ(list("Zeta").at(0).id.version, 9223372036854775807U);
}

TEST_P(StoreConformance, ListsSegmentsByIndex) {
  const auto manifests = sample_version(kOne, 12);
  for (std::size_t i = 12; i-- > 0;) ASSERT_TRUE(write_segment(*store_, manifests[i]));
  const auto listing = list().at(0);
  for (std::uint32_t i = 0; i < 12; ++i) EXPECT_EQ(listing.segments[i].index, i);
  EXPECT_EQ(check_version(*store_, listing), "");
}

TEST_P(StoreConformance, HidesARemovedVersionAtOnceAndMayRemoveItAgain) {
  const VersionId other{"nbody", 1, {2000, 1}};
  const VersionId next{"nbody", 2, {3000, 1}};
  write(kOne, 2);
  write(other, 2);
  write(next, 1);
  ASSERT_TRUE(store_->remove(kOne));
  ASSERT_EQ(list().size(), 2U);
  EXPECT_EQ(list()[0].id, other);
  EXPECT_EQ(check_version(*store_, list()[0]), "");
  EXPECT_TRUE(store_->remove(kOne));
  ASSERT_TRUE(store_->remove(other));
  ASSERT_TRUE(store_->remove(next));
  EXPECT_THAT(list(), IsEmpty());
  EXPECT_TRUE(store_->remove({"never-written", 5, {1, 1}}));
}

TEST_P(StoreConformance, TakesARemovedVersionAgain) {
  write(kOne, 2);
  ASSERT_TRUE(store_->remove(kOne));
  write(kOne, 2);
  ASSERT_TRUE(store_->clean(never));
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, SaysThatARemovedSegmentIsNotThere) {
  write(kOne, 1);
  const auto listing = list().at(0);
  ASSERT_TRUE(store_->remove(kOne));
  auto source = store_->open(listing.segments[0]);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, PERDURE_NOT_FOUND);
}

TEST_P(StoreConformance, TakesDifferentSegmentsFromManyWritersAtOnce) {
  std::vector<VersionId> ids;
  for (std::uint64_t version = 0; version < 4; ++version) ids.push_back({"nbody", version, {version + 1, 1}});
  std::vector<std::thread> writers;
  for (const VersionId& id : ids)
    for (std::uint32_t i = 0; i < 2; ++i)
      writers.emplace_back([&, i] { EXPECT_TRUE(write_segment(*store_, sample_version(id, 2)[i])); });
  for (std::thread& writer : writers) writer.join();
  const auto listings = list();
  ASSERT_EQ(listings.size(), 4U);
  for (const VersionListing& listing : listings) EXPECT_EQ(check_version(*store_, listing), "");
}

TEST_P(StoreConformance, LetsWritersAndRemoversOfOneVersionPassEachOther) {
  const VersionId kept{"nbody", 1, {5000, 5}};
  std::thread remover([&] {
    for (std::uint64_t round = 0; round < 20; ++round) {
      const VersionId id{"nbody", 1, {round + 1, 1}};
      auto written = write_segment(*store_, sample_version(id, 1)[0]);
      while (!written && written.error().retryable) written = write_segment(*store_, sample_version(id, 1)[0]);
      EXPECT_TRUE(written) << written.error().text();
      const auto removed = store_->remove(id);
      EXPECT_TRUE(removed) << removed.error().text();
    }
  });
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    auto written = write_segment(*store_, sample_version(kept, 1)[0]);
    if (!written) {
      EXPECT_TRUE(written.error().retryable) << written.error().text();
      continue;
    }
    auto listings = store_->list("nbody").value();
    const auto mine = std::find_if(listings.begin(), listings.end(), [&](const auto& l) { return l.id == kept; });
    EXPECT_NE(mine, listings.end());
    if (mine != listings.end()) {
      EXPECT_EQ(check_version(*store_, *mine), "");
    }
    const auto removed = store_->remove(kept);
    EXPECT_TRUE(removed) << removed.error().text();
  }
  remover.join();
}

TEST_P(StoreConformance, TakesOneSegmentFromManyThreadsAtOnce) {
  const Manifest manifest = test_support::sample_manifest(kOne, 1, 0, 1, {0}, 20 * base::MiB, base::MiB);
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::size_t share = file.size() / 4 + 1;
      const std::size_t begin = t * share;
      EXPECT_TRUE(sink->write(begin, base::ConstByteSpan(file).subspan(begin, std::min(share, file.size() - begin))));
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, SetsADamagedSegmentAsideAndTakesItAgain) {
  write(kOne, 2);
  const auto listing = list().at(0);
  const base::Error why{PERDURE_CORRUPT, "here", "chunk 0 of rank 1 at offset 4096 damaged", "", false};
  ASSERT_TRUE(store_->quarantine(listing.segments[1], kOne, why));
  ASSERT_EQ(list().size(), 1U);
  EXPECT_FALSE(list()[0].all_present());
  EXPECT_EQ(read_version(*store_, list()[0]).error().code, PERDURE_NOT_FOUND);
  EXPECT_TRUE(store_->quarantine(listing.segments[1], kOne, why));
  EXPECT_THAT(store_->names().value(), ElementsAre("nbody"));
  ASSERT_TRUE(write_segment(*store_, sample_version(kOne, 2)[1]));
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
  EXPECT_TRUE(store_->quarantine(list()[0].segments[1], kOne, why));
  EXPECT_EQ(store_->quarantine({5, 6, {9, 9}, "nbody/1/x"}, kOne, why).error().code, PERDURE_NOT_FOUND);
}

TEST_P(StoreConformance, ShowsWhatLiesThereBesidesItsSegments) {
  write(kOne, 2);
  EXPECT_THAT(store_->residue().value(), IsEmpty());
  const base::Error why{PERDURE_CORRUPT, "here", "chunk 0 of rank 1 at offset 4096 damaged", "", false};
  ASSERT_TRUE(store_->quarantine(list().at(0).segments[1], kOne, why));
  const auto residue = store_->residue().value();
  ASSERT_EQ(residue.size(), 1U);
  EXPECT_EQ(residue[0].kind, Residue::Kind::quarantined);
  EXPECT_GT(residue[0].bytes, 0U);
  EXPECT_THAT(residue[0].report_text, testing::HasSubstr("chunk 0 of rank 1"));
  const auto quarantined = store_->quarantined().value();
  ASSERT_EQ(quarantined.size(), 1U);
  EXPECT_EQ(quarantined[0].path, residue[0].path);
  EXPECT_EQ(quarantined[0].report_text, residue[0].report_text);
}

TEST_P(StoreConformance, CleansOnlyWhatIsAbandoned) {
  const VersionId dead{"nbody", 2, {2000, 1}};
  write(kOne, 1);
  const Manifest manifest = sample_version(dead, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  std::vector<VersionId> asked;
  ASSERT_TRUE(store_->clean([&](const VersionId& id, std::uint32_t index) {
    asked.push_back(id);
    EXPECT_EQ(index, 0U);
    return false;
  }));
  EXPECT_THAT(asked, ElementsAre(dead));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(list().size(), 2U);
  ASSERT_TRUE(store_->clean(always));
  EXPECT_EQ(list().size(), 2U);
}

TEST_P(StoreConformance, CleansNoLivingWritersSegmentAwayOrTellsItToTryAgain) {
  const Manifest manifest = sample_version(kOne, 1)[0];
  const auto file = test_support::sample_file(manifest);
  auto sink = store_->begin(manifest, file.size()).value();
  ASSERT_TRUE(sink->write(0, file));
  ASSERT_TRUE(store_->clean(always));
  const auto committed = sink->commit();
  EXPECT_TRUE(committed || (committed.error().retryable && list().empty())) << committed.error().text();
  EXPECT_TRUE(write_segment(*store_, manifest));
  EXPECT_EQ(check_version(*store_, list().at(0)), "");
}

TEST_P(StoreConformance, RefusesNamesThatAreNone) {
  for (const std::string& name :
       {std::string("../x"), std::string(".quarantine"), std::string(), std::string(10000, 'x')}) {
    Manifest manifest = sample_version(kOne, 1)[0];
    manifest.id.name = name;
    EXPECT_EQ(store_->begin(manifest, 8192).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->list(name).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->owner(name).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->set_owner(name, std::nullopt, {}).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->set_aside(name).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->forgotten(name).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->forget(name, 1).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->remove({name, 1, {1, 1}}).error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(store_->quarantine({0, 1, {1, 1}, "x"}, {name, 1, {1, 1}}, base::Error{}).error().code,
              PERDURE_INVALID_ARGUMENT);
  }
}

INSTANTIATE_TEST_SUITE_P(Members, StoreConformance, testing::ValuesIn(kMembers),
                         [](const auto& member) { return std::string(member.param.name); });
INSTANTIATE_TEST_SUITE_P(
    Elsewhere, StoreConformance,
    testing::ValuesIn(kElsewhere, kElsewhere + test_support::unless_sanitized(std::size(kElsewhere), std::size_t{1})),
    [](const auto& member) { return std::string(member.param.name); });

TEST(MakeStore, RefusesWhatItDoesNotKnowAndNamesWhatItKnows) {
  auto store = make_store("gopher://bucket/prefix");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(store.error().cause, "unknown kind of store 'gopher'");
  EXPECT_NE(store.error().remedy.find("file://PATH"), std::string::npos);
  EXPECT_EQ(make_store("").error().code, PERDURE_INVALID_ARGUMENT);
}

TEST(MakeStore, MakesAPathAbsolute) {
  EXPECT_EQ(make_store("/tmp/a//b/../c/").value()->properties().location, "/tmp/a/c");
  EXPECT_EQ(make_store("file:///tmp/a").value()->properties().location, "/tmp/a");
  EXPECT_EQ(make_store("perdure-store").value()->properties().location.front(), '/');
}

}  // namespace
}  // namespace perdure::store
