// The tests check which level a version has reached, and retire versions. One node's statement about a version holds
// for no other version and no other node.
#include "client/levels.hpp"

#include <algorithm>

#include "client/kept_redundancy.hpp"
#include "client/ranks_testing.hpp"
#include "os/fault_rules.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/stopped_store.hpp"

namespace perdure::client {
namespace {

class OnTwoNodes : public JobOfThreads {
 protected:
  OnTwoNodes() { per_node_ = 1, ranks_ = 2; }
  static void expect_level(Job& job, std::int64_t version, perdure_level level) {
    const auto reached = level_reached(job, "app", version);
    ASSERT_TRUE(reached) << reached.error().text();
    EXPECT_EQ(*reached, level) << "version " << version;
  }
};

class LevelReached : public OnTwoNodes {
 protected:
  LevelReached() { more_ = "redundancy.scheme=partner"; }
  /// Reports damage, as a reader of this rank's piece would.
  static void damaged(Job& job, const segment::VersionId& id) {
    ASSERT_TRUE(job.engine().channel().call(ipc::Quarantine{id, job.rank(), 0, "its hash is wrong"}));
  }
  /// Waits until this rank's group has it; other groups do not matter.
  static void wait_for_group(Job& job, const segment::VersionId& id) {
    ASSERT_TRUE(test_support::eventually(id.text() + " is at level node in this group", [&] {
      const auto promised = job.engine().channel().call(ipc::AtNodeLevel{"app"});
      EXPECT_TRUE(promised) << promised.error().text();
      if (!promised) return true;
      const auto& all = promised->attempts_ns;
      return std::find(all.begin(), all.end(), id.attempt.created_ns) != all.end();
    }));
    ASSERT_TRUE(job.comm().barrier());
  }
};

TEST_F(LevelReached, IsNotThatOfAnOlderVersion) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 1);
    expect_level(job, 1, PERDURE_LEVEL_PROCESS);
    const auto reached = wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60);
    ASSERT_TRUE(reached) << reached.error().text();
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    write(job, 2);
    expect_level(job, 2, PERDURE_LEVEL_PROCESS);
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    ASSERT_TRUE(wait_level(job, "app", 2, PERDURE_LEVEL_NODE, 60));
    expect_level(job, 2, PERDURE_LEVEL_NODE);
    expect_level(job, 1, PERDURE_LEVEL_PROCESS);  // engines may evict it now
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    expect_level(job, 1, PERDURE_LEVEL_NODE);  // but not from now on
    expect_level(job, 2, PERDURE_LEVEL_NODE);
  });
}

TEST_F(LevelReached, IsLostWithAChunkThatTurnsOutToBeDamaged) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    if (job.rank() == 1) {
      damaged(job, id);
      expect_level(job, 1, PERDURE_LEVEL_PROCESS);
    }
    ASSERT_TRUE(job.comm().barrier());
    write(job, 2);
    expect_level(job, 1, PERDURE_LEVEL_PROCESS);  // rank 0 has heard of it
    EXPECT_FALSE(job.group().wait_node_level(id, 1).value());
  });
}

/// Version 1 is at level node, the store is full, and node 1 is lost.
class RebuiltVersion : public LevelReached {
 protected:
  void SetUp() override {
    LevelReached::SetUp();
    on_ranks([&](Job& job) {
      write(job, 1);
      ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    });
    lose_node(1);
  }
  os::FaultRules full_{*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC")};
  const test_support::InstalledHooks installed_{full_};
};

// The version was not complete when the job began: it counts from its restore on.
TEST_F(RebuiltVersion, IsKnownToBeAtItsLevelAgainWithTheNextCheckpoint) {
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(reader.fetch());
    ASSERT_TRUE(reader.commit_fetched());
    expect_reads(reader, job.rank(), 0, kBytes);
    reader.release();
    ASSERT_TRUE(reader.replicate_again());
    wait_for_group(job, reader.id());
    write(job, 2);
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    ASSERT_TRUE(job.comm().barrier());
  });
}

TEST_F(RebuiltVersion, IsNotTakenForCommittedWhereTheEngineIsGone) {
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader);
    ASSERT_TRUE(reader.fetch());
    if (job.rank() == 1) job.engine().disconnect();
    const auto committed = reader.commit_fetched();
    EXPECT_EQ(committed ? PERDURE_OK : committed.error().code, job.rank() == 1 ? PERDURE_UNAVAILABLE : PERDURE_OK);
  });
}

// Then the call waits for the store, for as long as is left.
TEST_F(LevelReached, IsThatOfTheStoreWhereWhatWasKeptForOthersIsGone) {
  more_ += ";flush.retry_max=0.02";
  os::FaultRules broken(*os::parse_fault_rules("fdatasync:/store/app:EIO"));
  os::FaultRules passing(*os::parse_fault_rules("fdatasync:/store/app:EIO:1:8"));
  const test_support::InstalledHooks installed(broken);
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    ASSERT_TRUE(job.engine().channel().call(ipc::AllStored{2, {{"app", id.attempt.created_ns}}}));
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) os::install_hooks(&passing);
    const auto reached = wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60);
    ASSERT_TRUE(reached) << reached.error().text();
    expect_level(job, 1, PERDURE_LEVEL_STORE);
  });
}

// A version that has left its slots is not replicated, and new groups for it would forget the redundancy of the old
// ones.
TEST_F(LevelReached, IsKeptByOthersWhenAVersionIsRestoredThatIsPartlyInTheStore) {
  more_ += ";tier.order=file;tier.file.max_bytes=640KiB";
  os::FaultRules broken(*os::parse_fault_rules("fdatasync:/store/app:EIO"));
  const test_support::InstalledHooks installed(broken);
  on_ranks([&](Job& job) {
    const auto first = write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    const auto id = write(job, 2);
    const auto held = job.engine().inventory("app").value();
    ASSERT_TRUE(std::any_of(held.begin(), held.end(), [&](const auto& h) { return h.id == id && !h.spilled.empty(); }));
    VersionReader reader(job);
    choose(reader);
    ASSERT_EQ(reader.id(), id);
    ASSERT_TRUE(reader.fetch());
    ASSERT_TRUE(reader.commit_fetched());
    expect_reads(reader, job.rank(), 0, kBytes);
    reader.release();
    ASSERT_TRUE(reader.replicate_again());
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    ASSERT_TRUE(job.comm().barrier());
  });
}

class LevelsOfTwoGroups : public LevelReached {
 protected:
  LevelsOfTwoGroups() {
    ranks_ = 4;
    more_ = "redundancy.scheme=partner;redundancy.group_size=2";
  }
};

// The group of node 0 has versions 1 and 2; that of node 3 has versions 1 and 3. Damage stands for skipping.
TEST_F(LevelsOfTwoGroups, AreThoseThatBothHave) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    const auto second = write(job, 2);
    wait_for_group(job, second);
    if (job.rank() == 3) damaged(job, second);
    ASSERT_TRUE(job.comm().barrier());
    const auto third = write(job, 3);
    wait_for_group(job, third);
    if (job.rank() == 0) damaged(job, third);
    ASSERT_TRUE(job.comm().barrier());
    write(job, 4);
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    expect_level(job, 2, PERDURE_LEVEL_PROCESS);
    expect_level(job, 3, PERDURE_LEVEL_PROCESS);
    ASSERT_TRUE(job.comm().barrier());
  });
  for (const int node : {1, 2}) lose_node(node);
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader, 1);
    const auto fetched = reader.fetch();
    ASSERT_TRUE(fetched) << fetched.error().text();
    ASSERT_TRUE(reader.commit_fetched());
    expect_reads(reader, job.rank(), 0, kBytes);
    reader.release();
  });
}

// Version 1 was superseded, and its redundancy is gone on some nodes: it is made anew, and stays.
TEST_F(LevelsOfTwoGroups, OfAVersionThatTheJobWentBackToAreKeptUpAgain) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    const auto first = write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    write(job, 2);
    ASSERT_TRUE(wait_level(job, "app", 2, PERDURE_LEVEL_NODE, 60));
    expect_level(job, 1, PERDURE_LEVEL_PROCESS);
    for (const bool damage : {false, true}) {
      if (damage && job.rank() == 2) damaged(job, first);
      ASSERT_TRUE(job.comm().barrier());
      VersionReader reader(job);
      choose(reader, 1);
      ASSERT_TRUE(reader.fetch());
      ASSERT_TRUE(reader.commit_fetched());
      expect_reads(reader, job.rank(), 0, kBytes);
      reader.release();
      ASSERT_TRUE(reader.replicate_again());
      ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
      expect_level(job, 1, PERDURE_LEVEL_NODE);
      wait_for_group(job, first);
    }
    write(job, 3);
    expect_level(job, 1, PERDURE_LEVEL_NODE);
    wait_for_group(job, first);
    ASSERT_TRUE(job.comm().barrier());
  });
}

class OrderlyEnd : public LevelReached {
 protected:
  void end(bool all_stored) {
    on_ranks([&](Job& job) {
      const auto closed = drop_redundancy(job);
      EXPECT_EQ(closed.has_value(), all_stored);
      if (!closed && job.rank() != 0) {
        EXPECT_EQ(closed.error().code, PERDURE_PEER_FAILED);
      }
      if (!closed && job.rank() == 0) {
        EXPECT_EQ(closed.error().code, PERDURE_INCOMPLETE);
        EXPECT_NE(closed.error().text().find("app version 1"), std::string::npos) << closed.error().text();
        EXPECT_NE(closed.error().text().find(job.engine().directory()), std::string::npos);
      }
      const auto kept = job.engine().channel().call(ipc::KeptNames{job.ranks()});
      EXPECT_EQ(kept->names.empty(), all_stored || job.rank() != 0);
    });
  }
};

// Only the redundancy on node 0 has node 1's part.
TEST_F(OrderlyEnd, KeepsWhatIsTheOnlyCopyUntilTheStoreHasIt) {
  {
    os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
    const test_support::InstalledHooks installed(full);
    on_ranks([&](Job& job) {
      write(job, 1);
      ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    });
  }
  lose_node(1);
  on_ranks([&](Job& job) {
    if (job.leads()) (void)job.engine().channel().call(ipc::Drain{0});
    ASSERT_TRUE(job.comm().barrier());
  });
  end(false);
  on_ranks([&](Job& job) {
    VersionReader reader(job);
    choose(reader, 1);
    const auto fetched = reader.fetch();
    ASSERT_TRUE(fetched) << fetched.error().text();
    ASSERT_TRUE(reader.commit_fetched());
    expect_reads(reader, job.rank(), 0, kBytes);
    const auto id = reader.id();
    reader.release();
    wait_for_store(job, id);
    ASSERT_TRUE(job.comm().barrier());
  });
  end(true);
}

// Redundancy that a busy node makes late would look like the only copy of versions that the store did not list.
TEST_F(OrderlyEnd, LooksAtTheStoreForWhatIsKeptOnlyAfterTheLook) {
  on_ranks([&](Job& job) {
    const auto id = write(job, 1);
    if (job.rank() == 0) (void)job.known().next_attempt("app", id.attempt.created_ns);
    wait_for_store(job, id);
    ASSERT_TRUE(job.comm().barrier());
    ASSERT_TRUE(drop_redundancy(job));  // it is as if nothing were kept yet
    const auto stored = look_at_store(job);
    ASSERT_TRUE(stored) << stored.error().text();
    ASSERT_EQ(stored->size(), 1U);
    EXPECT_EQ(stored->at(0).name, "app");
    EXPECT_EQ(stored->at(0).attempt_ns, id.attempt.created_ns);
  });
}

TEST_F(LevelReached, OfWhatNobodyHasIsAnErrorThatSaysSo) {
  on_ranks([&](Job& job) {
    const auto reached = level_reached(job, "app", 7);
    ASSERT_FALSE(reached);
    EXPECT_EQ(reached.error().code, PERDURE_NOT_FOUND);
  });
}

class ReplacedVersion : public OnTwoNodes {
 protected:
  ReplacedVersion() { more_ = "checkpoint.replace=true"; }
};

// The store has the earlier attempt: if the nodes were lost now, its content would come back.
TEST_F(ReplacedVersion, HasTheLevelOfItsNewAttempt) {
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 7));
    expect_level(job, 7, PERDURE_LEVEL_STORE);
  });
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    write(job, 7);
    expect_level(job, 7, PERDURE_LEVEL_PROCESS);
  });
}

// Their state is that of the earlier attempt; the later one may be damaged, or not on all nodes.
TEST_F(ReplacedVersion, HasTheLevelOfTheAttemptThatTheJobWentBackTo) {
  segment::VersionId earlier;
  on_ranks([&](Job& job) {
    const auto id = write(job, 7);
    wait_for_store(job, id);
    if (job.rank() == 0) earlier = id;
  });
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    const auto later = write(job, 7);
    job.known().went_on_from(later);
    expect_level(job, 7, PERDURE_LEVEL_PROCESS);
    job.known().went_on_from(earlier);
    expect_level(job, 7, PERDURE_LEVEL_STORE);
    EXPECT_TRUE(wait_level(job, "app", 7, PERDURE_LEVEL_STORE, 60)) << "and does not wait for the later one";
  });
}

class GoneBack : public LevelReached {
 protected:
  GoneBack() { more_ += ";checkpoint.replace=true"; }
};

TEST_F(GoneBack, ToAnEarlierAttemptIsAtTheLevelThatWasWaitedFor) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:" + directory_ / "store" + ":ENOSPC"));
  const test_support::InstalledHooks installed(full);
  on_ranks([&](Job& job) {
    const auto earlier = write(job, 1);
    ASSERT_TRUE(wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60));
    write(job, 1);
    job.known().went_on_from(earlier);
    const auto waited = wait_level(job, "app", 1, PERDURE_LEVEL_NODE, 60);
    ASSERT_TRUE(waited) << waited.error().text();
    expect_level(job, 1, PERDURE_LEVEL_NODE);
  });
}

class Retirement : public OnTwoNodes {};

// A node that cannot give up its part may bring it to the store again.
TEST_F(Retirement, LeavesTheStoreAloneWhereAnEngineRefuses) {
  os::FaultRules read_only(*os::parse_fault_rules("pwrite:/node/" + key_of_node(1) + ":EROFS"));
  on_ranks([&](Job& job) {
    wait_for_store(job, write(job, 1));
    expect_level(job, 1, PERDURE_LEVEL_STORE);
    job.known().observe("app", job.store(), false, plan::line_of({}, plan::kFirstBranch));
    if (job.rank() == 0) os::install_hooks(&read_only);
    ASSERT_TRUE(job.comm().barrier());
    const auto refused = retire_version(job, "app", 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, job.rank() == 1 ? PERDURE_PERMISSION : PERDURE_PEER_FAILED)
        << refused.error().text();
    const auto listings = job.store().list("app").value();
    ASSERT_EQ(listings.size(), 1U);
    EXPECT_TRUE(store::read_version(job.store(), listings[0]));
    EXPECT_FALSE(job.known().check_free("app", 1)) << "it is still there";
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 0) os::install_hooks(nullptr);
    ASSERT_TRUE(job.comm().barrier());
    const auto retired = retire_version(job, "app", 1);
    ASSERT_TRUE(retired) << retired.error().text();
    EXPECT_TRUE(job.store().list("app").value().empty());
    EXPECT_EQ(level_reached(job, "app", 1).error().code, PERDURE_NOT_FOUND);
    EXPECT_TRUE(job.known().check_free("app", 1)) << "its number can be used again";
  });
  os::install_hooks(nullptr);  // even if an assertion ended a rank
}

/// Two nodes of two ranks.
class SkippedOnOneNode : public JobOfThreads {
 protected:
  /// Checkpoints on one rank alone, so that its node skips the version as it likes, and no other node hears of it.
  static base::Status checkpoint(Job& job, std::uint64_t version) {
    const segment::VersionId id{"app", version, {version, plan::nonce_on(plan::kFirstBranch, 1)}};
    ipc::SmallCapture message;
    message.bytes.assign(100, std::byte{7});
    segment::Piece piece{0, kChunk, {{0, 1, 100}}, {}};
    piece.chunks.push_back({0, 100, base::hash128(message.bytes), 0});
    message.begin = {id, 1, piece, {{0, 1, {0}}}};
    PERDURE_CHECK(job.engine().channel().call(message));
    PERDURE_CHECK(job.engine().channel().call(ipc::Commit{id, {{0, 1, {0}}}}));
    return {};
  }
};

TEST_F(SkippedOnOneNode, AVersionIsMadeUpForByANewerOneAlsoWhereTheOtherKnowsNothing) {
  test_support::StoppedStore store(directory_ / "store", "-of-");
  const test_support::InstalledHooks installed(store);
  on_ranks([&](Job& job) {
    constexpr std::uint32_t kWriter = 2;
    if (job.rank() == kWriter)
      for (std::uint64_t version = 1; version <= 6; ++version) {
        const auto written = checkpoint(job, version);
        EXPECT_TRUE(written) << written.error().text();
        if (version == 1)
          EXPECT_TRUE(test_support::eventually("the first flush begins", [&] { return store.waits(); }));
      }
    EXPECT_TRUE(job.comm().barrier());
    store.go_on();
    const auto waited = wait_level(job, "app", 3, PERDURE_LEVEL_STORE, 30, {});
    EXPECT_TRUE(waited) << waited.error().text();
    const auto never = wait_level(job, "app", 99, PERDURE_LEVEL_STORE, 30, {});
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().code, PERDURE_NOT_FOUND) << never.error().text();
  });
}

}  // namespace
}  // namespace perdure::client
