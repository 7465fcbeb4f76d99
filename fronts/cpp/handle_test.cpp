// These tests use the C++ veneer over the real library.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <span>

#include "perdure/perdure.hpp"

namespace {

class Front : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/perdure-cpp-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  perdure::Handle open() { return perdure::open(settings()).value(); }
  std::string settings() const {
    return "store.path=" + directory_ + "/store;node.path=" + directory_ + "/node;tier.file.path=" + directory_ +
           "/file;tier.memory.max_bytes=64MiB";
  }
  std::string directory_;
};

TEST_F(Front, RestoresScalarsArraysVectorsAndSpans) {
  auto handle = open();
  double scalar = 1.5;
  int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::array<float, 3> fixed = {7, 8, 9};
  std::vector<long> vector(100);
  std::iota(vector.begin(), vector.end(), 0L);
  std::vector<char> text(10, 'x');
  handle.protect(1, scalar).value();
  handle.protect(2, matrix).value();
  handle.protect(3, fixed).value();
  handle.protect(4, vector).value();
  handle.protect(5, std::span<char>(text).first(4)).value();
  handle.checkpoint("all", 3).value();
  scalar = 0;
  matrix[1][2] = 0;
  fixed.fill(0);
  vector.assign(100, 0L);
  text.assign(10, 'y');
  handle.protect(4, vector).value();
  EXPECT_EQ(handle.restore("all").value(), 3);
  EXPECT_EQ(scalar, 1.5);
  EXPECT_EQ(matrix[1][2], 6);
  EXPECT_EQ(fixed, (std::array<float, 3>{7, 8, 9}));
  EXPECT_EQ(vector[99], 99);
  EXPECT_EQ(std::string(text.begin(), text.end()), "xxxxyyyyyy");
  EXPECT_EQ(handle.stored_size("all", 3, 2).value().element_bytes, sizeof(int));
  EXPECT_EQ(handle.stored_size("all", 3, 2).value().count, 6U);
}

// A class as applications have it: the state is private, so a member function protects it.
class Domain {
 public:
  perdure::Status protect(perdure::Handle& handle, int first_id) {
    return handle.protect_all(first_id, energy_, pressure_, box_, time_, std::span<int>(flags_));
  }
  void fill(double value) {
    energy_.assign(energy_.size(), value);
    pressure_.assign(pressure_.size(), static_cast<float>(-value));
    box_ = {value, value, value};
    time_ = value;
    flags_.assign(flags_.size(), static_cast<int>(value));
  }
  void swap_energies(std::vector<double>& other) { energy_.swap(other); }
  friend bool operator==(const Domain&, const Domain&) = default;

 private:
  std::vector<double> energy_ = std::vector<double>(50);
  std::vector<float> pressure_ = std::vector<float>(20);
  std::array<double, 3> box_{};
  double time_ = 0;
  std::vector<int> flags_ = std::vector<int>(8);
};

TEST_F(Front, ProtectsTheMembersOfAClassInOneCall) {
  auto handle = open();
  Domain domain, expected;
  domain.protect(handle, 10).value();
  domain.fill(3);
  expected.fill(3);
  handle.checkpoint("domain", 1).value();
  EXPECT_EQ(handle.stored_size("domain", 1, 11).value().element_bytes, sizeof(float));
  EXPECT_EQ(handle.stored_size("domain", 1, 14).value().count, 8U);
  domain.fill(9);
  handle.restore("domain").value();
  EXPECT_EQ(domain, expected);
}

TEST_F(Front, ProtectsAgainWhatMovedOrWasSwapped) {
  auto handle = open();
  std::vector<double> now(100, 1.0), next(100, 2.0);
  int step = 4;
  handle.protect_all(0, now, next, step).value();
  handle.checkpoint("swapped", 4).value();
  now.swap(next);
  handle.protect_all(0, now, next, step).value();
  handle.restore("swapped").value();
  EXPECT_EQ(now, std::vector<double>(100, 1.0));
  EXPECT_EQ(next, std::vector<double>(100, 2.0));
  now.clear();
  now.shrink_to_fit();
  handle.protect_all(0, now, next, step).value();
  handle.restore_resizing("swapped").value();
  EXPECT_EQ(now, std::vector<double>(100, 1.0)) << "vectors are resized as those that protect() registered";
}

TEST_F(Front, ProtectsAllOrNone) {
  auto handle = open();
  std::vector<int> a(4), b(4), before(4);
  handle.protect(21, before).value();
  const auto done = handle.protect_all(20, a, b, std::span<int>(a).first(2));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(done.error().text.find("object 3 of 3 (id 22): region 22: "), 0U) << done.error().text;
  EXPECT_NE(done.error().text.find("overlaps region 20"), std::string::npos) << done.error().text;
  for (int id : {20, 21, 22}) EXPECT_EQ(handle.unprotect(id).error().code, PERDURE_NOT_FOUND) << id;
  EXPECT_TRUE(handle.protect_all(20, a, b));
}

TEST_F(Front, RefusesIdsThatAreNone) {
  auto handle = open();
  int a = 0, b = 0;
  EXPECT_EQ(handle.protect_all(std::numeric_limits<int>::max(), a, b).error().code, PERDURE_INVALID_ARGUMENT);
  const auto negative = handle.protect_all(-1, a, b);
  ASSERT_FALSE(negative);
  EXPECT_NE(negative.error().text.find("object 1 of 2 (id -1)"), std::string::npos) << negative.error().text;
  EXPECT_EQ(handle.unprotect(0).error().code, PERDURE_NOT_FOUND);
  handle.close().value();
  EXPECT_EQ(handle.protect_all(0, a, b).error().code, PERDURE_CLOSED);
}

TEST_F(Front, SaysWhatIsMissingInBothStyles) {
  auto handle = open();
  EXPECT_FALSE(handle.latest_version("nothing").value().has_value());
  const auto missing = handle.restore("nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(missing.value_or(-7), -7);
  try {
    handle.restore("no/such/name").value();
    FAIL() << "a name with slashes was taken";
  } catch (const perdure::Failure& failure) {
    EXPECT_EQ(failure.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_STRNE(failure.what(), "");
  }
}

TEST_F(Front, AFailedOpenSaysWhy) {
  const auto opened = perdure::open("no.such.option=1");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(opened.error().text.find("no.such.option"), std::string::npos);
}

TEST_F(Front, ACloseThatLeavesSomethingBehindSaysWhatWhyAndWhatToDo) {
  auto handle = perdure::open(settings() + ";engine.drain_timeout=0.05").value();
  int step = 1;
  handle.protect(1, step).value();
  handle.checkpoint("run", 1).value();
  handle.wait("run", 1, perdure::Level::store).value();
  std::filesystem::rename(directory_ + "/store", directory_ + "/away");
  handle.checkpoint("run", 2).value();
  const auto closed = handle.close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, PERDURE_UNAVAILABLE);
  EXPECT_TRUE(closed.error().retryable);
  for (const char* part : {"/store: 1 checkpoint (", "engine.drain_timeout", "/node/", "start the program again"})
    EXPECT_NE(closed.error().text.find(part), std::string::npos) << part << " in " << closed.error().text;
  EXPECT_TRUE(handle.close()) << "it is closed";
}

TEST_F(Front, ResizesVectorsToWhatWasStored) {
  {
    auto handle = open();
    std::vector<double> grown(5000, 2.5), emptied;
    int step = 9;
    handle.protect(1, grown).value();
    handle.protect(2, emptied).value();
    handle.protect(3, step).value();
    handle.checkpoint("sizes", 9).value();
    handle.close().value();
  }
  auto handle = open();
  std::vector<double> grown(3, 0.0), emptied(70, 1.0);
  int step = 0;
  handle.protect(1, grown).value();
  handle.protect(2, emptied).value();
  handle.protect(3, step).value();
  const auto as_they_are = handle.restore("sizes");
  ASSERT_FALSE(as_they_are);
  EXPECT_EQ(as_they_are.error().code, PERDURE_MISMATCH);
  EXPECT_EQ(handle.restore_resizing("sizes").value(), 9);
  EXPECT_EQ(grown, std::vector<double>(5000, 2.5));
  EXPECT_TRUE(emptied.empty());
  EXPECT_EQ(step, 9);
  // Resized memory is protected at its present place.
  std::fill(grown.begin(), grown.end(), 3.5);
  handle.checkpoint("sizes", 10).value();
  std::fill(grown.begin(), grown.end(), 0.0);
  handle.restore("sizes", 10).value();
  EXPECT_EQ(grown, std::vector<double>(5000, 3.5));
}

TEST_F(Front, ResizingRefusesAnotherElementTypeAndLeavesTheVectorAlone) {
  auto handle = open();
  std::vector<double> doubles(10, 1.0);
  handle.protect(1, doubles).value();
  handle.checkpoint("types", 1).value();
  std::vector<float> floats(4, 2.0F);
  handle.protect(1, floats).value();
  const auto restored = handle.restore_resizing("types");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, PERDURE_MISMATCH);
  EXPECT_EQ(floats, std::vector<float>(4, 2.0F));
}

TEST_F(Front, RestoresChosenRegions) {
  auto handle = open();
  int a = 1, b = 2;
  handle.protect(1, a).value();
  handle.protect(2, b).value();
  handle.checkpoint("some", 1).value();
  a = b = 7;
  handle.restore_regions("some", {2}).value();
  EXPECT_EQ(a, 7);
  EXPECT_EQ(b, 2);
}

TEST_F(Front, NotesEveryRestoreThatSucceedsWhereThatIsAskedFor) {
  const std::string record = directory_ + "/record";
  auto handle = perdure::open(settings() + ";retention.keep_last=3;restore.record=" + record).value();
  int a = 1;
  handle.protect(1, a).value();
  EXPECT_FALSE(handle.restore("noted"));
  EXPECT_FALSE(std::filesystem::exists(record)) << "nothing was restored";
  for (int version : {3, 4, 5}) handle.checkpoint("noted", version).value();
  handle.restore("noted").value();
  handle.restore("noted", 3).value();
  std::set<std::string> noted;
  for (const auto& entry : std::filesystem::directory_iterator(record)) noted.insert(entry.path().filename());
  EXPECT_EQ(noted, (std::set<std::string>{"noted@3", "noted@5"}));
  std::filesystem::remove_all(record);
  std::ofstream(record) << "in the way";
  EXPECT_EQ(handle.restore("noted").value(), 5) << "what cannot be noted is restored all the same";
}

TEST_F(Front, SaysWhichDamagedVersionARestorePassedOver) {
  std::vector<double> field(1000);
  {
    auto handle = open();
    handle.protect(0, field).value();
    for (const int version : {1, 2, 3}) {
      field.assign(1000, version);
      handle.checkpoint("app", version).value();
    }
    EXPECT_FALSE(handle.last_restored().value());
  }
  for (const auto& segment : std::filesystem::directory_iterator(directory_ + "/store/app/3")) {
    std::fstream file(segment.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000).write("damage", 6);
    ASSERT_TRUE(file.good());
  }
  auto handle = open();
  handle.protect(0, field).value();
  for (const bool resizing : {false, true}) {
    field.assign(1000, 0.0);
    EXPECT_EQ((resizing ? handle.restore_resizing("app") : handle.restore("app")).value(), 2);
    EXPECT_EQ(field, std::vector<double>(1000, 2.0));
    const auto restored = handle.last_restored().value();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->name, "app");
    EXPECT_EQ(restored->version, 2);
    ASSERT_EQ(restored->passed_over.size(), 1U) << resizing;
    EXPECT_EQ(restored->passed_over[0].version, 3);
    EXPECT_GT(restored->passed_over[0].created_ns, restored->created_ns);
    EXPECT_FALSE(restored->passed_over[0].why.empty());
  }
}

TEST_F(Front, WaitsTellsTheLevelAndRetires) {
  auto handle = open();
  int a = 1;
  handle.protect(1, a).value();
  handle.checkpoint("levels", 1).value();
  handle.wait("levels", 1).value();
  EXPECT_EQ(handle.level("levels", 1).value(), perdure::Level::store);
  EXPECT_EQ(handle.progress().value().last_bytes, sizeof(int));
  EXPECT_FALSE(handle.next_report().value().has_value());
  handle.retire("levels", 1).value();
  EXPECT_FALSE(handle.latest_version("levels").value().has_value());
}

TEST_F(Front, AsksWhetherACheckpointIsDue) {
  auto handle = perdure::open(settings() + ";signals=checkpoint").value();
  EXPECT_EQ(handle.due().value(), 0U);
  ASSERT_EQ(std::raise(SIGUSR1), 0);
  EXPECT_EQ(handle.due().value(), unsigned{PERDURE_DUE_SIGNAL});
  handle.close().value();
  EXPECT_EQ(handle.due().error().code, PERDURE_CLOSED);
}

// MPI_Finalize does this when the handle is a variable of main().
TEST_F(Front, AHandleThatSomebodyElseClosedSaysSoAndIsDestroyedInPeace) {
  auto handle = open();
  int number = 1;
  handle.protect(1, number).value();
  handle.checkpoint("closed", 1).value();
  ASSERT_EQ(perdure_close_early(handle.native(), "the test"), PERDURE_OK);
  const auto late = handle.checkpoint("closed", 2);
  EXPECT_EQ(late.error().code, PERDURE_CLOSED);
  EXPECT_EQ(late.error().text, "handle: the test closed it");
}

TEST_F(Front, AMovedHandleGoesOnAndTheOldOneIsClosed) {
  auto first = open();
  std::vector<int> values(3, 1);
  first.protect(1, values).value();
  perdure::Handle second = std::move(first);
  EXPECT_EQ(first.checkpoint("moved", 1).error().code,
            PERDURE_CLOSED);  // NOLINT: the moved-from state is what is tested
  second.checkpoint("moved", 1).value();
  values.assign(1, 0);
  second.protect(1, values).value();
  second.restore_resizing("moved").value();
  EXPECT_EQ(values, std::vector<int>(3, 1));
}

}  // namespace
