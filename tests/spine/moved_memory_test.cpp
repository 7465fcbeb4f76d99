// Tests owners that move, resize and lose the memory of regions between two checkpoints, in C on three ranks. The tests
// fronts/cpp/moved_memory_test.cpp and fronts/python/tests/test_moved_memory.py use the same table of changes and
// outcomes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "damage.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::size_t kMovedCount = 20'000;
constexpr int kU = 0, kV = 1, kField = 2, kRows = 3, kConstants = 4;  // ids

/// A program's elements, somewhere in memory.
struct Owner {
  std::unique_ptr<std::int64_t[]> data;
  std::size_t count = 0;
  std::int64_t* says = nullptr;  // a false address to report
  int refuses = 0;

  void make(std::size_t elements) {
    auto made = std::make_unique<std::int64_t[]>(elements);  // allocated first, so that the address differs
    data = std::move(made);
    count = elements;
  }
  void fill(std::int64_t value) {
    for (std::size_t i = 0; i < count; ++i) data[i] = value + static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> content() const { return std::vector<std::int64_t>(data.get(), data.get() + count); }
  static int locate(void* owner, void** address, size_t* count) {
    const auto& self = *static_cast<const Owner*>(owner);
    *address = self.says != nullptr ? self.says : self.data.get();
    *count = self.count;
    return self.refuses;
  }
};

using Owners = std::map<int, Owner>;

/// A change of a program's memory between two checkpoints.
struct MemoryChange {
  const char* what;
  void (*does)(Owners& owners);
  const char* told = nullptr;  ///< the error of the checkpoint; null: it succeeds
};

const std::vector<MemoryChange> kMemoryChanges = {
    {"nothing", [](Owners&) {}},
    {"swapped", [](Owners& o) { std::swap(o[kU].data, o[kV].data); }},
    {"swapped_with_another_size",
     [](Owners& o) {
       o[kV].make(10);
       std::swap(o[kU].data, o[kV].data);
       std::swap(o[kU].count, o[kV].count);
     }},
    {"moved", [](Owners& o) { o[kU].make(kMovedCount); }},
    {"grown", [](Owners& o) { o[kU].make(3 * kMovedCount); }},
    {"shrunk", [](Owners& o) { o[kU].make(1); }},
    {"all_moved_round",
     [](Owners& o) {
       std::swap(o[kU].data, o[kV].data);
       o[kField].make(o[kField].count);
       o[kConstants].make(o[kConstants].count);
       o[kRows].make(o[kRows].count);
     }},
    {"field_moved", [](Owners& o) { o[kField].make(o[kField].count); }},
    {"list_grown", [](Owners& o) { o[kRows].make(30); }},
    {"list_shrunk", [](Owners& o) { o[kRows].make(3); }},
    {"list_of_no_rows", [](Owners& o) { o[kRows].make(4); },
     "region 3 'rows': its owner has 4 elements, and had 12: they are no rows of 3"},
    {"constants_moved", [](Owners& o) { o[kConstants].make(o[kConstants].count); }},
    {"cleared", [](Owners& o) { o[kU].make(0); },
     "region 0 'u': its owner has 0 elements, and had 20000: was it moved or cleared?"},
    {"moved_from",
     [](Owners& o) {
       o[kV].data = std::move(o[kU].data);
       o[kU].count = 0;
     },
     "region 0 'u': its owner has 0 elements, and had 20000: was it moved or cleared?"},
    {"list_cleared", [](Owners& o) { o[kRows].make(0); }, "region 3 'rows': its owner has 0 elements, and had 12"},
    {"field_resized", [](Owners& o) { o[kField].make(o[kField].count + 1); },
     "region 2 'field': its owner has 13 elements, and had 12, of which it is a part of an array"},
    {"constants_resized", [](Owners& o) { o[kConstants].make(6); },
     "region 4 'constants': its owner has 6 elements, and had 5, of which it is a part of an array"},
    {"overlapping", [](Owners& o) { o[kU].says = o[kV].data.get() + 7; },
     "region 0 'u': its memory overlaps region 1 'v'"},
    {"at_no_address", [](Owners& o) { o[kU].data.reset(); },
     "region 0 'u': its owner says that 20000 elements are at no address"},
    {"without_an_answer", [](Owners& o) { o[kU].refuses = 3; },
     "region 0 'u': its owner cannot say where it is: it says 3"},
};

int protect_memory(perdure_t* handle, int id, Owner& owner, const char* name) {
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, id, owner.data.get(), 8, owner.count));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_describe(handle, id, name, nullptr, nullptr));
  return 0;
}

// On each rank a ghost cell lies on either side of the field's ten elements.
int protect_arrays(perdure_t* handle, Owners& owners, int ranks) {
  const uint64_t extent = 10 * static_cast<uint64_t>(ranks), ghost = 1, table[] = {0, 3},
                 five = owners[kConstants].count;
  const perdure_array field{"field", "i8", 1, &extent, &ghost, 0, nullptr, nullptr};
  const perdure_array rows{"rows", "i8", 2, table, nullptr, 0, nullptr, nullptr};
  const perdure_array constants{"constants", "i8", 1, &five, nullptr, 0, nullptr, nullptr};
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect_block(handle, kField, &field, nullptr, &owners[kField].data[1]));
  REQUIRE_STATUS(PERDURE_OK, handle,
                 perdure_protect_list(handle, kRows, &rows, owners[kRows].data.get(), owners[kRows].count / 3));
  REQUIRE_STATUS(PERDURE_OK, handle,
                 perdure_protect_replicated(handle, kConstants, &constants, owners[kConstants].data.get()));
  return 0;
}

int protect_and_follow(perdure_t* handle, Owners& owners, int ranks) {
  REQUIRE(protect_memory(handle, kU, owners[kU], "u") == 0);
  REQUIRE(protect_memory(handle, kV, owners[kV], "v") == 0);
  REQUIRE(protect_arrays(handle, owners, ranks) == 0);
  for (auto& [id, owner] : owners)
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_follow(handle, id, Owner::locate, &owner));
  return 0;
}

void make_owners(Owners& owners) {
  for (const auto& [id, count] :
       std::map<int, std::size_t>{{kU, kMovedCount}, {kV, kMovedCount}, {kField, 12}, {kRows, 12}, {kConstants, 5}})
    owners[id].make(count);
}

void fill_owners(Owners& owners, int rank, std::int64_t version) {
  for (auto& [id, owner] : owners)
    owner.fill(1'000'000 * version + 100'000 * id + (id == kConstants ? 0 : 10'000 * rank));
}

/// Returns the content without ghosts, which are not stored.
std::map<int, std::vector<std::int64_t>> contents(const Owners& owners) {
  std::map<int, std::vector<std::int64_t>> all;
  for (const auto& [id, owner] : owners) all[id] = owner.content();
  all[kField].front() = all[kField].back() = 0;
  return all;
}

int check_captured(perdure_t* handle, Owners& owners, const MemoryChange& change) {
  const auto expected = contents(owners);
  for (auto& [id, owner] : owners) std::fill_n(owner.data.get(), owner.count, 0);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, change.what, 2));
  REQUIRE(contents(owners) == expected);
  return 0;
}

int check_refused(perdure_t* handle, perdure_status status, bool here, const char* told) {
  REQUIRE(status == (here ? PERDURE_INVALID_ARGUMENT : PERDURE_PEER_FAILED));
  const std::string text = perdure_error_text(handle);
  if (here && text.find(told) != 0) std::fprintf(stderr, "it says: %s\n", text.c_str());
  REQUIRE(!here || text.find(told) == 0);
  REQUIRE(here || text.find("rank 1") != std::string::npos);
  return 0;
}

// If a region cannot be followed on rank 1, no rank captures or fills anything. After it is protected again, all ranks
// do.
int meets_refusal(const Rank& rank, perdure_t* handle, Owners& owners, const MemoryChange& change) {
  const bool here = rank.rank == 1;
  const char* const name = change.what;
  REQUIRE(check_refused(handle, perdure_checkpoint(handle, name, 2), here, change.told) == 0);
  REQUIRE(check_refused(handle, perdure_restore(handle, name, 1), here, change.told) == 0);
  const int some = kV;
  REQUIRE(check_refused(handle, perdure_restore_regions(handle, name, 1, &some, 1), here, change.told) == 0);
  std::int64_t version = -1;
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, name, &version));
  REQUIRE(version == 1);
  for (int id = kU; id <= kConstants; ++id) REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, id));
  owners.clear();
  make_owners(owners);
  return protect_and_follow(handle, owners, 3);
}

int live(const Rank& rank, const std::string& options, const MemoryChange& change) {
  perdure_t* handle = rank.open(options);
  Owners owners;
  make_owners(owners);
  REQUIRE(protect_and_follow(handle, owners, 3) == 0);
  fill_owners(owners, rank.rank, 1);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, change.what, 1));
  if (rank.rank == 1 || change.told == nullptr) change.does(owners);
  if (change.told != nullptr) REQUIRE(meets_refusal(rank, handle, owners, change) == 0);
  fill_owners(owners, rank.rank, 2);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, change.what, 2));
  REQUIRE(check_captured(handle, owners, change) == 0);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
  return 0;
}

class MovedMemory : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = "") const {
    return options_in(directory_.path(), GetParam(), "node.ranks_per_node=2;" + more);
  }
  void run(int ranks, const std::function<int(const Rank&)>& body) {
    RunOptions how;
    how.ranks = ranks;
    const auto outcome = run_ranks(how, body);
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
  }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, MovedMemory, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(MovedMemory, IsFollowedOrRefusedByNameOnAllRanks) {
  for (const MemoryChange& change : kMemoryChanges) {
    SCOPED_TRACE(change.what);
    run(3, [&](const Rank& rank) { return live(rank, options(), change); });
  }
}

TEST_P(MovedMemory, IsFollowedWhereCopyingGoesOnBehindTheCall) {
  run(3, [&](const Rank& rank) { return live(rank, options("capture.mode=cow"), kMemoryChanges[6]); });
}

// Memory that a container has left can be protected by another region before the container says where it is now.
TEST_P(MovedMemory, LeavesItsOldPlaceToOthers) {
  run(1, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    std::vector<std::int64_t> memory(kMovedCount);
    std::vector<std::int64_t>* owner = &memory;
    const auto locate = [](void* of, void** address, size_t* count) -> int {
      auto& vector = **static_cast<std::vector<std::int64_t>**>(of);
      *address = vector.data();
      *count = vector.size();
      return 0;
    };
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, memory.data(), 8, memory.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_follow(handle, 0, locate, &owner));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 1, memory.data(), 8, 10));
    std::vector<std::int64_t> elsewhere(7, 5);
    owner = &elsewhere;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, memory.data(), 8, memory.size()));
    std::iota(memory.begin(), memory.end(), 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    perdure_region_size size{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_stored_size(handle, "app", 1, 0, &size));
    REQUIRE(size.count == 7);
    memory.assign(kMovedCount, -1);
    elsewhere.assign(7, -1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(elsewhere == std::vector<std::int64_t>(7, 5) && memory[kMovedCount - 1] == kMovedCount - 1);
    owner = &memory;  // where another region is by now
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, "app", 2));
    REQUIRE(std::strstr(perdure_error_text(handle), "region 0: its memory overlaps region 1") != nullptr);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, elsewhere.data(), 8, 3));  // follows no owner now
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

// A part of an owner's memory moves with it, and is refused if its place is ambiguous.
TEST_P(MovedMemory, OfWhichARegionIsAPartMovesWithItsOwner) {
  run(1, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    Owner owner;
    owner.make(10);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, &owner.data[2], 8, 5));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_follow(handle, 0, Owner::locate, &owner));
    owner.make(10);
    owner.fill(40);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    std::fill_n(owner.data.get(), 10, 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(owner.content() == (std::vector<std::int64_t>{0, 0, 42, 43, 44, 45, 46, 0, 0, 0}));
    owner.make(11);
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, "app", 2));
    REQUIRE(std::strstr(perdure_error_text(handle),
                        "region 0: its owner has 11 elements, and had 10, of which it is "
                        "a part (") != nullptr);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

TEST_P(MovedMemory, IsFollowedOnlyWhereAnOwnerHasIt) {
  run(1, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    Owner owner;
    owner.make(10);
    std::int64_t other[3] = {};
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_follow(handle, 0, Owner::locate, &owner));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, other, 8, 3));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_follow(handle, 0, nullptr, &owner));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_follow(handle, 0, Owner::locate, &owner));
    REQUIRE(std::strstr(perdure_error_text(handle), "it is not within the 10 elements of its owner") != nullptr);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, &owner.data[8], 8, 3));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_follow(handle, 0, Owner::locate, &owner));
    owner.refuses = -1;
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_follow(handle, 0, Owner::locate, &owner));
    REQUIRE(std::strstr(perdure_error_text(handle), "it says -1") != nullptr);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 0));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));  // removed regions are not asked for
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

TEST_P(MovedMemory, ThatALanguageCannotFindIsAnErrorOfAllRanksOnce) {
  run(3, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    std::int64_t number = 5;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, &number, 8, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_describe(handle, 0, "number", nullptr, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_refuse_next(handle, 0, nullptr));
    const char* const told = "region 0 'number': its dict has it not (invalid-argument)";
    const bool here = rank.rank == 1;
    if (here) REQUIRE_STATUS(PERDURE_OK, handle, perdure_refuse_next(handle, 0, "its dict has it not"));
    REQUIRE(check_refused(handle, perdure_checkpoint(handle, "app", 1), here, told) == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    if (here) REQUIRE_STATUS(PERDURE_OK, handle, perdure_refuse_next(handle, 0, "its dict has it not"));
    REQUIRE(check_refused(handle, perdure_restore(handle, "app", 1), here, told) == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    if (here) REQUIRE_STATUS(PERDURE_OK, handle, perdure_refuse_next(handle, -1, "a key is no text"));
    REQUIRE(check_refused(handle, perdure_checkpoint(handle, "app", 2), here, "regions: a key is no text") == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

// Only one call is refused, also if it fails before any owner is asked.
TEST_P(MovedMemory, ThatALanguageCannotFindFailsNoLaterCall) {
  run(1, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    std::int64_t number = 5;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, &number, 8, 1));
    const char* const why = "its dict has it not";
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_refuse_next(handle, 0, why));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, "no name", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_refuse_next(handle, 0, why));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_restore(handle, "app", -7));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

}  // namespace
