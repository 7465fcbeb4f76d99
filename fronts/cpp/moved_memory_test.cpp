// Containers move, grow and lose the memory of regions between two checkpoints. This runs the table of
// tests/spine/moved_memory_test.cpp in C++, which follows vectors without being told.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>

#include "perdure/perdure.hpp"
#include "support/thread_group.hpp"

namespace {

using perdure::indices;

/// The state of a program: two fields of one rank, a block with ghosts, a list, and data that is equal on all ranks.
struct Fields {
  std::vector<double> u = std::vector<double>(1000), v = std::vector<double>(1000);
  std::vector<double> block, rows = std::vector<double>(12), constants = std::vector<double>(5);

  void fill(double value) {
    for (auto* field : {&u, &v, &block, &rows, &constants}) std::iota(field->begin(), field->end(), value += 10000);
  }
  void clear_values() {
    for (auto* field : {&u, &v, &block, &rows, &constants}) std::fill(field->begin(), field->end(), 0.0);
  }
  friend bool operator==(const Fields&, const Fields&) = default;
};

perdure::Status protect_fields(perdure::Handle& handle, Fields& fields, std::uint64_t ranks) {
  const perdure::Array field{"field", indices(10 * ranks), indices(1)};
  fields.block.resize(12);
  perdure::Status done = handle.protect(0, fields.u);
  if (done) done = handle.describe(0, "u");
  if (done) done = handle.protect(1, fields.v);
  if (done) done = handle.protect_block(2, field, fields.block);
  if (done) done = handle.protect_list(3, {"rows", indices(0, 3)}, fields.rows);
  if (done) done = handle.protect_replicated(4, "constants", fields.constants);
  return done;
}

struct FieldChange {
  const char* what;
  void (*does)(Fields& fields);
  const char* told = nullptr;  ///< none: it is followed
};

void reallocate(std::vector<double>& vector) { std::vector<double>(vector).swap(vector); }

const std::vector<FieldChange> kFieldChanges = {
    {"nothing", [](Fields&) {}},
    {"swapped", [](Fields& f) { std::swap(f.u, f.v); }},
    {"swapped_with_another_size",
     [](Fields& f) {
       f.v.resize(70);
       std::swap(f.u, f.v);
     }},
    {"resized", [](Fields& f) { f.u.resize(100'000); }},
    {"shrunk", [](Fields& f) { f.u.resize(3); }},
    {"pushed_back", [](Fields& f) { f.u.push_back(1); }},
    {"assigned", [](Fields& f) { f.u = std::vector<double>(500); }},
    {"moved_round",
     [](Fields& f) {
       auto old = std::move(f.u);
       f.u = std::move(f.v);
       f.v = std::move(old);
     }},
    {"block_reallocated", [](Fields& f) { reallocate(f.block); }},
    {"rows_added", [](Fields& f) { f.rows.resize(33); }},
    {"constants_reallocated", [](Fields& f) { reallocate(f.constants); }},
    {"cleared", [](Fields& f) { f.u.clear(); },
     "region 0 'u': its owner has 0 elements, and had 1000: was it moved or cleared?"},
    {"moved_from", [](Fields& f) { f.v = std::move(f.u); },
     "region 0 'u': its owner has 0 elements, and had 1000: was it moved or cleared?"},
    {"rows_cut", [](Fields& f) { f.rows.pop_back(); }, "region 3 'rows': its owner has 11 elements, and had 12"},
    {"block_resized", [](Fields& f) { f.block.resize(13); },
     "region 2 'field': its owner has 13 elements, and had 12, of which it is a part of an array"},
    {"constants_resized", [](Fields& f) { f.constants.resize(6); }, "region 4 'constants': its owner has 6 elements"},
};

class MovedMemoryFront : public testing::Test {
 protected:
  MovedMemoryFront() {
    std::string pattern = "/tmp/perdure-cpp-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~MovedMemoryFront() override { std::filesystem::remove_all(directory_); }
  using Work = std::function<void(perdure::Handle&, int rank)>;
  void run(int ranks, const Work& work) {
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
  template <class Outcome>
  static void expect_refused(const Outcome& outcome, bool here, const std::string& told) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, here ? PERDURE_INVALID_ARGUMENT : PERDURE_PEER_FAILED) << outcome.error().text;
    if (here) {
      EXPECT_EQ(outcome.error().text.find(told), 0U) << outcome.error().text;
    }
  }
  static void check_captured(perdure::Handle& handle, Fields& fields, const char* name, std::int64_t version) {
    Fields expected = fields;
    expected.block.front() = expected.block.back() = 0;  // ghosts
    fields.clear_values();
    good(handle.restore(name, version));
    EXPECT_EQ(fields, expected);
  }
  std::string directory_;
};

TEST_F(MovedMemoryFront, IsFollowedOrRefusedByNameOnAllRanks) {
  for (const FieldChange& change : kFieldChanges) {
    SCOPED_TRACE(change.what);
    run(2, [&](perdure::Handle& handle, int rank) {
      Fields fields;
      good(protect_fields(handle, fields, 2));
      fields.fill(1);
      good(handle.checkpoint(change.what, 1));
      const bool here = rank == 1;
      if (here || change.told == nullptr) change.does(fields);
      if (change.told != nullptr) {
        expect_refused(handle.checkpoint(change.what, 2), here, change.told);
        expect_refused(handle.restore(change.what, 1), here, change.told);
        expect_refused(handle.restore_regions(change.what, {1}), here, change.told);
        fields = Fields();
        good(protect_fields(handle, fields, 2));
      }
      fields.fill(2);
      good(handle.checkpoint(change.what, 2));
      check_captured(handle, fields, change.what, 2);
    });
  }
}

TEST_F(MovedMemoryFront, GetsItsStoredSizesWhateverBecameOfIt) {
  for (const FieldChange& change : kFieldChanges) {
    SCOPED_TRACE(change.what);
    auto handle = open();
    Fields fields;
    good(protect_fields(handle, fields, 1));
    fields.fill(1);
    good(handle.checkpoint(change.what, 1));
    Fields expected = fields;
    expected.block.front() = expected.block.back() = 0;
    change.does(fields);
    if (fields.block.size() != 12) fields.block.resize(12);  // blocks are not resized
    fields.clear_values();
    good(handle.restore_resizing(change.what, 1));
    EXPECT_EQ(fields, expected);
    fields.fill(3);  // and is still followed
    std::swap(fields.u, fields.v);
    reallocate(fields.constants);
    good(handle.checkpoint(change.what, 2));
    check_captured(handle, fields, change.what, 2);
    good(handle.close());
  }
}

TEST_F(MovedMemoryFront, LeavesItsOldPlaceToOtherRegions) {
  auto handle = open();
  std::vector<double> first(1000, 1.0), second;
  good(handle.protect(0, first));
  EXPECT_FALSE(handle.protect(1, first.data(), 10)) << "it is there";
  second = std::move(first);
  first = std::vector<double>(10, 2.0);
  good(handle.protect(1, second));
  good(handle.checkpoint("run", 1));
  first.assign(10, 0.0);
  second.assign(1000, 0.0);
  good(handle.restore("run"));
  EXPECT_EQ(first, std::vector<double>(10, 2.0));
  EXPECT_EQ(second, std::vector<double>(1000, 1.0));
}

TEST_F(MovedMemoryFront, IsNotFollowedWhereItIsProtectedByItsAddress) {
  auto handle = open();
  std::vector<double> field(100, 1.0);
  good(handle.protect(0, field));
  good(handle.protect(0, field.data(), field.size()));
  std::vector<double> other(200, 2.0);
  field.swap(other);
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 0).value().count, 100U);
}

/// A container class of a program.
class Halves {
 public:
  double* data() { return memory_.get(); }
  int size() const { return size_; }
  void make(int size) {
    memory_ = std::make_unique<double[]>(static_cast<std::size_t>(size));
    size_ = size;
  }

 private:
  std::unique_ptr<double[]> memory_;
  int size_ = 0;
};

TEST_F(MovedMemoryFront, OfContainersOfOnesOwnIsFollowedWhereThatIsSaid) {
  auto handle = open();
  Halves own;
  own.make(10);
  EXPECT_EQ(handle.follow(0, own).error().code, PERDURE_NOT_FOUND);
  good(handle.protect(0, own.data(), 10));
  good(handle.follow(0, own));
  own.make(40);
  own.data()[39] = 5;
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 0).value().count, 40U);
  own.data()[39] = 0;
  good(handle.restore("run"));
  EXPECT_EQ(own.data()[39], 5.0);
}

struct Patch {
  std::vector<float> cells;
  int level = 0;
};

std::vector<std::vector<double>> elements_of(std::size_t count, double value) {
  std::vector<std::vector<double>> elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i].assign(i + 1, value + static_cast<double>(i));
  return elements;
}

/// The ways in which a container of containers may change.
const std::vector<std::pair<const char*, void (*)(std::vector<std::vector<double>>&)>> kOuterChanges = {
    {"nothing", [](auto&) {}},
    {"grown", [](auto& outer) { outer.resize(100, std::vector<double>(7)); }},
    {"shrunk", [](auto& outer) { outer.resize(1); }},
    {"emptied", [](auto& outer) { outer.clear(); }},
    {"element_added_in_front", [](auto& outer) { outer.insert(outer.begin(), std::vector<double>(9)); }},
    {"first_erased", [](auto& outer) { outer.erase(outer.begin()); }},
    {"turned_round", [](auto& outer) { std::reverse(outer.begin(), outer.end()); }},
    {"element_resized", [](auto& outer) { outer[2].resize(50'000); }},
    {"assigned", [](auto& outer) { outer = elements_of(7, 0); }},
};

TEST_F(MovedMemoryFront, OfElementsOfAContainerIsFollowedThroughTheirOwner) {
  for (const auto& [what, does] : kOuterChanges) {
    SCOPED_TRACE(what);
    auto handle = open();
    auto outer = elements_of(5, 1);
    std::vector<double> field(100, 1.0);
    good(handle.protect(5, field));
    good(handle.protect_elements(100, outer));
    good(handle.checkpoint(what, 1));
    does(outer);
    for (auto& inner : outer) std::iota(inner.begin(), inner.end(), 3.0);
    good(handle.checkpoint(what, 2));
    const auto expected = outer;
    for (auto& inner : outer) std::fill(inner.begin(), inner.end(), 0.0);
    good(handle.restore(what));
    EXPECT_EQ(outer, expected);
    good(handle.restore_resizing(what, 1));
    EXPECT_EQ(outer, elements_of(5, 1));
    good(handle.close());
    auto next = open();
    std::vector<std::vector<double>> restored;
    good(next.protect(5, field));
    good(next.protect_elements(100, restored));
    if (!expected.empty()) {
      EXPECT_EQ(next.restore(what, 2).error().code, PERDURE_MISMATCH) << "it has no elements";
    }
    good(next.restore_resizing(what, 2));
    EXPECT_EQ(restored, expected);
    good(next.close());
  }
}

TEST_F(MovedMemoryFront, OfMembersOfElementsIsFollowed) {
  auto handle = open();
  std::vector<Patch> patches(3);
  std::deque<std::vector<int>> queue(2, std::vector<int>(4, 1));
  std::vector<std::unique_ptr<Patch>> pointers;
  for (int i = 0; i < 2; ++i) pointers.push_back(std::make_unique<Patch>());
  for (auto& patch : patches) patch.cells.assign(10, 1.0F);
  for (auto& patch : pointers) patch->cells.assign(5, 2.0F);
  const auto cells_of = [](auto& patch) -> auto& { return patch->cells; };
  good(handle.protect_elements(100, patches, &Patch::cells));
  good(handle.protect_elements(200, queue));
  good(handle.protect_elements(300, pointers, cells_of));
  patches.resize(20);
  patches[19].cells.assign(6, 9.0F);
  queue.pop_front();
  pointers.push_back(std::make_unique<Patch>());
  pointers[2]->cells.assign(1, 3.0F);
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 119).value().count, 6U);
  EXPECT_EQ(handle.stored_size("run", 1, 201).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(handle.stored_size("run", 1, 302).value().count, 1U);
  patches.resize(4);
  pointers[2]->cells.assign(1, 0.0F);
  good(handle.restore_resizing("run"));
  ASSERT_EQ(patches.size(), 20U);
  EXPECT_EQ(patches[19].cells, std::vector<float>(6, 9.0F));
  EXPECT_EQ(pointers[2]->cells, std::vector<float>(1, 3.0F));
  pointers.pop_back();
  EXPECT_EQ(handle.restore_resizing("run").error().code, PERDURE_MISMATCH) << "what would point nowhere is not made";
  EXPECT_EQ(pointers.size(), 2U);
}

TEST_F(MovedMemoryFront, OfElementsThatRanksHaveInOtherNumbersComesBack) {
  const auto of_rank = [](int rank) { return elements_of(static_cast<std::size_t>(3 * rank), 10.0 * rank); };
  run(3, [&](perdure::Handle& handle, int rank) {
    auto outer = of_rank(rank);
    good(handle.protect_elements(100, outer));
    good(handle.checkpoint("run", 1));
  });
  run(3, [&](perdure::Handle& handle, int rank) {
    auto outer = of_rank(2 - rank);
    double other = rank;
    good(handle.protect_elements(100, outer));
    good(handle.restore_resizing("run"));
    EXPECT_EQ(outer, of_rank(rank));
    good(handle.protect(107, other));  // in the way of future elements
    outer.resize(8, std::vector<double>(1, 1.0));
    const auto refused = handle.checkpoint("run", 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(refused.error().text.find("region 107: an element of the container at 100 would be it"), 0U)
        << refused.error().text;
    good(handle.unprotect(107));
    good(handle.checkpoint("run", 2));
  });
}

TEST_F(MovedMemoryFront, OfElementsIsGivenUpTogether) {
  auto handle = open();
  auto outer = elements_of(3, 1);
  std::vector<std::vector<double>> nothing, twice(2, std::vector<double>(3));
  double other = 1;
  good(handle.protect(102, other));
  const auto refused = handle.protect_elements(100, outer);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("it is protected already"), std::string::npos) << refused.error().text;
  for (const int id : {100, 101}) EXPECT_EQ(handle.unprotect(id).error().code, PERDURE_NOT_FOUND) << id;
  good(handle.unprotect(102));
  good(handle.protect_elements(100, outer));
  good(handle.protect_elements(100, twice));  // in its place
  EXPECT_EQ(handle.was_restored(102).error().code, PERDURE_NOT_FOUND);
  good(handle.unprotect(101));
  EXPECT_EQ(handle.unprotect(100).error().code, PERDURE_NOT_FOUND) << "all of them went";
  good(handle.protect_elements(100, nothing));
  good(handle.unprotect(100));
  EXPECT_EQ(handle.unprotect(100).error().code, PERDURE_NOT_FOUND);
  good(handle.protect_elements(100, outer));
  good(handle.protect(100, other));  // the others go with it
  good(handle.checkpoint("run", 1));
  EXPECT_EQ(handle.stored_size("run", 1, 100).value().count, 1U);
  EXPECT_EQ(handle.stored_size("run", 1, 101).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(handle.protect_elements(std::numeric_limits<int>::max(), outer).error().code, PERDURE_INVALID_ARGUMENT);
  auto moved = std::move(handle);
  EXPECT_EQ(handle.protect_elements(300, nothing).error().code, PERDURE_CLOSED);  // NOLINT: the moved-from state
  good(moved.protect_elements(200, outer));
  outer.resize(9, std::vector<double>(2));
  auto again = std::move(moved);
  good(again.checkpoint("run", 2));
  EXPECT_EQ(again.stored_size("run", 2, 208).value().count, 2U);
}

TEST_F(MovedMemoryFront, OfElementsIsNotGivenUpForAnotherRegionWithoutAWord) {
  auto handle = open();
  auto outer = elements_of(3, 1);
  std::vector<std::vector<double>> others(1, std::vector<double>(3));
  std::vector<double> vector(5);
  double one = 1, two = 2;
  good(handle.protect_elements(100, outer));
  const auto refused = handle.protect(101, one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.error().text.find("region 101: it is an element of the container at 100; unprotect 100 first"), 0U)
      << refused.error().text;
  EXPECT_FALSE(handle.protect(102, vector));
  EXPECT_FALSE(handle.protect_replicated(101, "one", one));
  EXPECT_FALSE(handle.protect_all(101, one, two));
  EXPECT_FALSE(handle.protect_elements(102, others));
  good(handle.protect(103, two));  // the next
  good(handle.checkpoint("run", 1));
  for (auto& inner : outer) inner.assign(inner.size(), 0.0);
  good(handle.restore("run"));
  EXPECT_EQ(outer, elements_of(3, 1));
  good(handle.protect_all(100, one, vector));  // in its place
  good(handle.checkpoint("run", 2));
  EXPECT_EQ(handle.stored_size("run", 2, 101).value().count, 5U);
}

// The container is not asked any more: the handle takes it for gone.
TEST_F(MovedMemoryFront, OfElementsIsGivenUpWhereWhatIsToReplaceItIsRefused) {
  auto handle = open();
  auto outer = elements_of(3, 1);
  double* const nowhere = nullptr;
  good(handle.protect_elements(100, outer));
  EXPECT_EQ(handle.protect(100, nowhere, 5).error().code, PERDURE_INVALID_ARGUMENT);
  outer.clear();
  good(handle.checkpoint("run", 1));
  outer = elements_of(3, 1);
  good(handle.protect_elements(100, outer));
  const perdure::Array unlike{"unlike", indices(0, 3), indices(1)};  // its ghosts have too few dimensions
  EXPECT_EQ(handle.protect_list(100, unlike, outer[0].data(), 1).error().code, PERDURE_INVALID_ARGUMENT);
  outer.clear();
  good(handle.checkpoint("run", 2));
  for (const int version : {1, 2}) EXPECT_EQ(handle.stored_size("run", version, 100).value().count, 0U);
}

TEST_F(MovedMemoryFront, IsFollowedByTheRestoreOfABranch) {
  auto handle = open();
  auto outer = elements_of(3, 1);
  good(handle.protect_elements(100, outer));
  good(handle.checkpoint("run", 1));
  good(handle.restore("run"));
  const std::string branch = handle.last_restored().value().value().branch;
  outer.resize(7, std::vector<double>(2));
  good(handle.checkpoint("run", 2));
  outer.resize(3);
  for (auto& inner : outer) inner.assign(inner.size(), 0.0);
  good(handle.restore_branch("run", branch, 1));
  EXPECT_EQ(outer, elements_of(3, 1));
  outer.resize(1);
  EXPECT_EQ(handle.restore_branch("run", branch, 1).error().code, PERDURE_MISMATCH) << "two elements are missing";
}

TEST_F(MovedMemoryFront, OfElementsThatTheCheckpointDoesNotHaveStaysAsItIs) {
  std::vector<double> field(100, 1.0);
  {
    auto handle = open();
    good(handle.protect(0, field));
    good(handle.checkpoint("run", 1));
  }
  auto handle = open();
  auto outer = elements_of(3, 1);
  good(handle.protect(0, field));
  good(handle.protect_elements(100, outer));
  const auto restored = handle.restore_resizing("run");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, PERDURE_MISMATCH);
  EXPECT_NE(restored.error().text.find("region 100 is protected and not stored"), std::string::npos)
      << restored.error().text;
  EXPECT_EQ(outer, elements_of(3, 1));
  outer.clear();
  good(handle.restore_resizing("run"));
}

}  // namespace
