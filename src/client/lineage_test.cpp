// A launch gives up only the versions that it wrote or went on from. It says which ones it leaves and which it passes
// over. (ADR 0052)
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Makes these calls fail on paths with this part, until it is mended.
class BrokenCalls : public os::Hooks {
 public:
  BrokenCalls(std::string call, std::string part) : call_(std::move(call)), part_(std::move(part)) {}
  int before(const os::Operation& operation) override {
    return broken_ && operation.call == call_ && operation.path.find(part_) != std::string::npos ? EIO : 0;
  }
  void mend() { broken_ = false; }

 private:
  const std::string call_, part_;
  std::atomic<bool> broken_ = true;
};

/// Launches follow each other over one store and the same nodes.
class Launches : public JobOfThreads {
 protected:
  Launches() { ranks_ = 2, per_node_ = 1, chunks_ = "chunk_bytes=64KiB;"; }
  static constexpr std::size_t kWords = 12000;
  using Work = std::function<void(Session& session, std::uint32_t rank)>;
  void launch(const std::string& name, const Work& work) {
    more_ = "tier.order=file;retention.keep_last=" + std::to_string(keep_last_) + ";" + settings_ + "launch=" + name;
    on_sessions([&](Session& session, std::uint32_t rank) {
      std::vector<std::uint64_t> words(kWords);
      memory(rank) = &words;
      ASSERT_TRUE(session.protect({1, reinterpret_cast<std::byte*>(words.data()), 8, words.size()}));
      work(session, rank);
    });
  }
  std::vector<std::uint64_t>*& memory(std::uint32_t rank) { return memory_.at(rank); }
  /// Writes a version with the content that this value gives.
  base::Status checkpoint(Session& session, std::uint32_t rank, std::int64_t version, std::uint64_t value) {
    for (std::size_t i = 0; i < kWords; ++i) (*memory(rank))[i] = value << 32 | rank << 16 | i;
    return session.checkpoint("run", version);
  }
  void write(Session& session, std::uint32_t rank, std::initializer_list<std::int64_t> versions, std::uint64_t run) {
    for (const std::int64_t version : versions) {
      const auto written = checkpoint(session, rank, version, 1000 * run + static_cast<std::uint64_t>(version));
      ASSERT_TRUE(written) << written.error().text();
    }
    ASSERT_TRUE(session.wait("run", *(versions.end() - 1), PERDURE_LEVEL_STORE, PERDURE_FOREVER));
  }
  void expect_content(std::uint32_t rank, std::uint64_t run, std::uint64_t version) {
    EXPECT_EQ((*memory(rank))[0] >> 32, 1000 * run + version);
  }
  using Stored = std::vector<std::pair<plan::Branch, std::uint64_t>>;
  /// Gives branches and versions, the oldest attempt first.
  Stored stored() const {
    auto listings = store::make_store(directory_ / "store").value()->list("run").value();
    std::sort(listings.begin(), listings.end(),
              [](const auto& a, const auto& b) { return a.id.attempt < b.id.attempt; });
    Stored all;
    for (const auto& listing : listings)
      all.emplace_back(plan::branch_of(listing.id.attempt.nonce), listing.id.version);
    return all;
  }
  std::vector<std::uint64_t> versions_of(plan::Branch branch) const {
    std::vector<std::uint64_t> versions;
    for (const auto& [of, version] : stored())
      if (of == branch) versions.push_back(version);
    return versions;
  }
  static std::string reports(Session& session) {
    std::string all;
    while (const auto report = session.next_report()) all += *report + "\n";
    return all;
  }
  void lose_nodes() const {
    for (const char* part : {"/node", "/file"}) fs::remove_all(directory_.path() + part);
  }

  std::uint64_t keep_last_ = 2;
  std::string settings_;

 private:
  std::array<std::vector<std::uint64_t>*, 2> memory_{};
};

TEST_F(Launches, ThatRestoreNothingKeepTheRunBeforeThemAndSaySo) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {100, 200, 300}, 1); });
  const Stored before = stored();
  ASSERT_EQ(before.size(), 2U) << "retention of its own";
  launch("second", [&](Session& session, std::uint32_t rank) {
    write(session, rank, {10, 20, 30}, 2);
    const std::string told = reports(session);
    const std::string branch = plan::branch_text(before[0].first);
    if (rank == 0) {
      EXPECT_THAT(told, HasSubstr("this start has restored nothing"));
      EXPECT_THAT(told, HasSubstr("run@" + branch + ":300"));
      EXPECT_THAT(told, HasSubstr("perdure prune --branches run"));
    }
  });
  const Stored after = stored();
  ASSERT_EQ(after.size(), 4U);
  EXPECT_EQ(Stored(after.begin(), after.begin() + 2), before);
  EXPECT_NE(after[2].first, before[0].first);
  EXPECT_THAT(versions_of(after[2].first), ElementsAre(20, 30));
  launch("third", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    expect_content(rank, 2, 30);
    write(session, rank, {40}, 3);
    EXPECT_THAT(reports(session), testing::Not(HasSubstr("kept as branch"))) << "it goes on, and leaves nothing";
  });
  EXPECT_THAT(versions_of(after[2].first), ElementsAre(30, 40)) << "the same branch";
  EXPECT_THAT(versions_of(before[0].first), ElementsAre(200, 300));
}

TEST_F(Launches, ThatWriteTheNumbersOfTheRunBeforeThemKeepBoth) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  const plan::Branch first = stored().front().first;
  launch("second", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 2); });
  ASSERT_EQ(stored().size(), 4U);
  lose_nodes();
  launch("third", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", 2, {}));
    expect_content(rank, 2, 2);
    const auto old = session.restore("run", 2, std::nullopt, plan::branch_text(first));
    ASSERT_TRUE(old) << old.error().text();
    expect_content(rank, 1, 2);
    EXPECT_EQ(session.restored()->id.version, 2U);
    EXPECT_EQ(session.restore("run", 2, std::nullopt, "nonsense").error().code, PERDURE_INVALID_ARGUMENT);
    const auto unknown = session.restore("run", PERDURE_LATEST, std::nullopt, "123456");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, PERDURE_MISMATCH) << unknown.error().text();
    EXPECT_THAT(unknown.error().text(), HasSubstr("there is nothing of branch 123456; another branch has run@"));
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, std::nullopt, plan::branch_text(first)));
    write(session, rank, {3}, 3);
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    expect_content(rank, 3, 3);
  });
  EXPECT_THAT(versions_of(first), ElementsAre(2, 3)) << "what goes on with a left branch's newest goes on with it";
}

TEST_F(Launches, ThatAreToRefuseANewStartDoSoUntilTheyRestored) {
  settings_ = "new_start=refuse;";
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  launch("second", [&](Session& session, std::uint32_t rank) {
    const auto refused = checkpoint(session, rank, 3, 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, rank == 0 ? PERDURE_EXISTS : PERDURE_PEER_FAILED);
    if (rank == 0) {
      EXPECT_THAT(refused.error().text(), HasSubstr("new_start is refuse"));
      EXPECT_THAT(refused.error().text(), HasSubstr("restore it first"));
      EXPECT_THAT(refused.error().text(), HasSubstr("perdure forget run"));
    }
    EXPECT_FALSE(checkpoint(session, rank, 3, 2)) << "and again";
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    write(session, rank, {3}, 2);
  });
  const Stored all = stored();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].first, all[1].first);
}

TEST_F(Launches, ThatGoBackForkAndTheNumbersAreFreeAtOnce) {
  keep_last_ = 9;
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2, 3, 4, 5}, 1); });
  const plan::Branch first = stored().front().first;
  launch("second", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", 3, {}));
    write(session, rank, {4}, 2);
    const auto taken = checkpoint(session, rank, 4, 2);
    EXPECT_FALSE(taken) << "its own is not written twice";
    EXPECT_FALSE(checkpoint(session, rank, 3, 2)) << "nor what it went back to";
    if (rank == 0) {
      EXPECT_THAT(reports(session), HasSubstr("run@" + plan::branch_text(first) + ":5"));
    }
  });
  EXPECT_THAT(versions_of(first), ElementsAre(1, 2, 3, 4, 5));
  lose_nodes();
  launch("third", [&](Session& session, std::uint32_t rank) {
    EXPECT_EQ(session.latest("run").value(), 4U);
    const auto only_left = session.restore("run", 5, {});
    ASSERT_FALSE(only_left);
    EXPECT_EQ(only_left.error().code, PERDURE_MISMATCH) << only_left.error().text();
    EXPECT_THAT(only_left.error().text(), HasSubstr("its versions are 1, 2, 3, 4; another branch has"));
    EXPECT_THAT(only_left.error().text(), HasSubstr("run@" + plan::branch_text(first) + ":5"));
    ASSERT_TRUE(session.restore("run", 4, {}));
    expect_content(rank, 2, 4);
    ASSERT_TRUE(session.restore("run", 2, {}));
    expect_content(rank, 1, 2);
    EXPECT_EQ(session.latest("run").value(), 4U) << "what is of the current line does not change it";
  });
}

TEST_F(Launches, ThatGoBackUnderRetentionKeepTheNewestOfBoth) {
  keep_last_ = 4;
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2, 3, 4}, 1); });
  const plan::Branch first = stored().front().first;
  keep_last_ = 2;
  launch("second", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", 1, {}));
    write(session, rank, {2, 3, 4}, 2);
  });
  EXPECT_THAT(versions_of(first), ElementsAre(3, 4));
  EXPECT_THAT(versions_of(stored().back().first), ElementsAre(3, 4));
}

// Then it is unknown whether an earlier run has versions.
TEST_F(Launches, ThatCannotLookAtTheStoreSaySoOrAreRefused) {
  keep_last_ = 2;
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  const plan::Branch first = stored().front().first;
  for (const bool refuses : {true, false}) {
    settings_ = refuses ? "new_start=refuse;" : "";
    BrokenCalls broken("open", "/store/run");
    const test_support::InstalledHooks installed(broken);
    launch(refuses ? "refused" : "second", [&](Session& session, std::uint32_t rank) {
      const auto written = checkpoint(session, rank, 1, 2);
      const std::string why = written ? "" : written.error().text();
      EXPECT_EQ(written.has_value(), !refuses) << why;
      if (refuses && rank == 0) EXPECT_THAT(why, HasSubstr("new_start is refuse"));
      if (!refuses && rank == 0)
        EXPECT_THAT(reports(session), HasSubstr("whether an earlier run has versions cannot be told"));
      broken.mend();
    });
  }
  EXPECT_THAT(versions_of(first), ElementsAre(1, 2));
}

// If its beginning cannot be recorded, the branch's origin counts as another run's.
TEST_F(Launches, WhoseForkCannotBeRecordedKeepAllThatIsOlder) {
  keep_last_ = 2;
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2, 3, 4}, 1); });
  const plan::Branch first = stored().front().first;
  ASSERT_THAT(versions_of(first), ElementsAre(3, 4));
  {
    os::FaultRules broken(*os::parse_fault_rules("pwrite:/.forks:EIO"));
    const test_support::InstalledHooks installed(broken);
    launch("second", [&](Session& session, std::uint32_t rank) {
      ASSERT_TRUE(session.restore("run", 3, {}));
      for (const std::int64_t version : {4, 5}) ASSERT_TRUE(checkpoint(session, rank, version, 2));
      if (rank == 0) {
        EXPECT_THAT(reports(session), HasSubstr("could not be recorded"));
      }
    });
  }
  EXPECT_THAT(versions_of(first), ElementsAre(3, 4));
  launch("third", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    write(session, rank, {6}, 3);
  });
  EXPECT_THAT(versions_of(first), ElementsAre(3, 4));
  EXPECT_THAT(versions_of(stored().back().first), ElementsAre(5, 6));
}

TEST_F(Launches, RecordAForkAtTheirEndIfTheStoreIsBackByThen) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  BrokenCalls broken("pwrite", "/.forks");
  const test_support::InstalledHooks installed(broken);
  launch("second", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", 1, {}));
    write(session, rank, {2}, 2);
    if (rank == 0) {
      EXPECT_THAT(reports(session), HasSubstr("could not be recorded"));
      broken.mend();
    }
  });
  const auto forks = store::forks(*store::make_store(directory_ / "store").value(), "run").value();
  ASSERT_EQ(forks.size(), 1U);
  EXPECT_EQ(forks[0].branch, stored().back().first);
  EXPECT_EQ(forks[0].version, 1U);
}

// A new record would hide that the old one had others.
TEST_F(Launches, LeaveADamagedRecordOfForksAsItIs) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  const plan::Branch first = stored().front().first;
  std::ofstream(directory_ / "store/run/.forks") << "damaged";
  launch("second", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", 1, {}));
    write(session, rank, {2, 3}, 2);
    if (rank == 0) {
      EXPECT_THAT(reports(session), HasSubstr("run/.forks"));
    }
  });
  const auto recorded = store::recorded_forks(*store::make_store(directory_ / "store").value(), "run");
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(versions_of(first), ElementsAre(1, 2)) << "kept as another run's";
}

// As long as all versions are on nodes only, the forks are all that the store knows.
TEST_F(Launches, KnowWhatTheyWentOnFromBeforeAnythingIsStored) {
  keep_last_ = 9;
  BrokenCalls broken("pwrite", "/.tmp-");
  const test_support::InstalledHooks installed(broken);
  launch("only", [&](Session& session, std::uint32_t rank) {
    for (const std::int64_t version : {1, 2, 3}) ASSERT_TRUE(checkpoint(session, rank, version, 1000 + version));
    ASSERT_TRUE(session.restore("run", 1, {}));
    for (const std::int64_t version : {2, 3}) ASSERT_TRUE(checkpoint(session, rank, version, 2000 + version));
    const auto went_on_from = session.restore("run", 1, {});
    EXPECT_TRUE(went_on_from) << went_on_from.error().text();
    ASSERT_TRUE(session.restore("run", 2, {}));
    expect_content(rank, 2, 2);
    ASSERT_TRUE(checkpoint(session, rank, 3, 3003));
    const auto by_two_forks = session.restore("run", 1, {});
    EXPECT_TRUE(by_two_forks) << by_two_forks.error().text();
    expect_content(rank, 1, 1);
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    expect_content(rank, 3, 3);
    if (rank == 0) broken.mend();
    ASSERT_TRUE(session.wait("run", 3, PERDURE_LEVEL_STORE, PERDURE_FOREVER));
  });
}

TEST_F(Launches, ThatRetireAVersionLeaveThatOfALeftBranchAlone) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  const plan::Branch first = stored().front().first;
  launch("second", [&](Session& session, std::uint32_t rank) {
    write(session, rank, {1, 2}, 2);
    ASSERT_TRUE(session.retire("run", 2));
  });
  EXPECT_THAT(versions_of(first), ElementsAre(1, 2));
  EXPECT_THAT(versions_of(stored().back().first), ElementsAre(1));
}

// A number alone would mean that version on all branches.
TEST_F(Launches, RetireNothingAsLongAsNobodyKnowsWhichLineIsMeant) {
  keep_last_ = 9;
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  const plan::Branch first = stored().front().first;
  launch("second", [&](Session& session, std::uint32_t rank) {
    ASSERT_TRUE(session.restore("run", 1, {}));
    write(session, rank, {2}, 2);
  });
  const plan::Branch second = stored().back().first;
  ASSERT_NE(first, second);
  lose_nodes();
  BrokenCalls broken("pread", "/.forks");
  const test_support::InstalledHooks installed(broken);
  launch("third", [&](Session& session, std::uint32_t rank) {
    const auto refused = session.retire("run", 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_IO) << refused.error().text();
    EXPECT_THAT(refused.error().text(), HasSubstr(".forks"));
    if (rank == 0) broken.mend();
  });
  EXPECT_THAT(versions_of(first), ElementsAre(1, 2));
  EXPECT_THAT(versions_of(second), ElementsAre(2));
  launch("fourth", [&](Session& session, std::uint32_t) { ASSERT_TRUE(session.retire("run", 2)); });
  EXPECT_THAT(versions_of(first), ElementsAre(1, 2));
  EXPECT_THAT(versions_of(second), IsEmpty());
}

// A process that has only looked at a name has not restored its state.
TEST_F(Launches, OfOneProcessThatWroteAndRestoredNothingBeginAnew) {
  settings_ = "new_start=refuse;";
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {100, 200}, 1); });
  const plan::Branch first = stored().front().first;
  const auto refused = [&](Session& session, std::uint32_t rank) {
    EXPECT_EQ(session.latest("run").value(), 200U);
    EXPECT_FALSE(checkpoint(session, rank, 10, 2));
  };
  launch("second", refused);
  launch("second", refused);
  settings_ = "";
  launch("second", [&](Session& session, std::uint32_t rank) { write(session, rank, {10, 20, 30}, 2); });
  EXPECT_THAT(versions_of(first), ElementsAre(100, 200));
  EXPECT_THAT(versions_of(stored().back().first), ElementsAre(20, 30));
}

TEST_F(Launches, OfOneProcessThatRestoredGoOnFromThere) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  const plan::Branch first = stored().front().first;
  launch("second", [&](Session& session, std::uint32_t) { ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {})); });
  launch("second", [&](Session& session, std::uint32_t rank) { write(session, rank, {3}, 1); });
  EXPECT_THAT(versions_of(first), ElementsAre(2, 3));
}

TEST_F(Launches, OfOneProcessThatOpensAgainGoOn) {
  launch("one", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2}, 1); });
  launch("one", [&](Session& session, std::uint32_t rank) {
    EXPECT_FALSE(checkpoint(session, rank, 2, 1)) << "it is its own";
    write(session, rank, {3}, 1);
  });
  const Stored all = stored();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].first, all[1].first);
}

TEST_F(Launches, ThatPassOverADamagedVersionSaySoOnAllRanksAndNodes) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {1, 2, 3}, 1); });
  lose_nodes();
  const auto newest = store::make_store(directory_ / "store").value()->list("run").value().back();
  ASSERT_EQ(newest.id.version, 3U);
  const std::string path = directory_ / "store/" + newest.segments[1].path;
  {
    const auto file = os::File::open(path, os::Open::read_write).value();
    ASSERT_TRUE(file.write(5000, base::as_bytes("damage")));
  }
  std::array<std::string, 2> reasons, told;
  launch("second", [&](Session& session, std::uint32_t rank) {
    EXPECT_EQ(session.restored().error().code, PERDURE_NOT_FOUND);
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    expect_content(rank, 1, 2);
    const auto restored = session.restored();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->id.version, 2U);
    EXPECT_EQ(restored->source, 2) << "the store";
    ASSERT_EQ(restored->passed_over.size(), 1U);
    EXPECT_EQ(restored->passed_over[0].id, newest.id);
    reasons[rank] = restored->passed_over[0].why;
    told[rank] = reports(session);
  });
  EXPECT_EQ(reasons[0], reasons[1]);
  EXPECT_FALSE(reasons[0].empty());
  for (const std::string& of_node : told) EXPECT_THAT(of_node, HasSubstr("run version 3 cannot be restored"));
  lose_nodes();
  launch("third", [&](Session& session, std::uint32_t) {
    ASSERT_TRUE(session.restore("run", PERDURE_LATEST, {}));
    ASSERT_EQ(session.restored()->passed_over.size(), 1U) << "it is still passed over";
    EXPECT_THAT(session.restored()->passed_over[0].why, HasSubstr("set aside"));
    ASSERT_TRUE(session.restore("run", 2, {}));
    EXPECT_THAT(session.restored()->passed_over, IsEmpty()) << "the number was asked for";
  });
}

TEST_F(Launches, ThatFindTheirOnlyVersionDamagedDoNotGoOnFromTheRunBefore) {
  launch("first", [&](Session& session, std::uint32_t rank) { write(session, rank, {100}, 1); });
  const plan::Branch first = stored().front().first;
  launch("second", [&](Session& session, std::uint32_t rank) { write(session, rank, {10}, 2); });
  lose_nodes();
  const auto listings = store::make_store(directory_ / "store").value()->list("run").value();
  ASSERT_EQ(listings.front().id.version, 10U);
  {
    const auto file =
        os::File::open(directory_ / "store/" + listings.front().segments[0].path, os::Open::read_write).value();
    ASSERT_TRUE(file.write(5000, base::as_bytes("damage")));
  }
  for (const char* name : {"third", "fourth"})
    launch(name, [&](Session& session, std::uint32_t rank) {
      const auto refused = session.restore("run", PERDURE_LATEST, {});
      ASSERT_FALSE(refused) << "of the run before: " << session.restored()->id.text();
      EXPECT_EQ(refused.error().code, PERDURE_CORRUPT) << refused.error().text();
      EXPECT_THAT(refused.error().text(), HasSubstr("run@" + plan::branch_text(first) + ":100"));
      ASSERT_TRUE(session.restore("run", PERDURE_LATEST, std::nullopt, plan::branch_text(first)));
      expect_content(rank, 1, 100);
    });
}

}  // namespace
}  // namespace perdure::client
