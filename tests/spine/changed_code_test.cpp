// Tests changes of the code between two starts, by the table tests/data/changes.table, in C on three ranks.
// fronts/cpp/changed_code_test.cpp, fronts/python/tests/test_changed_code.py and fronts/fortran/changed_code_test.f90
// use the same table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "damage.hpp"
#include "support/changes_table.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

constexpr int kCount = 100;

/// A region of a program: its number, name, count of numbers and their type.
struct Said {
  int id = 0;
  std::string name = {};
  int count = kCount;
  std::string type = "f8";
  bool optional = false;
};

struct Declared {
  std::vector<std::pair<std::string, std::string>> renamed = {};
  std::vector<std::string> passed_over = {};
};

std::vector<Said> regions_of(const ChangeRow& row) {
  std::vector<Said> regions;
  for (const RegionOfRow& region : row.now)
    regions.push_back({region.id, region.name, region.count, region.type,
                       std::find(row.optional.begin(), row.optional.end(), region.id) != row.optional.end()});
  return regions;
}

/// The regions of one life; all elements are numbers.
class ChangedLife {
 public:
  explicit ChangedLife(const std::vector<Said>& regions) : regions_(regions) {}
  int protect(perdure_t* handle, const Declared& declared) {
    for (const Said& region : regions_) {
      auto& numbers = memory_[region.id];
      numbers.assign(static_cast<std::size_t>(region.count), -1);
      const auto count = static_cast<uint64_t>(region.count);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, region.id, numbers.data(), 8, numbers.size()));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_describe(handle, region.id, region.name.c_str(), nullptr, nullptr));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_describe_elements(handle, region.id, region.type.c_str(), 1, &count));
      if (region.optional)
        REQUIRE_STATUS(PERDURE_OK, handle, perdure_set_presence(handle, region.id, PERDURE_OPTIONAL));
    }
    for (const auto& [before, now] : declared.renamed)
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_renamed(handle, before.c_str(), now.c_str()));
    for (const auto& region : declared.passed_over)
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_pass_over(handle, region.c_str()));
    return 0;
  }
  std::vector<std::int64_t>& numbers(int id) { return memory_.at(id); }
  const std::vector<Said>& regions() const { return regions_; }

 private:
  std::vector<Said> regions_;
  std::map<int, std::vector<std::int64_t>> memory_;
};

std::vector<std::int64_t> content(const std::string& name, int rank) {
  return std::vector<std::int64_t>(kCount, (name == "x" ? 100 : 200) + rank);
}

int write_old(const Rank& rank, const std::string& options) {
  perdure_t* handle = rank.open(options);
  ChangedLife old({{0, "x"}, {1, "y"}});
  if (const int failed = old.protect(handle, {}); failed != 0) return failed;
  for (const Said& region : old.regions()) {
    const auto numbers = content(region.name, rank.rank);
    std::copy(numbers.begin(), numbers.end(), old.numbers(region.id).begin());
  }
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 500));
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
  return 0;
}

int check_told(perdure_t* handle, const std::vector<std::string>& told) {
  const std::string text = perdure_error_text(handle);
  REQUIRE(text.find("app version 500, rank 0: it does not fit what is protected: ") == 0);
  for (const auto& part : told) REQUIRE(text.find(part) != std::string::npos);
  return 0;
}

int go_on(const Rank& rank, const std::string& options, const ChangeRow& row) {
  perdure_t* handle = rank.open(options);
  ChangedLife now(regions_of(row));
  if (const int failed = now.protect(handle, {row.renamed, row.passed_over}); failed != 0) return failed;
  REQUIRE(perdure_status_name(perdure_restore(handle, "app", PERDURE_LATEST)) == row.status);
  if (!row.words.empty())
    if (const int failed = check_told(handle, row.words); failed != 0) return failed;
  for (const Said& region : now.regions()) {
    const auto filled = row.filled.find(region.id);
    const bool is_filled = filled != row.filled.end();
    int restored = -1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_was_restored(handle, region.id, &restored));
    REQUIRE(restored == (is_filled ? 1 : 0));
    const auto expected = is_filled ? content(filled->second, rank.rank)
                                    : std::vector<std::int64_t>(static_cast<std::size_t>(region.count), -1);
    REQUIRE(now.numbers(region.id) == expected);
  }
  std::int64_t version = -1;
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, "app", &version));
  REQUIRE(version == 500);
  REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
  return 0;
}

class ChangedCode : public ::testing::TestWithParam<const char*> {
 protected:
  ChangedCode() {
    three_.ranks = 3;
    const auto written = run_ranks(three_, [&](const Rank& rank) { return write_old(rank, options()); });
    EXPECT_TRUE(written.all(0)) << written.text();
    stop_daemons(directory_.path());
  }
  std::string options() const { return options_in(directory_.path(), GetParam(), "node.ranks_per_node=2"); }
  void run(const std::function<int(const Rank&)>& body) {
    const auto outcome = run_ranks(three_, body);
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
  }
  RunOptions three_;
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ChangedCode, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

// No change counts as a first start, and only declared regions are passed over.
TEST_P(ChangedCode, GetsItsRegionsByNameOrHearsAllThatDiffersOnAllRanks) {
  const auto rows = change_rows(PERDURE_TEST_DATA "/changes.table");
  ASSERT_GT(rows.size(), 15U);
  for (const ChangeRow& row : rows) {
    SCOPED_TRACE(row.what);
    run([&](const Rank& rank) { return go_on(rank, options(), row); });
  }
}

TEST_P(ChangedCode, OnOneRankOnlyIsHeardByAllWithTheTextOfThatRank) {
  run([&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    ChangedLife now(rank.rank == 1 ? std::vector<Said>{{0, "x"}, {1, "y"}, {2, "extra"}}
                                   : std::vector<Said>{{0, "x"}, {1, "y"}});
    if (const int failed = now.protect(handle, {}); failed != 0) return failed;
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(std::string(perdure_error_text(handle))
                .find("app version 500, rank 1: it does not fit what is protected: "
                      "region 2 'extra' is protected and not stored") == 0);
    REQUIRE(now.numbers(0) == std::vector<std::int64_t>(kCount, -1));
    if (rank.rank == 1) REQUIRE_STATUS(PERDURE_OK, handle, perdure_set_presence(handle, 2, PERDURE_OPTIONAL));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(now.numbers(0) == content("x", rank.rank));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

// Declarations remain in the program: they apply to old checkpoints and leave new ones alone.
TEST_P(ChangedCode, KeepsItsDeclarationsForOldAndNewCheckpoints) {
  const std::vector<Said> regions = {{4, "z"}, {0, "x"}, {2, "extra", 5, "f8", true}};
  const Declared declared{{{"y", "z"}}, {"gone"}};
  run([&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    ChangedLife now(regions);
    if (const int failed = now.protect(handle, declared); failed != 0) return failed;
    perdure_region_size size{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_stored_size(handle, "app", PERDURE_LATEST, 4, &size));
    REQUIRE(size.count == kCount);
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_stored_size(handle, "app", PERDURE_LATEST, 2, &size));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(now.numbers(4) == content("y", rank.rank) && now.numbers(2).front() == -1);
    std::fill(now.numbers(2).begin(), now.numbers(2).end(), 7);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 501));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
  run([&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    ChangedLife now(regions);
    if (const int failed = now.protect(handle, declared); failed != 0) return failed;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(now.numbers(4) == content("y", rank.rank) && now.numbers(2).front() == 7);
    const int some[] = {2, 4};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_regions(handle, "app", 500, some, 2));
    int restored = -1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_was_restored(handle, 2, &restored));
    REQUIRE(restored == 0 && now.numbers(2).front() == 7);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

TEST_P(ChangedCode, DeclaresOnlyWhatCanBe) {
  run([&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    std::int64_t number = 0;
    int restored = -1;
    const uint64_t two = 2;
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_set_presence(handle, 0, PERDURE_OPTIONAL));
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_was_restored(handle, 0, &restored));
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_describe_elements(handle, 0, "i8", 0, nullptr));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 0, &number, 8, 1));
    for (int none : {-1, 2, 7})
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle,
                     perdure_set_presence(handle, 0, static_cast<perdure_presence>(none)));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_was_restored(handle, 0, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_describe_elements(handle, 0, "f4", 0, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_describe_elements(handle, 0, "no type", 0, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_describe_elements(handle, 0, nullptr, 1, &two));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_describe_elements(handle, 0, nullptr, -1, &two));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_describe_elements(handle, 0, nullptr, 0, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_renamed(handle, nullptr, "x"));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_renamed(handle, "no name", "x"));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_renamed(handle, "a", "b"));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_renamed(handle, "b", "a"));
    REQUIRE(std::strstr(perdure_error_text(handle), "circle") != nullptr);
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_pass_over(handle, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_pass_over(handle, ""));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    return 0;
  });
}

}  // namespace
