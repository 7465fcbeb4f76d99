// People change the code between two starts. This runs the table of tests/data/changes.table in C++, which knows types
// without being told.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "perdure/perdure.hpp"
#include "support/changes_table.hpp"

namespace {

constexpr std::size_t kNumbers = 100;

using perdure::test_support::ChangeRow;

/// The memory of one program, by the numbers of its regions.
class RowMemory {
 public:
  RowMemory(perdure::Handle& handle, const ChangeRow& row, bool resizing) {
    for (const auto& region : row.now) {
      const auto count = static_cast<std::size_t>(resizing ? 3 : region.count);
      if (region.type == "f8")
        protect(handle, region.id, reals_[region.id], count);
      else
        protect(handle, region.id, integers_[region.id], count);
      handle.describe(region.id, region.name).value();
    }
    for (const int id : row.optional) handle.set_optional(id).value();
    for (const auto& region : row.passed_over) handle.pass_over(region).value();
    for (const auto& [before, now] : row.renamed) handle.renamed(before, now).value();
  }
  /// Expects that a region without restored data is as it was.
  void expect(int id, std::size_t count, double value) const {
    if (const auto at = reals_.find(id); at != reals_.end()) {
      EXPECT_EQ(at->second, std::vector<double>(count, value)) << id;
    }
    if (const auto at = integers_.find(id); at != integers_.end()) {
      EXPECT_EQ(at->second, std::vector<std::int64_t>(count, static_cast<std::int64_t>(value))) << id;
    }
  }

 private:
  template <class T>
  static void protect(perdure::Handle& handle, int id, std::vector<T>& memory, std::size_t count) {
    memory.assign(count, T{-1});
    handle.protect(id, memory).value();
  }
  std::map<int, std::vector<double>> reals_;
  std::map<int, std::vector<std::int64_t>> integers_;
};

/// A program that asks for the stored sizes has no other sizes.
bool is_of_a_size(const ChangeRow& row) {
  const auto tells_size = [](const std::string& words) {
    return words.find("it was stored as 100 elements") != std::string::npos;
  };
  return std::any_of(row.words.begin(), row.words.end(), tells_size);
}

class ChangedFront : public testing::Test {
 protected:
  ChangedFront() {
    std::string pattern = "/tmp/perdure-cpp-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    auto handle = open();
    std::vector<double> x(kNumbers, 1.0), y(kNumbers, 2.0);
    handle.protect(0, x).value();
    handle.protect(1, y).value();
    handle.describe(0, "x").value();
    handle.describe(1, "y").value();
    handle.checkpoint("app", 500).value();
    handle.close().value();
  }
  ~ChangedFront() override { std::filesystem::remove_all(directory_); }
  perdure::Handle open() {
    return perdure::open("store.path=" + directory_ + "/store;node.path=" + directory_ +
                         "/node;tier.file.path=" + directory_ + "/file;tier.memory.max_bytes=64MiB")
        .value();
  }
  static void expect_told(const perdure::Result<std::int64_t>& restored, const std::vector<std::string>& told) {
    ASSERT_FALSE(restored.ok());
    EXPECT_EQ(restored.error().code, PERDURE_MISMATCH) << "no first start";
    EXPECT_EQ(restored.error().text.find("app version 500: it does not fit what is protected: "), 0U)
        << restored.error().text;
    for (const auto& part : told)
      EXPECT_NE(restored.error().text.find(part), std::string::npos) << restored.error().text;
  }
  std::string directory_;
};

TEST_F(ChangedFront, GetsItsRegionsByNameOrHearsAllThatDiffers) {
  const auto rows = perdure::test_support::change_rows(PERDURE_TEST_DATA "/changes.table");
  ASSERT_GT(rows.size(), 15U);
  for (const bool resizing : {false, true})
    for (const ChangeRow& row : rows) {
      if (resizing && is_of_a_size(row)) continue;
      SCOPED_TRACE(row.what + (resizing ? ", resizing" : ""));
      auto handle = open();
      const RowMemory memory(handle, row, resizing);
      const auto restored = resizing ? handle.restore_resizing("app") : handle.restore("app");
      if (row.status == "ok") {
        ASSERT_TRUE(restored.ok()) << restored.error().text;
        EXPECT_EQ(restored.value(), 500);
      } else {
        EXPECT_EQ(row.status, "mismatch");
        expect_told(restored, row.words);
      }
      for (const auto& region : row.now) {
        const auto filled = row.filled.find(region.id);
        const bool is_filled = filled != row.filled.end();
        EXPECT_EQ(handle.was_restored(region.id).value(), is_filled) << region.id;
        const double value = !is_filled ? -1.0 : filled->second == "x" ? 1.0 : 2.0;
        memory.expect(region.id, resizing && !is_filled ? 3 : static_cast<std::size_t>(region.count), value);
      }
    }
}

TEST_F(ChangedFront, IsRefusedWhereSizeOrTypeIsAnother) {
  auto handle = open();
  std::vector<double> x(kNumbers + 1, -1.0);
  std::vector<std::int64_t> y(kNumbers, -1);
  handle.protect(0, x).value();
  handle.protect(1, y).value();
  handle.describe(0, "x").value();
  handle.describe(1, "y").value();
  expect_told(handle.restore("app"),
              {"region 0 'x': it was stored as 100 elements of 8 bytes, and is protected as 101 elements of 8 bytes",
               "region 1 'y': its element type was stored as f8, and is protected as i8"});
  expect_told(handle.restore_resizing("app"), {"region 1 'y': its element type was stored as f8"});
  EXPECT_EQ(y, std::vector<std::int64_t>(kNumbers, -1));
}

TEST_F(ChangedFront, KeepsNamesAndWhatMayBeAbsentWhereAllIsProtectedAgain) {
  auto handle = open();
  std::vector<double> y(kNumbers, -1.0), x(kNumbers, -1.0), extra(3, -1.0);
  handle.protect_all(0, y, x, extra).value();
  handle.describe(0, "y").value();
  handle.describe(1, "x").value();
  handle.describe(2, "extra").value();
  handle.set_optional(2).value();
  std::swap(x, y);
  extra.resize(1000);
  handle.protect_all(0, y, x, extra).value();
  handle.restore("app").value();
  EXPECT_EQ(x, std::vector<double>(kNumbers, 1.0));
  EXPECT_EQ(y, std::vector<double>(kNumbers, 2.0));
  EXPECT_FALSE(handle.protect_all(0, y, x, y)) << "overlaps";
  for (const int id : {0, 1, 2}) EXPECT_EQ(handle.unprotect(id).error().code, PERDURE_NOT_FOUND) << id;
}

struct OfNoKnownType {
  float a = 0, b = 0;
};

TEST_F(ChangedFront, ComparesNoTypeThatItDoesNotKnow) {
  auto handle = open();
  std::vector<std::int64_t> numbers(kNumbers);
  std::vector<OfNoKnownType> x(kNumbers);
  handle.protect(0, numbers).value();
  handle.protect(0, x).value();  // nothing is known of it any more
  handle.restore_regions("app", {0}).value();
  handle.describe(0, "x").value();
  EXPECT_EQ(handle.was_restored(0).value(), true);
  EXPECT_EQ(handle.was_restored(1).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(handle.set_optional(1).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(handle.renamed("a", "a").error().code, PERDURE_INVALID_ARGUMENT);
}

}  // namespace
