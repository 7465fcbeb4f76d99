// Checkpoints of several nodes come faster than the store takes them. (docs/adr/0050)
#include <gmock/gmock.h>

#include <atomic>

#include "client/ranks_testing.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/stopped_store.hpp"

namespace perdure::client {
namespace {

using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::Le;

/// Two nodes with two ranks each; each node writes a segment of its own.
class FastJob : public JobOfThreads {
 protected:
  struct Held {
    std::size_t most = 0;  ///< versions on this node, after each checkpoint
    void look(Session& session) { most = std::max(most, pending(session)); }
    static std::size_t pending(Session& session) {
      perdure_progress progress{};
      EXPECT_TRUE(session.progress(progress));
      return progress.versions_pending;
    }
  };
  static std::vector<std::byte> state(std::uint32_t rank, std::int64_t version) {
    std::vector<std::byte> all(4096);
    for (std::uint64_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<std::byte>(i * 31 + rank * 7 + static_cast<std::uint64_t>(version) * 13);
    return all;
  }
  /// Returns the versions that the store has completely.
  std::vector<std::uint64_t> stored() const {
    std::vector<std::uint64_t> versions;
    const auto store = store::make_store(directory_ / "store").value();
    const auto listings = store->list("app");
    if (!listings) return versions;
    for (const auto& listing : *listings)
      if (listing.all_present()) versions.push_back(listing.id.version);
    return versions;
  }
  /// Writes version 1, whose flush stops at segments with `part` in their names; then `count` more.
  void run_fast(const std::string& part, std::int64_t count, const std::function<void(Session&, std::uint32_t)>& then) {
    test_support::StoppedStore store(directory_ / "store", part);
    const test_support::InstalledHooks installed(store);
    const struct GoOn {  // whatever fails
      test_support::StoppedStore& store;
      ~GoOn() { store.go_on(); }
    } go_on{store};
    go_on_ = [&store] { store.go_on(); };
    on_sessions([&](Session& session, std::uint32_t rank) {
      std::vector<std::byte> memory;
      Held held;
      for (std::int64_t version = 1; version <= 1 + count; ++version) {
        memory = state(rank, version);
        ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
        ASSERT_TRUE(session.checkpoint("app", version));
        held.look(session);
        if (version == 1)
          ASSERT_TRUE(test_support::eventually("the first flush begins", [&] { return store.waits(); }));
      }
      EXPECT_LE(held.most, most_pending_) << "of " << 1 + count;
      then(session, rank);
    });
    go_on_ = nullptr;
    on_sessions([&](Session& session, std::uint32_t rank) {
      std::vector<std::byte> memory(4096);
      ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
      ASSERT_TRUE(session.restore("app", PERDURE_LATEST, {}));
      EXPECT_EQ(session.restored().value().id.version, static_cast<std::uint64_t>(1 + count));
      EXPECT_TRUE(memory == state(rank, 1 + count));
    });
    EXPECT_THAT(stored(), Contains(static_cast<std::uint64_t>(1 + count))) << "its end brought the newest there";
    EXPECT_THAT(stored(), Contains(static_cast<std::uint64_t>(count))) << "and the one before, as on one node";
  }

  std::function<void()> go_on_;
  std::size_t most_pending_ = 12;
};

TEST_F(FastJob, HoldsFewVersionsHoweverFastTheyCome) {
  run_fast("-of-0002", 60, [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.any(false));  // all ranks are here
    if (rank == 0) go_on_();
  });
  EXPECT_LE(stored().size(), 6U);
}

// Otherwise each node would write a version that the other one lacks.
TEST_F(FastJob, GetsWholeVersionsToTheStoreWhereOneNodeIsSlow) {
  run_fast("-0001-of-0002", 60, [&](Session& session, std::uint32_t rank) {
    EXPECT_TRUE(stored().empty()) << "one of two segments";
    ASSERT_TRUE(session.any(false));
    if (rank == 0) go_on_();
    const auto waited = session.wait("app", 2, PERDURE_LEVEL_STORE, 60);
    ASSERT_TRUE(waited) << "both were to bring it there: " << waited.error().text();
    EXPECT_THAT(stored(), Contains(2U));
  });
}

TEST_F(FastJob, EndsAWaitForAVersionThatWasSkippedWithANewerOne) {
  run_fast("-0001-of-0002", 60, [&](Session& session, std::uint32_t rank) {
    const auto early = session.wait("app", 30, PERDURE_LEVEL_STORE, 0.2);
    ASSERT_FALSE(early) << "nothing newer is there either";
    ASSERT_TRUE(session.any(false));
    if (rank == 0) go_on_();
    const auto waited = session.wait("app", 30, PERDURE_LEVEL_STORE, 60);
    ASSERT_TRUE(waited) << waited.error().text();
    EXPECT_THAT(stored(), Contains(Ge(30U)));
  });
}

TEST_F(FastJob, BringsItsNewestVersionToTheStoreWhenNothingNewerComes) {
  run_fast("-of-0002", 20, [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.any(false));
    if (rank == 0) go_on_();
    EXPECT_TRUE(test_support::eventually("the newest is at the store", [&] {
      const auto whole = stored();
      return std::find(whole.begin(), whole.end(), 21U) != whole.end();
    }));
    ASSERT_TRUE(session.any(false));
  });
}

// The redundancy of skipped versions goes, and level node is still reached.
TEST_F(FastJob, WithRedundancyKeepsWhatItPromised) {
  more_ = "redundancy.scheme=partner;redundancy.group_size=2";
  most_pending_ = 201;  // versions being replicated stay
  run_fast("-of-0002", 200, [&](Session& session, std::uint32_t rank) {
    const auto at_node = session.wait("app", 201, PERDURE_LEVEL_NODE, 60);
    EXPECT_TRUE(at_node) << at_node.error().text();
    ASSERT_TRUE(session.any(false));
    if (rank == 0) go_on_();
  });
}

}  // namespace
}  // namespace perdure::client
