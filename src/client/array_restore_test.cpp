// Arrays that other ranks wrote, as many or fewer or more, come back element by element.
#include "client/array_restore.hpp"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <optional>

#include "array/any_boxes_testing.hpp"
#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"

namespace perdure::client {
namespace {

using segment::ArrayKind;

/// The value of a test's element: its number in the array, and the version in which it was captured.
std::int64_t value_of(const array::Box& whole, const array::Index& index, std::int64_t version) {
  std::int64_t number = version << 40;
  std::int64_t place = 0;
  for (unsigned d = 0; d < whole.dimensions; ++d)
    place = place * static_cast<std::int64_t>(whole.extent(d)) + static_cast<std::int64_t>(index[d]);
  return number + place;
}

/// One rank's part of an array of i8, in memory of its own.
class Part {
 public:
  Part(const array::Box& whole, std::vector<array::Box> boxes, ArrayKind kind = ArrayKind::global)
      : whole_(whole), kind_(kind) {
    for (auto& box : boxes)
      if (!box.empty()) boxes_.push_back(box);
    std::uint64_t elements = 0;
    for (const auto& box : boxes_) elements += box.elements();
    memory_.assign(elements + 1, -1);
  }
  base::Status protect(Session& session, std::int32_t id, const std::string& name = "field") {
    return protect_as(session, id,
                      {{name, "", ""}, array::ElementType::parse("i8", "test").value(), kind_, whole_, {}});
  }
  base::Status protect_as(Session& session, std::int32_t id, segment::ArrayEntry array) {
    std::vector<capture::OwnedBox> owned;
    std::uint64_t at = 0;
    for (auto box : boxes_) {
      const std::uint64_t elements = box.elements();
      if (kind_ == ArrayKind::list) box.end[0] -= std::exchange(box.begin[0], 0);
      owned.push_back({box, reinterpret_cast<std::byte*>(memory_.data() + at)});
      at += elements;
    }
    if (kind_ == ArrayKind::list) array.whole.end[0] = owned.empty() ? 0 : owned.front().box.end[0];
    const bool stores = kind_ != ArrayKind::replicated || session.rank() == 0;
    auto part = capture::ArrayPart::make(id, std::move(array), {}, owned, stores);
    return part ? session.protect(capture::region_of(*part)) : base::fail(part.error());
  }
  template <class Use>
  void each(Use use) {
    std::uint64_t at = 0;
    for (const auto& box : boxes_)
      array::each_element(box, [&](const array::Index& index) { use(memory_[at++], index); });
  }
  void fill(std::int64_t version) {
    each([&](std::int64_t& value, const array::Index& index) { value = value_of(whole_, index, version); });
  }
  /// Counts the elements that are not those of the version.
  std::uint64_t wrong(std::int64_t version) {
    std::uint64_t wrong = 0;
    each([&](std::int64_t& value, const array::Index& index) {
      wrong += value == value_of(whole_, index, version) ? 0 : 1;
    });
    return wrong + (memory_.back() == -1 ? 0 : 1);
  }
  std::vector<std::int64_t>& memory() { return memory_; }

 private:
  array::Box whole_;
  std::vector<array::Box> boxes_;
  ArrayKind kind_;
  std::vector<std::int64_t> memory_;
};

array::Box box_of(std::vector<std::pair<std::uint64_t, std::uint64_t>> sides) {
  array::Box box;
  for (const auto& [begin, end] : sides) box.begin[box.dimensions] = begin, box.end[box.dimensions++] = end;
  return box;
}

class ArrayRestores : public JobOfThreads {
 protected:
  /// Opens a session of a job of so many ranks on every rank, does `work`, and closes it if it ends well.
  void run(int ranks, const std::function<void(Session&)>& work, bool closes = true) {
    test_support::ThreadGroup group(ranks);
    group.run([&](const perdure_communicator& c) {
      auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      work(**session);
      if (closes) {
        EXPECT_TRUE((*session)->close());
      }
    });
  }
  /// Draws an array of some elements, and of several chunks if `least` is large.
  static array::Box array_of(array::AnyBoxes& any, std::uint64_t least) {
    for (;;) {
      const auto box = any.array(60);
      if (box.elements() >= least && box.elements() < 60'000) return box;
    }
  }
  static void good(const base::Status& status) { EXPECT_TRUE(status) << status.error().text(); }
  /// Stores each rank's part, as region 1 of a version that is at the store.
  static void store_part(Session& session, Part part, std::int64_t version) {
    good(part.protect(session, 1));
    part.fill(version);
    good(session.checkpoint("app", version));
    good(session.wait("app", version, PERDURE_LEVEL_STORE, -1));
  }
};

TEST_F(ArrayRestores, ComeBackOnAnyNumberOfRanks) {
  per_node_ = 64;
  for (std::uint64_t seed = 1; seed <= test_support::unless_sanitized(12U, 4U); ++seed) {
    SCOPED_TRACE(seed);
    array::AnyBoxes any(seed);
    const auto first = array_of(any, 1), second = array_of(any, 20'000);
    const auto list = box_of({{0, 1 + any.below(500)}, {0, 1 + any.below(3)}});
    const auto shared = box_of({{0, 1 + any.below(100)}});
    const std::string name = "app" + std::to_string(seed);
    int ranks = static_cast<int>(1 + any.below(6));
    for (int launch = 0; launch < 3; ++launch) {
      const auto of = static_cast<std::uint64_t>(ranks);
      const auto firsts = any.division(first, of), seconds = any.division(second, of);
      std::vector<std::uint64_t> rows{0, list.extent(0)};
      for (std::uint64_t r = 1; r < of; ++r) rows.push_back(any.below(list.extent(0) + 1));
      std::sort(rows.begin(), rows.end());
      const bool closes = any.chance();
      run(
          ranks,
          [&](Session& session) {
            const auto r = session.rank();
            Part one(first, firsts[r]), two(second, seconds[r]), same(shared, {shared}, ArrayKind::replicated);
            Part mine(list, {box_of({{rows[r], rows[r + 1]}, {0, list.extent(1)}})}, ArrayKind::list);
            good(one.protect(session, 1, "one"));
            good(two.protect(session, 2, "two"));
            good(mine.protect(session, 3, "list"));
            good(same.protect(session, 4, "shared"));
            if (launch > 0) {
              good(session.restore(name, -1, std::nullopt));
              for (Part* part : {&one, &two, &mine, &same}) EXPECT_EQ(part->wrong(launch), 0U) << "rank " << r;
            }
            for (Part* part : {&one, &two, &mine, &same}) part->fill(launch + 1);
            good(session.checkpoint(name, launch + 1));
          },
          closes);
      ranks = static_cast<int>(1 + any.below(6));
    }
  }
}

TEST_F(ArrayRestores, ComeFromTheStoreWhereNodesHaveNothing) {
  const auto whole = box_of({{0, 300}, {0, 70}});
  const auto part_of = [&](const Session& session) {
    return Part(whole, {array::block(whole, array::even_grid(whole, session.ranks()), session.rank())});
  };
  run(
      4, [&](Session& session) { store_part(session, part_of(session), 1); }, false);
  for (const int ranks : {1, 3, 7, 4})
    run(ranks, [&](Session& session) {
      Part part = part_of(session);
      good(part.protect(session, 1));
      good(session.restore("app", 1, std::nullopt));
      EXPECT_EQ(part.wrong(1), 0U);
      perdure_progress progress{};
      good(session.progress(progress));
      EXPECT_EQ(progress.restore_source, 2) << "the store";
    });
}

/// Counts the bytes that a rank hears of others while `ranks` of them restore an array that ten stored. Its label has
/// the given length.
class HearAtRestore : public ArrayRestores {
 protected:
  std::uint64_t heard(const std::string& name, int ranks, std::size_t description) {
    const auto whole = box_of({{0, 300}, {0, 70}});
    const segment::ArrayEntry array{{"field", "", std::string(description, 'd')},
                                    array::ElementType::parse("i8", "test").value(),
                                    ArrayKind::global,
                                    whole,
                                    {}};
    const auto part_of = [&](std::uint64_t rank, std::uint64_t of) {
      return Part(whole, {array::block(whole, array::even_grid(whole, of), rank)});
    };
    run(10, [&](Session& session) {
      Part part = part_of(session.rank(), 10);
      good(part.protect_as(session, 1, array));
      part.fill(1);
      good(session.checkpoint(name, 1));
    });
    std::atomic<std::uint64_t> most = 0;
    test_support::ThreadGroup group(ranks);
    group.run([&](const perdure_communicator& c) {
      unsigned count = 0;
      std::uint64_t heard = 0;
      auto session = Session::open(
          std::make_unique<comm::CountingCommunicator>(comm::make_from_c(c).value(), count, &heard), options().c_str());
      ASSERT_TRUE(session) << session.error().text();
      Part part = part_of((*session)->rank(), static_cast<std::uint64_t>(ranks));
      good(part.protect_as(**session, 1, array));
      heard = 0;
      good((*session)->restore(name, 1, std::nullopt));
      if (c.rank == 0) most = heard;
      EXPECT_EQ(part.wrong(1), 0U);
      EXPECT_TRUE((*session)->close());
    });
    return most;
  }
};

TEST_F(HearAtRestore, WhatAnArrayIsOnceAndNotOfEachRank) {
  per_node_ = 64;
  const std::uint64_t with_short = heard("short", 7, 0), with_long = heard("long", 7, 1000);
  EXPECT_LE(with_long, with_short + 3 * 1024) << "rank 0's declaration and the leader's";
}

class CountsReads final : public os::Hooks {
 public:
  explicit CountsReads(std::string ending) : ending_(std::move(ending)) {}
  void after(const os::Operation& operation, int error_number) override {
    if (std::string_view(operation.call) == "pread" && error_number == 0 && operation.path.ends_with(ending_))
      bytes_ += operation.target.size();
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const std::string ending_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

// Both ranks need each chunk. All 21 of them would have no room in the tiers: a chunk of 1 MiB takes 2 MiB of memory.
TEST_F(ArrayRestores, ThatSeveralRanksNeedComeFromTheStoreInRounds) {
  const auto whole = box_of({{0, 2600}, {0, 1024}});
  const auto rows = [&](std::uint64_t rank, std::uint64_t ranks) {
    return Part(whole, {box_of({{2600 * rank / ranks, 2600 * (rank + 1) / ranks}, {0, 1024}})});
  };
  const auto columns = [&](std::uint64_t rank, std::uint64_t ranks) {
    return Part(whole, {box_of({{0, 2600}, {1024 * rank / ranks, 1024 * (rank + 1) / ranks}})});
  };
  chunks_ = "chunk_bytes=1MiB;";
  more_ = "tier.file.max_bytes=2MiB";
  run(2, [&](Session& session) { store_part(session, rows(session.rank(), 2), 1); });
  ASSERT_GT(std::filesystem::remove_all(directory_ / "node"), 0U);
  CountsReads reads(".pds");
  test_support::InstalledHooks counting(reads);
  run(2, [&](Session& session) {
    Part part = columns(session.rank(), 2);
    good(part.protect(session, 1));
    good(session.restore("app", 1, std::nullopt));
    EXPECT_EQ(part.wrong(1), 0U);
    perdure_progress progress{};
    good(session.progress(progress));
    EXPECT_EQ(progress.restore_source, 2) << "the store";
  });
  const std::uint64_t all = whole.elements() * sizeof(std::int64_t);
  EXPECT_GE(reads.bytes(), all);
  EXPECT_LT(reads.bytes(), all + base::MiB) << "no chunk is read twice";
}

TEST_F(ArrayRestores, HaveShortChunksUnlessTheirLengthWasChosen) {
  const auto whole = box_of({{0, 2}, {0, 1'200'000}});  // 9.6 MB on each of two ranks
  const auto chunks_of = [&](std::int64_t version) {
    std::vector<std::uint64_t> lengths;
    run(2, [&](Session& session) {
      store_part(
          session,
          Part(whole, {box_of({{static_cast<std::uint64_t>(session.rank()), session.rank() + 1U}, {0, 1'200'000}})}),
          version);
    });
    const auto store = store::make_store(directory_ / "store", {}).value();
    const auto listings = store->list("app").value();
    for (const auto& listing : listings) {
      if (listing.id.version != static_cast<std::uint64_t>(version)) continue;
      for (const auto& ref : listing.segments) {
        const auto manifest = segment::read_manifest(*store->open(ref).value()).value();
        for (const auto& piece : manifest.pieces)
          for (const auto& chunk : piece.chunks) lengths.push_back(chunk.length);
      }
    }
    return lengths;
  };
  constexpr std::uint64_t kAll = 9'600'000, kShort = 4 * base::MiB;
  chunks_ = "";
  EXPECT_EQ(chunks_of(1),
            (std::vector<std::uint64_t>{kShort, kShort, kAll - 2 * kShort, kShort, kShort, kAll - 2 * kShort}));
  chunks_ = "chunk_bytes=8MiB;";
  EXPECT_EQ(chunks_of(2), (std::vector<std::uint64_t>{2 * kShort, kAll - 2 * kShort, 2 * kShort, kAll - 2 * kShort}));
}

TEST_F(ArrayRestores, FillGhostsWhereThatIsAskedFor) {
  const auto whole = box_of({{0, 40}, {0, 30}});
  run(4, [&](Session& session) {
    Part part(whole, {array::block(whole, array::even_grid(whole, 4), session.rank())});
    good(part.protect(session, 1));
    part.fill(1);
    good(session.checkpoint("app", 1));
  });
  for (const int ranks : {4, 3})
    run(ranks, [&](Session& session) {
      const auto mine = array::block(whole, array::even_grid(whole, session.ranks()), session.rank());
      const auto wide = array::widened(mine, {2, 1}, whole);
      const std::uint64_t columns = mine.extent(1) + 2;
      std::vector<std::int64_t> memory((mine.extent(0) + 4) * columns, -1);
      auto array = segment::ArrayEntry{
          {"field", "", ""}, array::ElementType::parse("i8", "test").value(), ArrayKind::global, whole, {}};
      const auto at = [&](const array::Index& index) -> std::int64_t& {
        return memory[(index[0] + 2 - mine.begin[0]) * columns + index[1] + 1 - mine.begin[1]];
      };
      const auto part = capture::ArrayPart::make(1, array, {{2, 1}, true},
                                                 {{mine, reinterpret_cast<std::byte*>(&at(mine.begin))}}, true);
      good(session.protect(capture::region_of(part.value())));
      good(session.restore("app", -1, std::nullopt));
      std::uint64_t filled = 0;
      array::each_element(wide, [&](const array::Index& index) {
        EXPECT_EQ(at(index), value_of(whole, index, 1));
        ++filled;
      });
      EXPECT_EQ(static_cast<std::uint64_t>(std::count(memory.begin(), memory.end(), -1)), memory.size() - filled);
    });
}

TEST_F(ArrayRestores, BesideMemoryOfRanksNeedAsManyRanks) {
  const auto whole = box_of({{0, 100}});
  const auto rows = [&](std::uint64_t rank, std::uint64_t ranks, std::uint64_t skew) {  // other boxes, as many ranks
    const auto edge = [&](std::uint64_t r) { return r == 0 || r == ranks ? r * 100 / ranks : r * 100 / ranks + skew; };
    return box_of({{edge(rank), edge(rank + 1)}});
  };
  run(4, [&](Session& session) {
    Part part(whole, {rows(session.rank(), 4, 0)});
    std::vector<std::int64_t> own(50, session.rank());
    good(part.protect(session, 1));
    good(session.protect({2, reinterpret_cast<std::byte*>(own.data()), 8, own.size()}));
    good(session.regions().set_label(2, {"seeds", "", ""}));
    part.fill(1);
    good(session.checkpoint("app", 1));
  });
  run(4, [&](Session& session) {
    Part part(whole, {rows(session.rank(), 4, 3)});
    std::vector<std::int64_t> own(50, -1);
    good(part.protect(session, 1));
    good(session.protect({2, reinterpret_cast<std::byte*>(own.data()), 8, own.size()}));
    good(session.restore("app", -1, std::nullopt));
    EXPECT_EQ(part.wrong(1), 0U);
    EXPECT_EQ(own, std::vector<std::int64_t>(50, session.rank()));
  });
  run(2, [&](Session& session) {
    Part part(whole, {rows(session.rank(), 2, 0)});
    std::vector<std::int64_t> own(50, -1);
    good(part.protect(session, 1));
    good(session.protect({2, reinterpret_cast<std::byte*>(own.data()), 8, own.size()}));
    good(session.regions().set_label(2, {"seeds", "", ""}));
    const auto refused = session.restore("app", -1, std::nullopt);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_MISMATCH) << refused.error().text();
    EXPECT_NE(refused.error().text().find("region 2 'seeds' is memory of one rank"), std::string::npos)
        << refused.error().text();
    const std::vector<std::int32_t> only{1};
    good(session.restore("app", -1, std::span(only)));
    EXPECT_EQ(part.wrong(1), 0U);
    EXPECT_EQ(own, std::vector<std::int64_t>(50, -1));
  });
}

TEST_F(ArrayRestores, MemoryOfOneRankIsTakenOneByOne) {
  const auto own = [](std::uint32_t rank) { return std::vector<std::int64_t>(20'000 + rank, 1000 + rank); };
  run(5, [&](Session& session) {
    auto memory = own(session.rank());
    std::vector<std::int64_t> before(session.rank(), 7);  // so that it does not begin with a chunk
    good(session.protect({1, reinterpret_cast<std::byte*>(before.data()), 8, before.size()}));
    good(session.protect({2, reinterpret_cast<std::byte*>(memory.data()), 8, memory.size()}));
    good(session.checkpoint("app", 1));
  });
  for (const int ranks : {2, 5, 7})
    run(ranks, [&](Session& session) {
      const auto part = [&](std::uint32_t of, std::vector<std::int64_t>& memory, std::int32_t id = 2) {
        return session.restore_part("app", -1, of, {id, reinterpret_cast<std::byte*>(memory.data()), 8, memory.size()});
      };
      for (std::uint32_t i = 0; i < 5; ++i) {
        const std::uint32_t of = (i + session.rank() / 2) % 5;  // two ranks ask for the same
        std::vector<std::int64_t> memory(20'000 + of, -1);
        good(part(of, memory));
        EXPECT_EQ(memory, own(of));
      }
      std::vector<std::int64_t> wrong(3, -1), right(20'000, -1);
      const bool odd = session.rank() == 1;
      const auto refused = [&](const base::Status& status, const std::string& told) {
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().code, PERDURE_MISMATCH) << "on all ranks";
        EXPECT_NE(status.error().text().find("app version 1, rank 1: " + told), std::string::npos)
            << status.error().text();
      };
      refused(part(odd ? 5 : 0, right), "app version 1: it has 5 ranks, and none of number 5");
      refused(part(0, odd ? wrong : right), "region 2 of rank 0: it was stored as 20000 elements of 8 bytes");
      refused(part(0, right, odd ? 3 : 2), "region 3 of rank 0: it is not part of app version 1");
      EXPECT_EQ(right, std::vector<std::int64_t>(20'000, -1)) << "nothing was touched";
      if (ranks != 5) return;
      // A region protected under another number is asked for by that number.
      good(session.protect({9, reinterpret_cast<std::byte*>(right.data()), 8, right.size()}));
      good(session.regions().set_label(9, {"own", "", ""}));
      good(session.regions().changes().rename("2", "own"));
      std::vector<std::int64_t> memory(20'000, -1);
      good(part(0, memory, 9));
      EXPECT_EQ(memory, own(0));
      EXPECT_EQ(right[0], -1) << "and stays as it is";
    });
}

TEST_F(ArrayRestores, ThatDoNotFitSayWhichRegionAndWhy) {
  const auto whole = box_of({{0, 100}});
  const auto block = [&](const Session& session, const array::Box& of) {
    return array::block(of, array::even_grid(of, session.ranks()), session.rank());
  };
  run(3, [&](Session& session) {
    Part part(whole, {block(session, whole)});
    good(part.protect(session, 1));
    part.fill(1);
    good(session.checkpoint("app", 1));
    EXPECT_EQ(session.stored_array("app", -1, 1).value().whole, whole);
    EXPECT_EQ(session.stored_array("app", -1, 2).error().code, PERDURE_MISMATCH);
    EXPECT_EQ(session.stored_array("other", -1, 1).error().code, PERDURE_NOT_FOUND);
  });
  run(2, [&](Session& session) {
    const auto longer = box_of({{0, 101}});
    Part part(longer, {block(session, longer)});
    good(part.protect(session, 1));
    const auto refused = session.restore("app", -1, std::nullopt);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_MISMATCH);
    EXPECT_NE(refused.error().text().find("[0:100]"), std::string::npos) << refused.error().text();
    good(session.unprotect(1));
    Part other(whole, {block(session, whole)});
    good(other.protect(session, 7, "other"));
    const auto renamed = session.restore("app", -1, std::nullopt);
    ASSERT_FALSE(renamed);
    EXPECT_EQ(renamed.error().code, PERDURE_MISMATCH);
    EXPECT_NE(
        renamed.error().text().find("app version 1, rank 0: it does not fit what is protected: region 7 'other' is "
                                    "protected and not stored; region 1 'field' is stored and not protected"),
        std::string::npos)
        << renamed.error().text();
    EXPECT_EQ(session.stored_array("app", -1, 1).value().whole, whole);
  });
}

// A program that learns sizes first asks for the latest before anything is protected.
TEST_F(ArrayRestores, AreTheLatestAlsoWhereNothingIsProtectedYet) {
  const auto whole = box_of({{0, 100}});
  const auto block = [&](const Session& session) {
    return array::block(whole, array::even_grid(whole, session.ranks()), session.rank());
  };
  for (const unsigned per_node : {64U, 1U}) {
    SCOPED_TRACE(per_node);
    per_node_ = per_node;
    const std::string name = "app" + std::to_string(per_node);
    const auto store_by = [&](int ranks, std::int64_t version, bool with_own) {
      run(ranks, [&](Session& session) {
        Part part(whole, {block(session)});
        good(part.protect(session, 1));
        if (version > 1) good(session.restore(name, -1, std::vector<std::int32_t>{1}));
        std::int64_t own = version;
        if (with_own) good(session.protect({2, reinterpret_cast<std::byte*>(&own), 8, 1}));
        part.fill(version);
        good(session.checkpoint(name, version));
      });
    };
    const auto expect_latest = [&](int ranks, std::uint64_t version) {
      run(ranks, [&](Session& session) {
        const auto latest = session.latest(name);
        ASSERT_TRUE(latest) << latest.error().text();
        EXPECT_EQ(*latest, version) << ranks;
        const auto refused = session.restore(name, -1, std::nullopt);
        ASSERT_FALSE(refused) << "nothing of it is protected";
        EXPECT_EQ(refused.error().code, PERDURE_MISMATCH) << refused.error().text();
        Part part(whole, {block(session)});
        good(part.protect(session, 1));
        good(session.restore(name, static_cast<std::int64_t>(version), std::vector<std::int32_t>{1}));
        EXPECT_EQ(part.wrong(static_cast<std::int64_t>(version)), 0U);
      });
    };
    store_by(2, 1, true);
    run(3, [&](Session& session) {
      const auto latest = session.latest(name);
      ASSERT_FALSE(latest) << "memory of one rank needs as many";
      EXPECT_EQ(latest.error().code, PERDURE_MISMATCH);
      EXPECT_NE(latest.error().text().find("written by 2 ranks, this run has 3, and region 2 is memory of one rank"),
                std::string::npos)
          << latest.error().text();
    });
    store_by(3, 2, false);
    expect_latest(2, 2);  // version 1 does not count, although as many ranks wrote it
    expect_latest(3, 2);
    store_by(2, 3, true);
    expect_latest(2, 3);
    expect_latest(3, 2);
  }
}

// Names decide, on any number of ranks, and declared changes take effect.
TEST_F(ArrayRestores, FindArraysByTheirNamesAndTakeChangesThatAreDeclared) {
  const auto whole = box_of({{0, 100}});
  const auto block = [&](const Session& session) {
    return array::block(whole, array::even_grid(whole, session.ranks()), session.rank());
  };
  run(3, [&](Session& session) {
    Part x(whole, {block(session)}), y(whole, {block(session)}), old(whole, {block(session)});
    good(x.protect(session, 0, "x"));
    good(y.protect(session, 1, "y"));
    good(old.protect(session, 2, "old"));
    x.fill(1);
    y.fill(2);
    old.fill(3);
    good(session.checkpoint("app", 1));
  });
  for (const int ranks : {3, 2, 5})
    run(ranks, [&](Session& session) {
      Part x(whole, {block(session)}), z(whole, {block(session)}), fresh(whole, {block(session)});
      good(z.protect(session, 0, "z"));
      good(x.protect(session, 1, "x"));
      good(fresh.protect(session, 5, "fresh"));
      EXPECT_EQ(session.restore("app", -1, std::nullopt).error().code, PERDURE_MISMATCH);
      good(session.regions().changes().rename("y", "z"));
      EXPECT_EQ(session.restore("app", -1, std::nullopt).error().code, PERDURE_MISMATCH);
      good(session.regions().changes().pass_over("old"));
      EXPECT_EQ(session.restore("app", -1, std::nullopt).error().code, PERDURE_MISMATCH);
      EXPECT_EQ(x.wrong(1), x.memory().size() - 1) << "nothing was touched";
      good(session.regions().set_optional(5, true));
      good(session.restore("app", -1, std::nullopt));
      EXPECT_EQ(x.wrong(1), 0U);
      EXPECT_EQ(z.wrong(2), 0U);
      EXPECT_EQ(fresh.memory(), std::vector<std::int64_t>(fresh.memory().size(), -1)) << "as it was";
      EXPECT_TRUE(session.regions().find(0)->restored);
      EXPECT_FALSE(session.regions().find(5)->restored);
      EXPECT_EQ(session.stored_array("app", -1, 0).value().label.name, "y") << "which z is now";
      EXPECT_EQ(session.stored_array("app", -1, 5).error().code, PERDURE_MISMATCH);
      EXPECT_EQ(session.stored_array("app", -1, 2).value().label.name, "old") << "not protected: by its number";
    });
}

// On other numbers of ranks no rank has a region of its own.
TEST_F(ArrayRestores, MayHaveMemoryOfOneRankBesideThemThatMayBeAbsent) {
  const auto whole = box_of({{0, 100}});
  const auto life = [&](int ranks, bool first, bool optional) {
    run(ranks, [&](Session& session) {
      Part part(whole, {array::block(whole, array::even_grid(whole, session.ranks()), session.rank())});
      const std::int64_t mine = session.rank();
      std::vector<std::int64_t> own(50, first ? mine : -1);
      good(part.protect(session, 1));
      good(session.protect({2, reinterpret_cast<std::byte*>(own.data()), 8, own.size()}));
      good(session.regions().set_optional(2, optional));
      if (first) {
        part.fill(1);
        good(session.checkpoint("app", 1));
        return;
      }
      const auto restored = session.restore("app", -1, std::nullopt);
      EXPECT_EQ(restored.has_value(), optional || ranks == 3);
      EXPECT_EQ(part.wrong(1) == 0, restored.has_value());
      EXPECT_EQ(own[49], ranks == 3 ? mine : -1);
      EXPECT_EQ(session.regions().find(2)->restored, ranks == 3);
    });
  };
  life(3, true, false);
  life(2, false, false);
  life(2, false, true);
  life(3, false, true);
}

// The two nodes have no network: one of them has the other's data from the store only.
TEST_F(ArrayRestores, WhoseSegmentIsDamagedAreBroughtToTheStoreAgainByTheNodeThatHasThem) {
  const auto whole = box_of({{0, 300}, {0, 70}});
  const auto rows = [&](std::uint64_t rank) { return Part(whole, {box_of({{75 * rank, 75 * rank + 75}, {0, 70}})}); };
  const auto columns = [&](std::uint64_t rank) {
    return Part(whole, {box_of({{0, 300}, {70 * rank / 4, 70 * (rank + 1) / 4}})});
  };
  for (const bool all_segments : {false, true}) {
    const std::int64_t version = all_segments ? 2 : 1;
    {
      // Engines that end leave everything in place, because the store refused another name.
      os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store/other" + ":ENOSPC"));
      const test_support::InstalledHooks installed(full);
      run(
          4,
          [&](Session& session) {
            Part part = rows(session.rank());
            good(part.protect(session, 1));
            part.fill(version);
            good(session.checkpoint("app", version));
            good(session.wait("app", version, PERDURE_LEVEL_STORE, -1));
            good(session.checkpoint("other", version));
          },
          false);
    }
    const auto store = store::make_store(directory_ / "store").value();
    const auto written = store->list("app").value();
    for (const auto& listing : written)
      for (const auto& segment : listing.segments) {
        if (listing.id.version != static_cast<std::uint64_t>(version) || (!all_segments && segment.index != 0))
          continue;
        const auto file = os::File::open(directory_ / "store/" + segment.path, os::Open::read_write).value();
        ASSERT_TRUE(file.write(300, std::vector<std::byte>(1, std::byte{7})));
      }
    run(
        4,
        [&](Session& session) {
          Part part = columns(session.rank());
          good(part.protect(session, 1));
          good(session.restore("app", -1, std::nullopt));
          EXPECT_EQ(part.wrong(version), 0U) << "rank " << session.rank();
        },
        false);
    EXPECT_EQ(store->set_aside("app")->size(), all_segments ? 3U : 1U);
    const auto mended = store->list("app").value();
    for (const auto& listing : mended) EXPECT_TRUE(store::read_version(*store, listing));
  }
}

class ArraysOfLostNodes : public ArrayRestores {
 protected:
  /// Four nodes of two ranks write a version that the store never gets; then node `lost` is gone, if there is one.
  void write_and_lose(const std::string& scheme, std::optional<int> lost) {
    more_ = "redundancy.scheme=" + scheme;
    run(
        8,
        [&](Session& session) {
          Part part = part_of(session), same(shared_, {shared_}, ArrayKind::replicated);
          good(part.protect(session, 1));
          good(same.protect(session, 2));
          part.fill(1);
          same.fill(1);
          good(session.checkpoint("app", 1));
          good(session.wait("app", 1, PERDURE_LEVEL_NODE, 60));
        },
        false);
    if (lost) lose_node(*lost);
  }
  Part part_of(const Session& session) const {
    return {whole_, {array::block(whole_, array::even_grid(whole_, session.ranks()), session.rank())}};
  }
  /// Restores on so many ranks from the nodes' data. Returns how many ranks got something from other nodes.
  int restored_on(int ranks, const std::string& nodes = "") {
    const std::string scheme = more_;
    if (!nodes.empty()) more_ += ";node.numbers=" + nodes;
    const int from_nodes = restored(ranks);
    more_ = scheme;
    return from_nodes;
  }
  int restored(int ranks) {
    std::atomic<int> from_nodes = 0;
    run(
        ranks,
        [&](Session& session) {
          Part part = part_of(session), same(shared_, {shared_}, ArrayKind::replicated);
          good(part.protect(session, 1));
          good(same.protect(session, 2));
          good(session.restore("app", 1, std::nullopt));
          EXPECT_EQ(part.wrong(1), 0U) << session.rank();
          EXPECT_EQ(same.wrong(1), 0U) << session.rank();
          perdure_progress progress{};
          good(session.progress(progress));
          EXPECT_EQ(progress.restore_source & 2, 0) << "the store has nothing";
          if ((progress.restore_source & 4) != 0) ++from_nodes;
          good(session.wait("app", 1, PERDURE_LEVEL_PROCESS, -1));  // no engine ends before all have asked it
        },
        false);
    return from_nodes;
  }
  array::Box whole_ = box_of({{0, 400}, {0, 300}}), shared_ = box_of({{0, 100}});

 private:
  os::FaultRules full_{*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC")};
  test_support::InstalledHooks no_store_{full_};
};

TEST_F(ArraysOfLostNodes, ComeFromOtherNodes) {
  write_and_lose("partner", std::nullopt);
  EXPECT_GT(restored_on(7), 0) << "other boxes on the same nodes";
  EXPECT_GT(restored_on(6, "3,1,0"), 0) << "three nodes, in another order: the fourth one's pieces are rebuilt";
  EXPECT_EQ(restored_on(8), 6) << "each rank has its own piece, but for what is equal on all and on one node";
}

TEST_F(ArraysOfLostNodes, AreRebuiltByXor) {
  write_and_lose("xor", 1);
  EXPECT_GT(restored_on(6, "0,2,3"), 0);
  EXPECT_GT(restored_on(5, "3,0,2"), 0);
}

TEST_F(ArraysOfLostNodes, AreRebuiltByReedSolomonAndOnANewNode) {
  write_and_lose("reed-solomon", 2);
  EXPECT_GT(restored_on(4, "0,3"), 0) << "two more are missing, which is as many as the scheme can do without";
  EXPECT_GT(restored_on(8), 0) << "a new node stands in";
}

// The rank that has most has chunks of 8 MiB, the others of 4.
TEST_F(ArraysOfLostNodes, WhoseRanksHaveChunksOfOtherLengthsAreRebuilt) {
  chunks_ = "";
  more_ = "redundancy.scheme=xor;tier.memory.max_bytes=1GiB";
  const auto whole = box_of({{0, 9'000'000}});
  const auto rows = [&](std::uint64_t rank, std::uint64_t ranks) {
    const std::uint64_t first = ranks == 4 ? 8'700'000 : 3'000'000, each = (9'000'000 - first) / (ranks - 1);
    return rank == 0 ? box_of({{0, first}}) : box_of({{first + each * (rank - 1), first + each * rank}});
  };
  per_node_ = 1;
  run(
      4,
      [&](Session& session) {
        Part part(whole, {rows(session.rank(), 4)});
        good(part.protect(session, 1));
        part.fill(1);
        good(session.checkpoint("app", 1));
        good(session.wait("app", 1, PERDURE_LEVEL_NODE, 60));
      },
      false);
  lose_node(0);
  more_ += ";node.numbers=1,2,3";
  run(
      3,
      [&](Session& session) {
        Part part(whole, {rows(session.rank(), 3)});
        good(part.protect(session, 1));
        good(session.restore("app", 1, std::nullopt));
        EXPECT_EQ(part.wrong(1), 0U);
        good(session.wait("app", 1, PERDURE_LEVEL_PROCESS, -1));
      },
      false);
}

TEST_F(ArraysOfLostNodes, AndMemoryOfRanksElsewhereIsHadByAnyRank) {
  more_ = "redundancy.scheme=partner";
  run(
      8,
      [&](Session& session) {
        std::vector<std::int64_t> own(30'000, session.rank());
        good(session.protect({2, reinterpret_cast<std::byte*>(own.data()), 8, own.size()}));
        good(session.checkpoint("app", 1));
        good(session.wait("app", 1, PERDURE_LEVEL_NODE, 60));
      },
      false);
  lose_node(1);
  more_ += ";node.numbers=0,2,3";
  run(
      6,
      [&](Session& session) {
        for (std::uint32_t i = 0; i < 8; ++i) {
          const std::uint32_t of = (i + session.rank()) % 8;
          std::vector<std::int64_t> memory(30'000, -1);
          good(session.restore_part("app", 1, of, {2, reinterpret_cast<std::byte*>(memory.data()), 8, memory.size()}));
          EXPECT_EQ(memory, std::vector<std::int64_t>(30'000, of)) << "rank " << session.rank();
        }
      },
      false);
}

// Without a network a node cannot get data of another one: it is stored first.
TEST_F(ArrayRestores, OnSeveralNodesWithoutANetworkComeFromTheStoreAndAreNotPassedOver) {
  const auto whole = box_of({{0, 90'000}}), shared = box_of({{0, 10}});
  const auto rows = [&](std::uint64_t rank, std::uint64_t ranks, std::uint64_t skew) {
    const auto edge = [&](std::uint64_t r) {
      return r == 0 || r == ranks ? r * 90'000 / ranks : r * 90'000 / ranks + skew;
    };
    return box_of({{edge(rank), edge(rank + 1)}});
  };
  more_ = "flush.max_bandwidth=400KiB";  // so that version 2 is on its way when its ranks are gone
  const auto each = [&](Session& session, std::uint64_t skew, const std::function<void(Part&, Part&)>& use) {
    Part part(whole, {rows(session.rank(), session.ranks(), skew)}), same(shared, {shared}, ArrayKind::replicated);
    good(part.protect(session, 1));
    good(same.protect(session, 2));
    use(part, same);
  };
  run(
      4,
      [&](Session& session) {
        each(session, 0, [&](Part& part, Part& same) {
          for (const std::int64_t version : {1, 2}) {
            part.fill(version);
            same.fill(version);
            good(session.checkpoint("app", version));
          }
        });
      },
      false);
  more_ = "";
  for (const int ranks : {4, 3})
    run(
        ranks,
        [&](Session& session) {
          each(session, 7, [&](Part& part, Part& same) {
            EXPECT_EQ(session.latest("app").value(), 2U);
            good(session.restore("app", -1, std::nullopt));
            EXPECT_EQ(part.wrong(2), 0U);
            EXPECT_EQ(same.wrong(2), 0U);
            good(session.wait("app", 2, PERDURE_LEVEL_PROCESS, -1));  // no engine ends before all have asked it
          });
        },
        false);
}

TEST_F(ArrayRestores, OfAnotherKindAreGathered) {
  const auto whole = box_of({{0, 30'000}}), other = box_of({{0, 2}});
  run(2, [&](Session& session) {
    Part part(whole, session.rank() == 1 ? std::vector{whole} : std::vector<array::Box>{});
    Part behind(other, {box_of({{session.rank(), session.rank() + 1}})});
    good(part.protect(session, 1));
    good(behind.protect(session, 2));
    part.fill(1);
    behind.fill(1);
    good(session.checkpoint("app", 1));
  });
  run(2, [&](Session& session) {
    Part part(whole, {whole}, ArrayKind::replicated), behind(other, {box_of({{session.rank(), session.rank() + 1}})});
    good(part.protect(session, 1));
    good(behind.protect(session, 2));
    good(session.restore("app", -1, std::nullopt));
    EXPECT_EQ(part.wrong(1), 0U) << session.rank();
    EXPECT_EQ(behind.wrong(1), 0U) << session.rank();
  });
}

TEST_F(ArrayRestores, BesideAnotherCallAreRefused) {
  const auto whole = box_of({{0, 10}});
  run(2, [&](Session& session) {
    Part part(whole, {box_of({{5 * session.rank(), 5 * session.rank() + 5}})});
    good(part.protect(session, 1));
    good(session.checkpoint("app", 1));
    std::int64_t memory = 0;
    const auto done = session.rank() == 0
                          ? session.restore("app", 1, std::nullopt)
                          : session.restore_part("app", 1, 0, {2, reinterpret_cast<std::byte*>(&memory), 8, 1});
    EXPECT_EQ(done.error().code, PERDURE_MISMATCH) << done.error().text();
  });
}

/// A capture whose description no program can give: bytes of zero under these entries.
class Says : public capture::Source {
 public:
  explicit Says(std::vector<segment::RegionEntry> entries) : entries_(std::move(entries)) {}
  base::Result<capture::Description> describe() override {
    capture::Description described{entries_, 0};
    for (const auto& entry : entries_) described.bytes += entry.bytes();
    return described;
  }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override {
    return take(std::vector<std::byte>(range.length));
  }

 private:
  std::vector<segment::RegionEntry> entries_;
};

class SpoiltArrays : public ArrayRestores {
 protected:
  static segment::ArrayEntry stored(const array::Box& whole, const array::Box& box) {
    return {{"field", "", ""}, array::ElementType::parse("i8", "test").value(), ArrayKind::global, whole, {box}};
  }
  segment::VersionId write_boxes(Job& job, const array::Box& whole, const array::Box& box) {
    const auto id = attempt_at(job, 1);
    Says source({segment::entry_of(1, stored(whole, box)).value()});
    VersionWriter writer(job, source);
    EXPECT_TRUE(agree(job.comm(), stage(writer, id)));
    EXPECT_TRUE(writer.commit());
    return id;
  }
  /// A rank that is about to read its box of version 1.
  struct Wanting {
    Wanting(Job& job, const array::Box& whole, const array::Box& mine) : memory(mine.elements(), -1), reader(job) {
      auto array = stored(whole, whole);
      array.boxes.clear();
      const auto part =
          capture::ArrayPart::make(1, array, {}, {{mine, reinterpret_cast<std::byte*>(memory.data())}}, true);
      EXPECT_TRUE(regions.protect(capture::region_of(part.value())));
      Opening opening{Operation::restore, "app", 1};
      opening.regions.arrays = true;
      EXPECT_TRUE(reader.choose(opening, {}));
    }
    std::vector<std::int64_t> memory;
    capture::RegionTable regions;
    VersionReader reader;
    const std::vector<std::int32_t> ids{1};
  };
};

TEST_F(SpoiltArrays, WithAHoleBehindAnOverlapOfItsSizeAreRefused) {
  const auto whole = box_of({{0, 100}});
  ranks_ = 2;
  on_ranks([&](Job& job) { wait_for_store(job, write_boxes(job, whole, box_of({{0, 50}}))); });
  run(3, [&](Session& session) {
    Part part(whole, {array::block(whole, array::even_grid(whole, 3), session.rank())});
    good(part.protect(session, 1));
    const auto restored = session.restore("app", 1, std::nullopt);
    ASSERT_FALSE(restored);
    if (session.rank() == 0) {
      EXPECT_NE(restored.error().text().find("is stored twice"), std::string::npos) << restored.error().text();
    }
  });
}

// Four nodes stored the array. Each needs its own part again, and the last one a bit of the part before.
TEST_F(SpoiltArrays, KeepTheBoxesThatTouchTheirNode) {
  const auto whole = box_of({{0, 8'000}});
  ranks_ = 4;
  per_node_ = 1;
  on_ranks([&](Job& job) {
    const std::uint64_t begin = 2'000 * job.rank();
    wait_for_store(job, write_boxes(job, whole, box_of({{begin, begin + 2'000}})));
    Wanting want(job, whole, box_of({{job.rank() == 3 ? begin - 10 : begin, begin + 2'000}}));
    ArrayRestore arrays(job, want.reader, want.regions, {want.ids, false});
    ASSERT_TRUE(arrays.describe());
    EXPECT_EQ(arrays.boxes_kept(), 0U);
    good(arrays.read());
    EXPECT_EQ(arrays.boxes_kept(), job.rank() == 3 ? 2U : 1U);
    EXPECT_TRUE(std::all_of(want.memory.begin(), want.memory.end(), [](std::int64_t value) { return value == 0; }));
    want.reader.release();
  });
}

TEST_F(SpoiltArrays, LeaveNoGuestsBehind) {
  const auto whole = box_of({{0, 60'000}});
  const auto rows = [&](std::uint64_t rank, std::uint64_t ranks) {
    return box_of({{whole.extent(0) * rank / ranks, whole.extent(0) * (rank + 1) / ranks}});
  };
  segment::VersionId id;
  ranks_ = 2;
  per_node_ = 8;
  on_ranks([&](Job& job) {
    const auto written = write_boxes(job, whole, rows(job.rank(), 2));
    wait_for_store(job, written);
    if (job.rank() == 0) id = written;
  });
  // Damages the third chunk of rank 1, which ranks 3 and 4 share, behind the four of rank 0. By then other chunks have
  // been lent.
  const std::uint64_t second = 4096 + base::round_up(240'000, 4096);
  const auto path = std::filesystem::recursive_directory_iterator(directory_ / "store");
  for (const auto& entry : path) {
    if (entry.path().extension() != ".pds") continue;
    const auto file = os::File::open(entry.path(), os::Open::read_write).value();
    std::vector<std::byte> byte{std::byte{1}};
    ASSERT_TRUE(file.write(second + 2 * kChunk + 8, byte));
  }
  ranks_ = 5;
  on_ranks([&](Job& job) {
    Wanting want(job, whole, rows(job.rank(), 5));
    ArrayRestore arrays(job, want.reader, want.regions, {want.ids, false});
    ASSERT_TRUE(arrays.describe());
    EXPECT_FALSE(arrays.read());
    want.reader.release();
    ASSERT_TRUE(job.comm().barrier());
    const auto left = job.engine().channel().call(ipc::ListGuests{id});
    ASSERT_TRUE(left);
    EXPECT_TRUE(left->guests.empty());
  });
}

/// Rows of 4 ranks whose slots are damaged, read as columns: all ranks need each of the chunks.
class DamagedSlots : public SpoiltArrays {
 protected:
  void read_columns(bool stored,
                    const std::function<void(const base::Status&, const std::vector<std::int64_t>&)>& judge) {
    ranks_ = 4;
    per_node_ = 8;
    const auto whole = box_of({{0, 240}, {0, 250}});
    on_ranks([&](Job& job) {
      const std::uint64_t r = job.rank();
      const auto id = write_boxes(job, whole, box_of({{60 * r, 60 * r + 60}, {0, 250}}));
      if (stored) wait_for_store(job, id);
      for (const std::size_t chunk : {0, 1}) damage_slot(job, id, job.rank(), chunk);
      ASSERT_TRUE(job.comm().barrier());
      Wanting want(job, whole, box_of({{0, 240}, {250 * r / 4, 250 * (r + 1) / 4}}));
      ArrayRestore arrays(job, want.reader, want.regions, {want.ids, false});
      ASSERT_TRUE(arrays.describe());
      const auto read = arrays.read();
      judge(read, want.memory);
      want.reader.release();
    });
  }
};

TEST_F(DamagedSlots, AreNoticedByAllWhoReadThem) {
  read_columns(true, [](const base::Status& read, const std::vector<std::int64_t>& memory) {
    good(read);
    EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](std::int64_t value) { return value == 0; }));
  });
}

TEST_F(DamagedSlots, OfWhatIsNowhereElseAreRefused) {
  os::FaultRules full{*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC")};
  test_support::InstalledHooks no_store{full};
  read_columns(false, [](const base::Status& read, const std::vector<std::int64_t>&) { EXPECT_FALSE(read); });
}

/// Bad memory: the bytes that a thread has read from a segment change when it has written a part of them into a slot.
class SpoilsWhatIsLent final : public os::Hooks {
 public:
  static constexpr std::size_t kFirstPart = 256 << 10;  // so much of it is written at once
  void after(const os::Operation& operation, int error_number) override {
    if (std::string_view(operation.call) == "pread" && error_number == 0 && operation.path.ends_with(".pds"))
      read_ = operation.target;
  }
  int before(const os::Operation& operation) override {
    if (std::string_view(operation.call) != "pwrite" || operation.path.ends_with(".pds")) return 0;
    if (operation.data.size() != kFirstPart || read_.size() <= kFirstPart) return 0;
    read_.back() ^= std::byte{1};
    read_ = {};
    ++spoilt_;
    return 0;
  }
  unsigned spoilt() const { return spoilt_; }

 private:
  static thread_local base::ByteSpan read_;
  std::atomic<unsigned> spoilt_ = 0;
};
thread_local base::ByteSpan SpoilsWhatIsLent::read_;

TEST_F(SpoiltArrays, WhatIsAnotherThingInASlotIsNotLent) {
  const auto whole = box_of({{0, 512}, {0, 512}});
  const auto rows = [&](std::uint64_t rank) { return box_of({{256 * rank, 256 * rank + 256}, {0, 512}}); };
  chunks_ = "chunk_bytes=1MiB;";
  more_ = "tier.order=file;store.direct=false";
  run(2, [&](Session& session) { store_part(session, Part(whole, {rows(session.rank())}), 1); });
  ASSERT_GT(std::filesystem::remove_all(directory_ / "node"), 0U);
  SpoilsWhatIsLent hooks;
  const test_support::InstalledHooks spoiling(hooks);
  ranks_ = 2;
  per_node_ = 8;
  on_ranks([&](Job& job) {
    const auto columns = box_of({{0, 512}, {256 * job.rank(), 256 * job.rank() + 256}});
    Wanting want(job, whole, columns);
    ArrayRestore arrays(job, want.reader, want.regions, {want.ids, false});
    ASSERT_TRUE(arrays.describe());
    const auto read = arrays.read();
    EXPECT_TRUE(read) << read.error().text();
    std::size_t at = 0;
    array::each_element(columns, [&](const array::Index& index) {
      if (want.memory[at++] != value_of(whole, index, 1)) ADD_FAILURE() << "element " << at;
    });
    want.reader.release();
  });
  EXPECT_GT(hooks.spoilt(), 0U);
}

// The guest changes, as if another handle restored the same version and released its guests.
TEST_F(SpoiltArrays, AGuestThatIsNotWhatItWasIsNoDamageOfTheVersion) {
  const auto whole = box_of({{0, 8'000}});
  segment::VersionId id;
  ranks_ = 1;
  per_node_ = 8;
  on_ranks([&](Job& job) {
    id = write_boxes(job, whole, whole);
    wait_for_store(job, id);
  });
  ranks_ = 4;
  on_ranks([&](Job& job) {
    Wanting want(job, whole, box_of({{2'000 * job.rank(), 2'000 * job.rank() + 2'000}}));
    ipc::Channel& engine = job.engine().channel();
    if (job.rank() == 0) {
      ASSERT_TRUE(engine.call(ipc::GrantGuest{id, 0, 0, 64'000}));
      ASSERT_TRUE(engine.call(ipc::GuestWritten{id, 0, 0, 64'000, {1, 2}}));
    }
    ASSERT_TRUE(job.comm().barrier());
    ArrayRestore arrays(job, want.reader, want.regions, {want.ids, false});
    ASSERT_TRUE(arrays.describe());
    const auto read = arrays.read();
    ASSERT_FALSE(read) << "else it was not read";
    EXPECT_TRUE(read.error().code == PERDURE_UNAVAILABLE || read.error().code == PERDURE_PEER_FAILED)
        << read.error().text();
    if (job.rank() == 0) {
      ASSERT_TRUE(engine.call(ipc::ReleaseGuests{id}));
    }
    ASSERT_TRUE(job.comm().barrier());
    ArrayRestore again(job, want.reader, want.regions, {want.ids, false});
    ASSERT_TRUE(again.describe());
    EXPECT_TRUE(again.read());
    want.reader.release();
  });
}

/// Returns the error of a checkpoint whose ranks declare `parts(rank)`; the same on all.
class Declarations : public ArrayRestores {
 protected:
  std::string refusal(int ranks, const std::function<void(Session&, std::vector<std::unique_ptr<Part>>&)>& declare) {
    std::vector<std::string> texts(static_cast<std::size_t>(ranks));
    const std::int64_t version = ++versions_;
    run(ranks, [&](Session& session) {
      std::vector<std::unique_ptr<Part>> parts;
      declare(session, parts);
      const auto done = session.checkpoint("app", version);
      texts[session.rank()] = done ? "good" : done.error().text();
      EXPECT_EQ(done ? PERDURE_MISMATCH : done.error().code, PERDURE_MISMATCH) << texts[session.rank()];
    });
    for (const auto& text : texts) EXPECT_EQ(text, texts[0]);
    return texts[0];
  }
  std::int64_t versions_ = 0;
  enum class Values { equal, different };
  std::string refusal_of(std::vector<std::vector<array::Box>> boxes, const array::Box& whole,
                         Values values = Values::equal) {
    return refusal(static_cast<int>(boxes.size()), [&](Session& session, auto& parts) {
      parts.push_back(std::make_unique<Part>(whole, boxes[session.rank()]));
      parts.back()->fill(values == Values::equal ? 1 : 1 + session.rank());
      good(parts.back()->protect(session, 3));
    });
  }
};

TEST_F(Declarations, WithHolesOrOverlapsAreRefusedWithTheFirstPlace) {
  per_node_ = 8;
  const auto whole = box_of({{0, 10}, {0, 10}});
  const auto rows = [](std::uint64_t begin, std::uint64_t end) { return box_of({{begin, end}, {0, 10}}); };
  EXPECT_EQ(refusal_of({{rows(0, 4)}, {rows(4, 9)}, {rows(9, 10)}}, whole), "good");
  EXPECT_NE(refusal_of({{rows(0, 4)}, {rows(5, 9)}, {rows(9, 10)}}, whole).find("no rank has [4:5, 0:10]"),
            std::string::npos);
  const auto hole = refusal_of({{rows(0, 4)}, {rows(4, 8)}, {}}, whole);
  EXPECT_NE(hole.find("region 3 'field': no rank has [8:10, 0:10] of the array [0:10, 0:10]"), std::string::npos)
      << hole;
  EXPECT_EQ(refusal_of({{rows(0, 4)}, {rows(4, 9)}, {rows(8, 10)}}, whole), "good");
  const auto both = refusal_of({{rows(0, 4)}, {rows(4, 9)}, {rows(8, 10)}}, whole, Values::different);
  EXPECT_NE(both.find("region 3 'field': rank 1 and rank 2 both have [8:9, 0:10], with other values"),
            std::string::npos)
      << both;
  const auto behind = refusal_of({{rows(0, 6)}, {rows(2, 4)}, {rows(7, 10)}}, whole, Values::different);
  EXPECT_NE(behind.find("no rank has [6:7, 0:10]"), std::string::npos) << behind;
  EXPECT_NE(refusal_of({{rows(0, 4), rows(3, 4)}, {rows(4, 10)}}, whole).find("rank 0 has it twice"),
            std::string::npos);
}

TEST_F(Declarations, OfScalarsHaveAnOwner) {
  const array::Box scalar;
  EXPECT_EQ(refusal_of({{scalar}, {}}, scalar), "good");
  EXPECT_NE(refusal_of({{}, {}}, scalar).find("no rank has"), std::string::npos);
  EXPECT_EQ(refusal_of({{scalar}, {scalar}}, scalar), "good");
  EXPECT_NE(refusal_of({{scalar}, {scalar}}, scalar, Values::different).find("both have"), std::string::npos);
}

TEST_F(Declarations, OfWhatSeveralRanksHaveAreStoredOnceAndComeBackOnAllOfThem) {
  per_node_ = 8;
  for (std::uint64_t seed = 1; seed <= test_support::unless_sanitized(8U, 3U); ++seed) {
    array::AnyBoxes any(seed);
    const auto whole = array_of(any, 2'000);
    const std::string name = "shared" + std::to_string(seed);
    int ranks = static_cast<int>(2 + any.below(4));
    for (std::int64_t launch = 1; launch <= 3; ++launch) {
      std::vector<array::Box> boxes;
      for (int r = 0; r < ranks; ++r) {
        array::Index more{};
        for (unsigned d = 0; d < whole.dimensions; ++d) more[d] = any.below(1 + whole.extent(d) / 2);
        const auto block = array::block(whole, array::even_grid(whole, static_cast<std::uint64_t>(ranks)),
                                        static_cast<std::uint64_t>(r));
        boxes.push_back(block.empty() ? whole : array::widened(block, more, whole));
      }
      run(ranks, [&](Session& session) {
        Part part(whole, {boxes[session.rank()]});
        good(part.protect(session, 1));
        if (launch > 1) {
          good(session.restore(name, -1, std::nullopt));
          EXPECT_EQ(part.wrong(launch - 1), 0U) << "seed " << seed << ", rank " << session.rank();
        }
        part.fill(launch);
        good(session.checkpoint(name, launch));
        if (launch == 3) good(session.wait(name, launch, PERDURE_LEVEL_STORE, -1));
      });
      ranks = static_cast<int>(1 + any.below(5));
    }
    const auto store = store::make_store(directory_.path() + "/store", {});
    ASSERT_TRUE(store) << store.error().text();
    const auto listings = (*store)->list(name);
    ASSERT_TRUE(listings) << listings.error().text();
    const auto last =
        std::find_if(listings->begin(), listings->end(), [](const auto& one) { return one.id.version == 3; });
    ASSERT_NE(last, listings->end());
    const auto manifests = store::read_version(**store, *last);
    ASSERT_TRUE(manifests) << manifests.error().text();
    std::uint64_t stored = 0;
    for (const auto& manifest : *manifests)
      for (const auto& piece : manifest.pieces) stored += piece.capture_bytes();
    EXPECT_EQ(stored, whole.elements() * 8) << "each element is stored once";
  }
}

TEST_F(Declarations, OfWhatSeveralRanksHaveAreComparedAtEveryCheckpoint) {
  const auto whole = box_of({{0, 12}, {0, 5}});
  run(3, [&](Session& session) {
    const auto rank = session.rank();
    const auto rows = [](std::uint64_t begin, std::uint64_t end) { return box_of({{begin, end}, {0, 5}}); };
    Part wide(whole, {rows(rank == 0 ? 0 : 4 * rank - 2, rank == 2 ? 12 : 4 * rank + 6)});
    Part own(whole, {rows(4 * rank, 4 * rank + 4)});
    good(wide.protect(session, 1));
    wide.fill(1);
    good(session.checkpoint("app", 1));
    wide.fill(2);
    if (rank == 2) wide.memory()[7] = 0;  // [7, 2], which rank 1 has, too
    const auto refused = session.checkpoint("app", 2);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text().find("rank 1 and rank 2 both have [6:10, 0:5], with other values"),
              std::string::npos)
        << refused.error().text();
    Part other(whole, {rows(rank == 0 ? 0 : 4 * rank - 2, rank == 2 ? 12 : 4 * rank + 6)});
    good(other.protect(session, 1));  // the same boxes, as in the other buffer of two
    other.fill(2);
    good(session.checkpoint("app", 2));
    good(own.protect(session, 1));
    good(session.restore("app", 2, std::nullopt));
    EXPECT_EQ(own.wrong(2), 0U) << "what lower ranks have is stored twice, or not at all";
    good(wide.protect(session, 1));
    // Rank 0 has only its own now: rank 1 stores its elements itself.
    if (rank == 0) good(own.protect(session, 1));
    own.fill(3), wide.fill(3);
    good(session.checkpoint("app", 3));
    good(own.protect(session, 1));
    own.fill(9), wide.fill(9);
    good(session.restore("app", 3, std::nullopt));
    EXPECT_EQ(own.wrong(3), 0U);
    own.fill(4);
    good(session.checkpoint("app", 4));
    good(wide.protect(session, 1));
    for (const std::int64_t version : {3, 4}) {
      good(session.restore("app", version, std::nullopt));
      EXPECT_EQ(wide.wrong(version), 0U) << version;
    }
  });
}

TEST_F(Declarations, ThatDifferAmongRanksNameBothRanks) {
  const auto whole = box_of({{0, 10}});
  const auto as = [&](std::uint32_t odd, const std::function<void(segment::ArrayEntry&)>& change) {
    return refusal(4, [&](Session& session, auto& parts) {
      parts.push_back(std::make_unique<Part>(
          whole, std::vector<array::Box>{array::block(whole, array::even_grid(whole, 4), session.rank())}));
      segment::ArrayEntry array{
          {"field", "", ""}, array::ElementType::parse("i8", "test").value(), ArrayKind::global, whole, {}};
      if (session.rank() == odd) change(array);
      good(parts.back()->protect_as(session, 3, array));
    });
  };
  const auto type = as(2, [](auto& a) { a.type = array::ElementType::parse("f8", "test").value(); });
  EXPECT_NE(type.find("rank 0 and rank 2 say otherwise of its element type: 'i8' and 'f8'"), std::string::npos) << type;
  EXPECT_NE(as(3, [](auto& a) { a.whole.end[0] = 11; }).find("rank 3"), std::string::npos);
  EXPECT_NE(as(1, [](auto& a) { a.label.name = "fields"; }).find("its name"), std::string::npos);
  EXPECT_NE(as(0, [](auto& a) { a.label.unit = "K"; }).find("rank 0 and rank 1"), std::string::npos);
  const auto absent = refusal(3, [&](Session& session, auto& parts) {
    for (const std::int32_t id : {3, 5}) {
      if (id == 5 && session.rank() == 1) continue;
      parts.push_back(
          std::make_unique<Part>(whole, session.rank() == 0 ? std::vector{whole} : std::vector<array::Box>{}));
      good(parts.back()->protect(session, id));
    }
  });
  EXPECT_NE(absent.find("region 5 'field': rank 0 has declared it as a part of an array, rank 1 has not"),
            std::string::npos)
      << absent;
  const auto surplus = refusal(3, [&](Session& session, auto& parts) {
    if (session.rank() != 2) return;
    parts.push_back(std::make_unique<Part>(whole, std::vector{whole}));
    good(parts.back()->protect(session, 5));
  });
  EXPECT_NE(surplus.find("rank 2 has declared it as a part of an array, rank 0 has not"), std::string::npos) << surplus;
}

TEST_F(Declarations, OfReplicatedValuesThatAreNotEqualAreRefused) {
  const auto whole = box_of({{0, 10}});
  for (const std::uint32_t odd : {9U, 2U, 0U}) {
    const auto text = refusal(3, [&](Session& session, auto& parts) {
      for (const std::int32_t id : {4, 6}) {
        parts.push_back(std::make_unique<Part>(whole, std::vector{whole}, ArrayKind::replicated));
        parts.back()->fill(1);
        if (session.rank() == odd && id == 6) parts.back()->memory()[5] = 0;
        good(parts.back()->protect(session, id, "constants"));
      }
    });
    if (odd == 9) {
      EXPECT_EQ(text, "good");
    } else {
      EXPECT_NE(text.find("region 6 'constants': it is declared as replicated, but rank 0 and rank " +
                          std::to_string(odd == 0 ? 1 : odd)),
                std::string::npos)
          << text;
    }
  }
}

TEST_F(Declarations, MayBeMendedAndThenCostNothing) {
  const auto whole = box_of({{0, 10}});
  run(2, [&](Session& session) {
    Part wrong(whole, {box_of({{0, 6}})}), half(whole, {box_of({{5 * session.rank(), 5 * session.rank() + 5}})});
    good(wrong.protect(session, 1));
    EXPECT_FALSE(session.checkpoint("app", 1));
    EXPECT_FALSE(session.checkpoint("app", 1)) << "it is still wrong";
    good(half.protect(session, 1));
    half.fill(1);
    good(session.checkpoint("app", 1));
    half.fill(2);
    good(session.checkpoint("app", 2));
    good(session.restore("app", 1, std::nullopt));
    EXPECT_EQ(half.wrong(1), 0U);
  });
}

}  // namespace
}  // namespace perdure::client
