// Replays every state that a power failure may leave on the disk, at every step of writing, replacing, removing and
// setting aside.
#include <gtest/gtest.h>

#include <filesystem>

#include "os/file.hpp"
#include "segment/borrowed.hpp"
#include "support/crash_states.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::store {
namespace {

using segment::Manifest;
using segment::VersionId;
using test_support::CrashState;
using test_support::OperationLog;
using test_support::sample_version;
using test_support::TemporaryDirectory;
using test_support::write_segment;

const VersionId kOld{"nbody", 1, {1000, 7}};
const VersionId kNew{"nbody", 1, {2000, 3}};
const VersionId kNext{"nbody", 2, {3000, 5}};

std::unique_ptr<Store> open(const std::string& path) { return make_store(path).value(); }

void write(Store& store, const VersionId& id, std::uint32_t count) {
  for (const Manifest& manifest : sample_version(id, count)) {
    auto written = write_segment(store, manifest, 4096);
    ASSERT_TRUE(written) << written.error().text();
  }
}

/// The promise about an attempt from this mark on. "present": it is complete; "whole": complete or not listed at all;
/// "absent": never offered; "maybe": anything but a partial one offered as complete.
std::string promise(const char* kind, const VersionId& id) { return std::string(kind) + " " + id.attempt.hex(); }

/// The last promise about an attempt counts.
std::string promised(const CrashState& state, const VersionId& id) {
  std::string last;
  for (const std::string& text : state.promises)
    if (text.ends_with(id.attempt.hex())) last = text.substr(0, text.find(' '));
  return last;
}

/// Gives the attempts that the store offers as complete; each must have exactly the written content.
std::set<VersionId> complete_versions(Store& store, std::string& defect) {
  std::set<VersionId> complete;
  auto listings = store.list("nbody");
  if (!listings) return complete;
  for (const VersionListing& listing : *listings) {
    if (!read_version(store, listing)) continue;
    complete.insert(listing.id);
    if (std::string what = test_support::check_version(store, listing); !what.empty()) defect = what;
  }
  return complete;
}

/// Empty when the state keeps its promises, otherwise the broken one.
std::string judge(const CrashState& state, Store& store) {
  std::string defect;
  const std::set<VersionId> complete = complete_versions(store, defect);
  if (!defect.empty()) return "a partial version is offered: " + defect;
  for (const VersionListing& listing : store.list("nbody").value_or(std::vector<VersionListing>()))
    if (promised(state, listing.id) == "whole" && !listing.all_present()) return "half removed: " + listing.id.text();
  for (const VersionId& id : {kOld, kNew, kNext}) {
    const std::string expected = promised(state, id);
    if (expected == "present" && !complete.contains(id)) return "lost: " + id.text() + " of " + id.attempt.hex();
    if (expected == "absent" && complete.contains(id)) return "came back: " + id.text() + " of " + id.attempt.hex();
  }
  return {};
}

std::vector<std::string> files_below(const std::string& root) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = std::filesystem::relative(entry.path(), root).string();
    if (path != "nbody" && !path.starts_with(".quarantine")) files.push_back(path);
  }
  return files;
}

/// After the crash, cleaning and doing everything again must work, and removal must leave nothing behind.
void recover(Store& store, const std::string& root) {
  ASSERT_TRUE(store.prepare());
  ASSERT_TRUE(store.clean([](const VersionId&, std::uint32_t) { return true; }));
  for (const auto& path : files_below(root)) {
    ASSERT_EQ(path.find(".tmp-"), std::string::npos) << path;
    ASSERT_EQ(path.find(".retired-"), std::string::npos) << path;
  }
  ASSERT_NO_FATAL_FAILURE(write(store, kOld, 2));
  ASSERT_NO_FATAL_FAILURE(write(store, kNew, 2));
  ASSERT_NO_FATAL_FAILURE(write(store, kNext, 1));
  std::string defect;
  ASSERT_EQ(complete_versions(store, defect), (std::set<VersionId>{kOld, kNew, kNext}));
  ASSERT_EQ(defect, "");
  for (const VersionId& id : {kOld, kNew, kNext}) ASSERT_TRUE(store.remove(id));
  ASSERT_EQ(files_below(root), std::vector<std::string>());
}

class CrashConsistency : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->prepare()); }

  /// Replays all crash states of `log`, each followed by a recovery.
  void expect_consistent(const OperationLog& log) {
    const std::size_t states = test_support::for_each_crash_state(log, [&](const CrashState& state) {
      if (HasFatalFailure()) return;
      TemporaryDirectory disk(TemporaryDirectory::Place::memory);
      state.image.write_to(disk.path());
      auto store = open(disk.path());
      EXPECT_EQ(judge(state, *store), "") << state.description;
      recover(*store, disk.path());
      EXPECT_FALSE(HasFatalFailure()) << state.description;
    });
    EXPECT_GT(states, 3U);
    RecordProperty("states", static_cast<int>(states));
  }

  TemporaryDirectory directory_;
  const std::string root_ = directory_ / "store";
  std::unique_ptr<Store> store_ = open(root_);
};

/// Records the calls of `work` while it lives.
template <class Work>
void recorded(const std::string& root, std::unique_ptr<OperationLog>& log, const Work& work) {
  log = std::make_unique<OperationLog>(root);
  work(*log);
  os::install_hooks(nullptr);
}

TEST_F(CrashConsistency, OfWritingAVersion) {
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    write(*store_, kOld, 2);
    marks.mark(promise("present", kOld));
    write(*store_, kNext, 1);
    marks.mark(promise("present", kNext));
  });
  expect_consistent(*log);
}

TEST_F(CrashConsistency, OfTwoWritersOfOneVersionInStep) {
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    std::vector<std::unique_ptr<SegmentSink>> sinks;
    const auto manifests = sample_version(kOld, 2);
    const std::vector files = {test_support::sample_file(manifests[0]), test_support::sample_file(manifests[1])};
    for (std::size_t i : {0U, 1U}) sinks.push_back(store_->begin(manifests[i], files[i].size()).value());
    for (std::size_t done = 0; done < files[0].size(); done += 8192)
      for (std::size_t i : {0U, 1U})
        ASSERT_TRUE(sinks[i]->write(
            done, base::ConstByteSpan(files[i]).subspan(done, std::min<std::size_t>(8192, files[i].size() - done))));
    for (auto& sink : sinks) ASSERT_TRUE(sink->commit());
    marks.mark(promise("present", kOld));
  });
  expect_consistent(*log);
}

TEST_F(CrashConsistency, OfWritingAVersionOverAnOlderAttempt) {
  write(*store_, kOld, 2);
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    marks.mark(promise("present", kOld));
    write(*store_, kNew, 2);
    marks.mark(promise("present", kNew));
    marks.mark(promise("whole", kOld));
    ASSERT_TRUE(store_->remove(kOld));
    marks.mark(promise("absent", kOld));
  });
  expect_consistent(*log);
}

TEST_F(CrashConsistency, OfWritingTheSameSegmentsAgain) {
  write(*store_, kOld, 2);
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    marks.mark(promise("present", kOld));
    write(*store_, kOld, 2);
  });
  expect_consistent(*log);
}

TEST_F(CrashConsistency, OfRemovingTheLastAttempt) {
  write(*store_, kOld, 2);
  write(*store_, kNext, 1);
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    marks.mark(promise("present", kNext));
    ASSERT_TRUE(store_->remove(kOld));
    marks.mark(promise("absent", kOld));
    ASSERT_TRUE(store_->remove(kOld));
    marks.mark(promise("maybe", kOld));
    write(*store_, kOld, 2);
    marks.mark(promise("present", kOld));
  });
  expect_consistent(*log);
}

// An engine that died between the publication and its catalog resumes a segment that is complete already.
TEST_F(CrashConsistency, OfResumingWhatIsPublished) {
  write(*store_, kOld, 2);
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    marks.mark(promise("present", kOld));
    for (const Manifest& manifest : sample_version(kOld, 2)) {
      const auto file = test_support::sample_file(manifest);
      auto sink = store_->resume(manifest, file.size()).value();
      ASSERT_TRUE(sink->write(0, file));
      ASSERT_TRUE(sink->commit());
    }
  });
  expect_consistent(*log);
}

TEST_F(CrashConsistency, OfGivingUpASegment) {
  write(*store_, kNext, 1);
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    marks.mark(promise("present", kNext));
    auto sink = store_->begin(sample_version(kOld, 1)[0], 8192).value();
    ASSERT_TRUE(sink->write(0, std::vector<std::byte>(8192)));
    sink.reset();
    ASSERT_TRUE(store_->clean([](const VersionId&, std::uint32_t) { return true; }));
  });
  expect_consistent(*log);
}

TEST_F(CrashConsistency, OfSettingASegmentAside) {
  write(*store_, kOld, 2);
  write(*store_, kNext, 1);
  const auto segment = store_->list("nbody").value().at(0).segments[1];
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    marks.mark(promise("present", kNext));
    ASSERT_TRUE(store_->quarantine(segment, kOld, base::Error{PERDURE_CORRUPT, "x", "damaged", "", false}));
    marks.mark(promise("absent", kOld));
  });
  expect_consistent(*log);
  test_support::for_each_crash_state(*log, [&](const CrashState& state) {
    std::size_t copies = 0;
    for (const auto& [path, content] : state.image.files)
      if (path.find("0001-of-0002") != std::string::npos && !path.ends_with(".json")) ++copies;
    EXPECT_GE(copies, 1U) << "a segment that was set aside is lost " << state.description;
  });
}

// A published version has the segments that it borrowed, whenever the power fails, and keeps them when the lender goes.
TEST_F(CrashConsistency, OfBorrowingASegment) {
  write(*store_, kOld, 1);
  const BorrowedSegment lent{kOld.version, store_->list("nbody").value().at(0).segments[0]};
  Manifest borrower = sample_version(kNext, 1)[0];
  segment::set_borrowed(borrower.pieces.front().regions.front(), {lent.described()});
  std::unique_ptr<OperationLog> log;
  recorded(root_, log, [&](OperationLog& marks) {
    ASSERT_TRUE(borrow(*store_, kNext, lent));
    const auto written = write_segment(*store_, borrower, 4096);
    ASSERT_TRUE(written) << written.error().text();
    marks.mark(promise("present", kNext));
    ASSERT_TRUE(store_->remove(kOld));
  });
  std::size_t published = 0;
  test_support::for_each_crash_state(*log, [&](const CrashState& state) {
    TemporaryDirectory disk(TemporaryDirectory::Place::memory);
    state.image.write_to(disk.path());
    const auto store = open(disk.path());
    bool is_there = false;
    for (const VersionListing& listing : store->list("nbody").value_or(std::vector<VersionListing>())) {
      if (listing.id != kNext) continue;
      const auto read = read_version(*store, listing);
      EXPECT_TRUE(read) << read.error().text() << ", " << state.description;
      is_there = true;
    }
    EXPECT_TRUE(is_there || promised(state, kNext) != "present") << state.description;
    published += is_there ? 1 : 0;
  });
  EXPECT_GT(published, 3U);
}

/// Writes a segment as other libraries do. The replay must see the defects of that, or it proves nothing above.
void write_carelessly(const std::string& root, bool rename, bool sync_data, bool sync_directory) {
  const Manifest manifest = sample_version(kOld, 1)[0];
  const auto bytes = test_support::sample_file(manifest);
  const std::string directory = root + "/nbody/1";
  ASSERT_TRUE(os::make_directories(directory));
  const std::string path = directory + "/" + segment::file_name(0, 1, kOld.attempt);
  auto file = os::File::open(rename ? path + "~" : path, os::Open::create_new).value();
  ASSERT_TRUE(file.write(0, bytes));
  ASSERT_TRUE(!sync_data || file.sync_data());
  ASSERT_TRUE(!rename || os::rename_path(path + "~", path));
  ASSERT_TRUE(!sync_directory || os::sync_directory(directory));
}

class CarelessWriter : public CrashConsistency {
 protected:
  /// Counts the states that break a promise when the writer leaves out some steps.
  std::size_t broken(bool rename, bool sync_data, bool sync_directory) {
    std::unique_ptr<OperationLog> log;
    recorded(root_, log, [&](OperationLog& marks) {
      write_carelessly(root_, rename, sync_data, sync_directory);
      marks.mark(promise("present", kOld));
    });
    std::size_t count = 0;
    test_support::for_each_crash_state(*log, [&](const CrashState& state) {
      TemporaryDirectory disk(TemporaryDirectory::Place::memory);
      state.image.write_to(disk.path());
      if (!judge(state, *open(disk.path())).empty()) ++count;
    });
    return count;
  }
};

TEST_F(CarelessWriter, IsCaughtWithoutAnything) { EXPECT_GT(broken(false, false, false), 0U); }
TEST_F(CarelessWriter, IsCaughtWithoutSyncOfTheData) { EXPECT_GT(broken(true, false, true), 0U); }
TEST_F(CarelessWriter, IsCaughtWithoutSyncOfTheDirectory) { EXPECT_GT(broken(true, true, false), 0U); }
TEST_F(CarelessWriter, IsNoneWithAllSteps) { EXPECT_EQ(broken(true, true, true), 0U); }

}  // namespace
}  // namespace perdure::store
