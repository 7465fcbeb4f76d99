// These tests use arrays of the C++ veneer, over the real library; ranks are threads.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <numeric>

#include "perdure/perdure.hpp"
#include "support/thread_group.hpp"

namespace {

struct Body {
  double position[3];
  std::int32_t kind;
};

/// ElementType has no specialisation for it.
struct Unknown {
  double value;
};

}  // namespace

template <>
struct perdure::ElementType<Body> {
  static constexpr const char* text = "{position:3f8,kind:i4,v4}";
};

namespace {

using perdure::Array;
using perdure::indices;

class Arrays : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/perdure-cpp-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// The work of a rank, with its number.
  using Work = std::function<void(perdure::Handle&, std::uint64_t rank)>;
  void run(int ranks, const Work& work) {
    perdure::test_support::ThreadGroup group(ranks);
    group.run([&](const perdure_communicator& c) {
      auto handle = perdure::open(c, settings());
      ASSERT_TRUE(handle) << handle.error().text;
      work(handle.value(), static_cast<std::uint64_t>(c.rank));
      EXPECT_TRUE(handle.value().close());
    });
  }
  static void good(const perdure::Status& status) { EXPECT_TRUE(status) << (status ? "" : status.error().text); }
  static void restores(perdure::Handle& handle) {
    const auto restored = handle.restore("app");
    EXPECT_TRUE(restored) << (restored ? "" : restored.error().text);
  }
  static void expect_refused(const perdure::Status& status, const std::string& part) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(status.error().text.find("region 7"), 0U) << status.error().text;
    EXPECT_NE(status.error().text.find(part), std::string::npos) << status.error().text;
  }
  std::string settings() const {
    return "store.path=" + directory_ + "/store;node.path=" + directory_ + "/node;tier.file.path=" + directory_ +
           "/file;tier.memory.max_bytes=64MiB;node.ranks_per_node=8";
  }
  std::string directory_;
};

TEST_F(Arrays, ComeBackOnOtherNumbersOfRanks) {
  const Array field{"field", indices(13, 9), {}, false, "K", "of a test"};
  const std::uint64_t line = 11;  // with a frame cell on either side
  for (const int ranks : {3, 1, 4, 2}) {
    run(ranks, [&](perdure::Handle& handle, std::uint64_t rank) {
      const auto rows = handle.share_of(13).value();
      std::vector<double> memory((rows.size() + 2) * line, -1.0);
      const auto cells =
          perdure::View<double, 2>(memory, {rows.size() + 2, line}).part({1, 1}, {rows.size(), std::uint64_t{9}});
      const auto at = [&](std::uint64_t i, std::uint64_t j) -> double& { return memory[(i + 1) * line + j + 1]; };
      const auto value = [&](std::uint64_t i, std::uint64_t j) {
        return static_cast<double>(100 * (rows.begin + i) + j);
      };
      std::int64_t step = 0;
      good(handle.protect_global(1, field, perdure::Box(indices(rows.begin, 0), cells)));
      good(handle.protect_replicated(2, "step", step));
      if (ranks != 3) {
        restores(handle);
        EXPECT_EQ(step, 5);
        for (std::uint64_t i = 0; i < rows.size(); ++i)
          for (std::uint64_t j = 0; j < 9; ++j) EXPECT_EQ(at(i, j), value(i, j)) << i << ", " << j << " of " << rank;
        EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0),
                  static_cast<std::ptrdiff_t>(memory.size() - 9 * rows.size()));
      }
      for (std::uint64_t i = 0; i < rows.size(); ++i)
        for (std::uint64_t j = 0; j < 9; ++j) at(i, j) = value(i, j);
      step = 5;
      good(handle.checkpoint("app", ranks == 3 ? 1 : handle.latest_version("app").value().value_or(0) + 1));
    });
  }
}

TEST_F(Arrays, OfManyBoxesAndOfRanksThatHaveNothing) {
  const Array field{"field", indices(4, 6)};
  for (const int ranks : {2, 3}) {
    run(ranks, [&](perdure::Handle& handle, std::uint64_t rank) {
      float upper[2][6] = {}, lower[2][6] = {};
      const perdure::Box first(indices(0, 0), perdure::View(upper)), second(indices(2, 0), perdure::View(lower));
      if (rank == 0) good(handle.protect_global(1, field, {first, second}));
      if (rank != 0) good(handle.protect_global(1, field, perdure::Box<float>(indices(0, 0), indices(0, 6), nullptr)));
      if (ranks == 3) restores(handle);
      EXPECT_EQ(lower[1][5], ranks == 3 && rank == 0 ? 7.5F : 0.0F);
      lower[1][5] = 7.5F;
      if (ranks == 2) good(handle.checkpoint("app", 1));
    });
  }
}

TEST_F(Arrays, OfListsAreSharedOutEvenly) {
  run(3, [&](perdure::Handle& handle, std::uint64_t rank) {
    std::vector<Body> bodies(rank == 1 ? 0 : 4 + rank);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      bodies[i] = {{0, 0, static_cast<double>(i)}, static_cast<std::int32_t>(10 * rank + i)};
    std::vector<float> tensor(3 * bodies.size(), static_cast<float>(rank)), constants{1, 2, 3};
    good(handle.protect_list(1, {"bodies"}, bodies));
    good(handle.protect_list(2, {"tensor", indices(0, 3)}, tensor));
    good(handle.protect_replicated(3, "constants", constants));
    good(handle.checkpoint("app", 1));
    bodies.resize(bodies.size() + 2);
    good(handle.protect_list(1, {"bodies"}, bodies));
    good(handle.checkpoint("app", 2));
  });
  run(2, [&](perdure::Handle& handle, std::uint64_t rank) {
    std::vector<Body> bodies;
    std::vector<float> tensor, constants;
    good(handle.protect_list(1, {"bodies"}, bodies));
    good(handle.protect_list(2, {"tensor", indices(0, 3)}, tensor));
    good(handle.protect_replicated(3, "constants", constants));
    const auto stored = handle.stored_array("app", 1, 1);
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(stored.value().extents, indices(10));
    EXPECT_EQ(stored.value().name, "bodies");
    EXPECT_EQ(stored.value().type, "{position:3f8,kind:i4,v4}");
    EXPECT_EQ(stored.value().element_bytes, sizeof(Body));
    ASSERT_FALSE(handle.restore("app", 1)) << "together they have registered no rows";
    const auto restored = handle.restore_resizing("app", 1);
    ASSERT_TRUE(restored) << restored.error().text;
    ASSERT_EQ(bodies.size(), 5U);
    ASSERT_EQ(tensor.size(), 15U);
    EXPECT_EQ(bodies[0].kind, rank == 0 ? 0 : 21) << "rows follow each other in the order of the ranks";
    EXPECT_EQ(bodies[4].position[2], rank == 0 ? 0.0 : 5.0);
    EXPECT_EQ(tensor[0], rank == 0 ? 0.0F : 2.0F);
    EXPECT_EQ(constants, (std::vector<float>{1, 2, 3}));
    const auto newest = handle.restore_resizing("app");
    ASSERT_TRUE(newest) << newest.error().text;
    EXPECT_EQ(bodies.size(), 8U);
    good(handle.checkpoint("app", 3));
  });
}

TEST_F(Arrays, OfBlocksHaveTheirGhostsAround) {
  const Array field{"field", indices(8, 8), indices(1, 2), true};
  for (const int ranks : {4, 2}) {
    run(ranks, [&](perdure::Handle& handle, std::uint64_t) {
      const auto mine = handle.block(field).value();
      const std::uint64_t line = mine.extent(1) + 4;
      std::vector<int> memory((mine.extent(0) + 2) * line, -1);
      good(handle.protect_block(1, field, memory));
      const auto value = [&](std::uint64_t i, std::uint64_t j) {
        return static_cast<int>(10 * (mine.begin[0] + i) + mine.begin[1] + j);
      };
      if (ranks == 2) {
        restores(handle);
        for (std::uint64_t i = 0; i < mine.extent(0); ++i)
          for (std::uint64_t j = 0; j < mine.extent(1); ++j) EXPECT_EQ(memory[(i + 1) * line + j + 2], value(i, j));
        EXPECT_NE(std::count(memory.begin(), memory.end(), -1),
                  static_cast<std::ptrdiff_t>(memory.size() - mine.elements()))
            << "ghosts are filled";
      }
      for (std::uint64_t i = 0; i < mine.extent(0); ++i)
        for (std::uint64_t j = 0; j < mine.extent(1); ++j) memory[(i + 1) * line + j + 2] = value(i, j);
      if (ranks == 4) good(handle.checkpoint("app", 1));
    });
  }
}

TEST_F(Arrays, AreDealtOutInBlocks) {
  const Array matrix{"matrix", indices(7, 6)};
  run(2, [&](perdure::Handle& handle, std::uint64_t rank) {
    std::vector<double> mine(rank == 0 ? 24 : 18);  // rows 0-1, 4-5, or 2-3, 6
    std::iota(mine.begin(), mine.end(), 100.0 * static_cast<double>(rank));
    good(handle.protect_block_cyclic(1, matrix, indices(2, 6), mine.data(), indices(2, 1)));
    good(handle.checkpoint("app", 1));
  });
  run(1, [&](perdure::Handle& handle, std::uint64_t) {
    double all[7][6] = {};
    good(handle.protect_global(1, matrix, perdure::Box(indices(0, 0), perdure::View(all))));
    restores(handle);
    EXPECT_EQ(all[1][5], 11.0);
    EXPECT_EQ(all[2][0], 100.0);
    EXPECT_EQ(all[4][0], 12.0);
    EXPECT_EQ(all[6][5], 117.0);
  });
}

TEST_F(Arrays, ThatCannotBeAreRefused) {
  run(1, [&](perdure::Handle& handle, std::uint64_t) {
    const Array field{"field", indices(4, 4)};
    double memory[4][4] = {};
    std::vector<double> few(15), rows(8);
    std::vector<Unknown> unknown(4);
    const perdure::Box all(indices(0, 0), perdure::View(memory));
    Array other = field;
    other.type = "f4";
    expect_refused(handle.protect_global(7, other, all), "'f4' has 4 bytes, its elements in memory have 8");
    other.type = "no type";
    expect_refused(handle.protect_global(7, other, all), "its type cannot be read");
    other = field;
    other.ghosts = indices(1);
    expect_refused(handle.protect_global(7, other, all), "ghosts have not as many dimensions");
    expect_refused(handle.protect_global(7, field, perdure::Box(indices(0), perdure::View(memory))), "dimensions");
    expect_refused(handle.protect_global(7, field, perdure::Box(indices(-1, 0), perdure::View(memory))), "not inside");
    expect_refused(handle.protect_global(7, field, perdure::Box(indices(0, 0), perdure::View<double, 2>(few, {4, 4}))),
                   "has no address");
    expect_refused(
        handle.protect_global(7, field, perdure::Box(indices(0, 0), perdure::View(memory).part({1, 0}, {4, 4}))),
        "has no address");
    expect_refused(handle.protect_block(7, field, few), "has 15 elements, and its block with ghosts 16");
    expect_refused(handle.protect_block(7, field, few, indices(1)), "the grid has not as many dimensions");
    expect_refused(handle.protect_list(7, {"rows", indices(0, 3)}, rows), "no rows of 3");
    expect_refused(handle.protect_list(7, {"rows"}, unknown), "specialise perdure::ElementType");
    expect_refused(handle.protect_replicated(7, Array{"rows", indices(3, 3)}, rows), "of 9 elements, in memory are 8");
    EXPECT_EQ(handle.unprotect(7).error().code, PERDURE_NOT_FOUND) << "nothing refused was registered";
    Array said{"rows"};
    said.type = "{value:f8}";
    good(handle.protect_list(7, said, unknown));
    good(handle.protect_replicated(8, Array{"square", indices(2, 4)}, rows));
    EXPECT_EQ(handle.share_of(0).value().size(), 0U);
    handle.close().value();
    EXPECT_EQ(handle.protect_block(7, field, few).error().code, PERDURE_CLOSED);
    EXPECT_EQ(handle.share_of(5).error().code, PERDURE_CLOSED);
  });
}

TEST_F(Arrays, AndRegionsAreDescribed) {
  run(1, [&](perdure::Handle& handle, std::uint64_t) {
    std::vector<double> own(4);
    handle.protect(1, own).value();
    good(handle.describe(1, "own", "m/s", "what this rank alone has"));
    EXPECT_EQ(handle.describe(2, "other").error().code, PERDURE_NOT_FOUND);
    handle.checkpoint("app", 1).value();
    EXPECT_EQ(handle.stored_array("app", 1, 1).error().code, PERDURE_MISMATCH) << "it is no array";
    own.assign(1, 0.0);
    handle.protect(1, own).value();
    EXPECT_TRUE(handle.restore_resizing("app"));
    EXPECT_EQ(own.size(), 4U);
  });
}

}  // namespace
