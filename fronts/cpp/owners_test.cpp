// Some containers own the elements of regions. The tests check which ones are followed without being told, and which
// content a failed restore gives back to them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include "perdure/perdure.hpp"
#include "support/thread_group.hpp"

namespace {

using perdure::indices;

/// A container class of a program.
template <class T>
class OwnBuffer {
 public:
  OwnBuffer() = default;
  explicit OwnBuffer(int size) { resize(static_cast<std::size_t>(size)); }
  T* data() { return memory_.get(); }
  int size() const { return size_; }
  void resize(std::size_t size) {
    auto larger = std::make_unique<T[]>(size);
    std::copy_n(memory_.get(), std::min(size, static_cast<std::size_t>(size_)), larger.get());
    memory_ = std::move(larger);
    size_ = static_cast<int>(size);
  }

 private:
  std::unique_ptr<T[]> memory_;
  int size_ = 0;
};

/// A view that shows another one's elements.
struct OwnView {
  double* first;
  std::size_t count;
  double* data() const { return first; }
  std::size_t size() const { return count; }
};

static_assert(perdure::OwnsElements<std::vector<double>>::value && perdure::OwnsElements<std::string>::value);
static_assert(perdure::OwnsElements<OwnBuffer<double>>::value && !perdure::OwnsElements<OwnView>::value);
static_assert(!perdure::OwnsElements<std::array<double, 3>>::value && !perdure::OwnsElements<double[3]>::value);

class OwnersFront : public testing::Test {
 protected:
  OwnersFront() {
    std::string pattern = "/tmp/perdure-cpp-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~OwnersFront() override { std::filesystem::remove_all(directory_); }
  void run(int ranks, const std::function<void(perdure::Handle&, int rank)>& work) {
    perdure::test_support::ThreadGroup group(ranks);
    group.run([&](const perdure_communicator& c) {
      auto handle = perdure::open(c, settings());
      ASSERT_TRUE(handle) << handle.error().text;
      work(handle.value(), c.rank);
      EXPECT_TRUE(handle.value().close());
    });
  }
  perdure::Handle open() { return perdure::open(settings()).value(); }
  std::string settings() const {
    return "store.path=" + directory_ + "/store;node.path=" + directory_ + "/node;tier.file.path=" + directory_ +
           "/file;tier.memory.max_bytes=64MiB;node.ranks_per_node=8;retention.keep_last=5";
  }
  template <class Outcome>
  static void good(const Outcome& outcome) {
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().text);
  }
  std::string directory_;
};

TEST_F(OwnersFront, OfOnesOwnAreFollowedWithoutAWord) {
  auto handle = open();
  OwnBuffer<double> own(10), other(20), equal(3), rows(3), block(4);
  std::string text = "short";
  good(handle.protect_all(0, own, other, text));
  good(handle.protect_replicated(3, "equal", equal));
  good(handle.protect_list(4, {"rows", indices(0, 3)}, rows));
  good(handle.protect_block(5, {"block", indices(4)}, block));
  std::swap(own, other);
  own.resize(1000);
  rows.resize(6);
  for (auto* buffer : {&equal, &block}) buffer->resize(static_cast<std::size_t>(buffer->size()));  // elsewhere
  for (auto* buffer : {&own, &equal, &rows, &block}) buffer->data()[2] = 5;
  text = std::string(1000, 'x');
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 0).value().count, 1000U);
  EXPECT_EQ(handle.stored_size("run", 1, 1).value().count, 10U);
  EXPECT_EQ(handle.stored_array("run", 1, 4).value().extents, indices(2, 3));
  for (auto* buffer : {&own, &equal, &rows, &block}) buffer->data()[2] = 0;
  text.assign(1000, ' ');
  good(handle.restore("run"));
  for (auto* buffer : {&own, &equal, &rows, &block}) EXPECT_EQ(buffer->data()[2], 5.0);
  EXPECT_EQ(text, std::string(1000, 'x'));
}

TEST_F(OwnersFront, AreNoViews) {
  auto handle = open();
  std::vector<double> one(10, 1.0), two(10, 2.0);
  OwnView view{one.data(), 10};
  good(handle.protect(0, view));
  view.first = two.data();
  good(handle.checkpoint("run", 1));
  one.assign(10, 0.0);
  two.assign(10, 0.0);
  good(handle.restore("run"));
  EXPECT_EQ(one, std::vector<double>(10, 1.0)) << "the view may be gone by then";
}

TEST_F(OwnersFront, ArePointersToArraysWithTheirNumbers) {
  auto handle = open();
  std::size_t count = 10;
  int fewer = 4;
  auto cells = std::make_unique<double[]>(count);
  auto others = std::make_unique<double[]>(4);
  good(handle.protect(0, cells, count));
  good(handle.protect(1, others, fewer));
  std::swap(cells, others);
  count = 4;
  fewer = 10;
  cells[3] = 3;
  others[9] = 9;
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 0).value().count, 4U);
  EXPECT_EQ(handle.stored_size("run", 1, 1).value().count, 10U);
  cells[3] = others[9] = 0;
  good(handle.restore("run"));
  EXPECT_EQ(cells[3], 3.0);
  EXPECT_EQ(others[9], 9.0);
  cells.reset();
  count = 0;
  const auto refused = handle.checkpoint("run", 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.error().text.find("region 0: its owner has 0 elements, and had 4"), 0U) << refused.error().text;
}

TEST_F(OwnersFront, AreFunctionsThatSayWhereElementsAre) {
  auto handle = open();
  std::vector<std::vector<double>> levels = {std::vector<double>(3, 1.0), std::vector<double>(5, 2.0)};
  std::size_t current = 0;
  bool knows = true;
  const auto kept = std::make_shared<int>(0);
  good(handle.protect_where(0, [&levels, &current, &knows, kept]() -> std::vector<double>& {
    if (!knows) throw std::runtime_error("not now");
    return levels[current];
  }));
  double* address = levels[0].data();
  good(handle.protect_where(1, [kept] { return std::pair(kept.get(), 1); }));
  EXPECT_EQ(kept.use_count(), 3);
  current = 1;
  *kept = 7;
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 0).value().count, 5U);
  levels[1].assign(5, 0.0);
  *kept = 0;
  auto moved = std::move(handle);
  good(moved.restore("run"));
  EXPECT_EQ(levels[1], std::vector<double>(5, 2.0));
  EXPECT_EQ(*kept, 7);
  knows = false;
  const auto refused = moved.checkpoint("run", 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text.find("region 0: its owner cannot say where it is"), 0U) << refused.error().text;
  good(moved.unprotect(1));
  EXPECT_EQ(kept.use_count(), 2) << "it is asked no more";
  EXPECT_FALSE(moved.protect(0, static_cast<double*>(nullptr), 5));
  EXPECT_EQ(kept.use_count(), 1);
  good(moved.protect(0, address, 3));
  good(moved.checkpoint("run", 2));
}

/// Patches of a mesh, which have more members than the protected ones.
struct OwnedPatch {
  OwnBuffer<float> cells;
  int level = 0;
  std::unique_ptr<int> neighbour;
};

/// One container of each kind that a program has.
struct OwnedState {
  std::vector<double> longer = std::vector<double>(7), shorter = std::vector<double>(3), rows = std::vector<double>(6);
  std::vector<double> constants = std::vector<double>(4), empty, alike = std::vector<double>(5);
  std::vector<OwnedPatch> patches = std::vector<OwnedPatch>(3);
  std::deque<std::vector<double>> queue = std::deque<std::vector<double>>(2);
  std::size_t least = 2;  // cells of the first patch

  std::vector<std::vector<double>*> vectors() {
    return {&longer, &shorter, &rows, &constants, &empty, &alike, &queue[0], &queue[1]};
  }
  void fill(double value) {
    for (auto* vector : vectors()) std::iota(vector->begin(), vector->end(), value);
    for (std::size_t i = 0; i < patches.size(); ++i) {
      patches[i].cells.resize(i + least);
      std::fill_n(patches[i].cells.data(), i + least, static_cast<float>(value));
      patches[i].level = static_cast<int>(value);
    }
  }
  void protect(perdure::Handle& handle) {
    handle.protect_all(0, longer, shorter, empty, alike).value();
    handle.protect_list(4, {"rows", indices(0, 3)}, rows).value();
    handle.protect_replicated(5, "constants", constants).value();
    handle.protect_elements(100, patches, &OwnedPatch::cells).value();
    handle.protect_elements(200, queue).value();
  }
};

/// Gives each another size, except `alike`.
OwnedState other_sizes() {
  OwnedState other;
  other.longer.resize(20);
  other.shorter.resize(1);
  other.rows.resize(9);
  other.constants.resize(2);
  other.empty.resize(8);
  other.patches.resize(5);
  other.least = 4;
  other.queue[1].resize(30);
  return other;
}

TEST_F(OwnersFront, GetBackWhatTheyHadFromARestoreThatFails) {
  run(2, [](perdure::Handle& handle, int) {
    OwnedState state;
    state.fill(1);
    state.protect(handle);
    good(handle.checkpoint("run", 1));
  });
  run(2, [](perdure::Handle& handle, int rank) {
    OwnedState state = other_sizes();
    state.fill(50);
    state.patches[4].neighbour = std::make_unique<int>(4);
    state.protect(handle);
    double extra = 3;
    if (rank == 1) good(handle.protect(9, extra));
    std::vector<const double*> places;
    std::vector<std::vector<double>> contents;
    for (const auto* vector : state.vectors()) places.push_back(vector->data()), contents.push_back(*vector);
    for (const std::int64_t version : {std::int64_t{1}, perdure::latest})
      EXPECT_EQ(handle.restore_resizing("run", version).error().code, PERDURE_MISMATCH);
    const auto expect_as_before = [&] {
      for (std::size_t i = 0; i < places.size(); ++i) {
        EXPECT_EQ(state.vectors()[i]->data(), places[i]) << i;
        EXPECT_EQ(*state.vectors()[i], contents[i]) << i;
      }
      ASSERT_EQ(state.patches.size(), 5U);
      for (std::size_t i = 0; i < 5; ++i) {
        ASSERT_EQ(state.patches[i].cells.size(), static_cast<int>(i + 4));
        EXPECT_EQ(state.patches[i].cells.data()[i + 3], 50.0F);
        EXPECT_EQ(state.patches[i].level, 50);
      }
      EXPECT_EQ(*state.patches[4].neighbour, 4) << "of what was cut off";
    };
    expect_as_before();
    good(handle.checkpoint("other", 1));  // no region has to be protected again
    for (auto* vector : state.vectors()) std::fill(vector->begin(), vector->end(), 0.0);
    good(handle.restore("other"));
    expect_as_before();
    if (rank == 1) good(handle.unprotect(9));
    good(handle.restore_resizing("run", 1));
    OwnedState expected;
    expected.fill(1);
    for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(*state.vectors()[i], *expected.vectors()[i]) << i;
    ASSERT_EQ(state.patches.size(), 3U);
    EXPECT_EQ(state.patches[2].cells.data()[3], 1.0F);
    EXPECT_EQ(state.patches[0].level, 50) << "it is no region";
  });
}

TEST_F(OwnersFront, ThatWereClearedAreStillAskedForAfterARestoreThatFails) {
  auto handle = open();
  std::vector<double> cleared(5, 1.0), empty;
  double extra = 1;
  good(handle.protect_all(0, cleared, empty));
  good(handle.checkpoint("run", 1));
  cleared.clear();
  good(handle.protect(9, extra));
  EXPECT_EQ(handle.restore_resizing("run", 1).error().code, PERDURE_MISMATCH);
  EXPECT_TRUE(cleared.empty());
  const auto refused = handle.checkpoint("run", 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text.find("region 0: its owner has 0 elements, and had 5"), 0U) << refused.error().text;
  good(handle.protect(0, cleared));
  good(handle.checkpoint("run", 2));
}

}  // namespace
