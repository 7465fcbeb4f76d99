// Small checkpoints take one message to the engine, and a commit whose answer the next call takes.
#include "client/ranks_testing.hpp"

namespace perdure::client {
namespace {

class SmallCheckpoints : public JobOfThreads {
 protected:
  static std::vector<std::byte> content(std::uint64_t bytes, std::uint32_t rank) {
    std::vector<std::byte> all(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(i * 31 + rank * 7 + bytes);
    return all;
  }
};

TEST_F(SmallCheckpoints, OfEverySizeComeBackAsTheyWere) {
  on_sessions([](Session& session, std::uint32_t rank) {
    std::int64_t version = 0;
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{4096}, ipc::kMostInMessage - 1,
                                      ipc::kMostInMessage, ipc::kMostInMessage + 1, std::uint64_t{100'000}}) {
      SCOPED_TRACE(bytes);
      const auto before = content(bytes, rank);
      auto memory = before;
      // Some ranks may have so little while others have much, or nothing.
      if (rank == 3 && version % 2 == 1) memory.clear();
      ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
      ASSERT_TRUE(session.checkpoint("app", ++version));
      EXPECT_GE(session.level_reached("app", version).value(), PERDURE_LEVEL_PROCESS) << "right after the call";
      std::fill(memory.begin(), memory.end(), std::byte{0});
      ASSERT_TRUE(session.restore("app", version, {}));
      EXPECT_TRUE(memory.empty() || memory == before);
    }
    ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_STORE, 60));
  });
}

TEST_F(SmallCheckpoints, AreWrittenByTheirRanksWhereTheTierIsNoMemory) {
  more_ = "tier.order=file";
  on_sessions([](Session& session, std::uint32_t rank) {
    auto memory = content(4096, rank);
    ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
    for (std::int64_t version = 1; version < 4; ++version) ASSERT_TRUE(session.checkpoint("app", version));
    std::fill(memory.begin(), memory.end(), std::byte{0});
    ASSERT_TRUE(session.restore("app", PERDURE_LATEST, {}));
    EXPECT_EQ(memory, content(4096, rank));
  });
}

TEST_F(SmallCheckpoints, MayBeRetiredWaitedForAndClosedAfterRightAway) {
  on_sessions([](Session& session, std::uint32_t rank) {
    auto memory = content(4096, rank);
    ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
    for (std::int64_t version = 1; version <= 30; ++version) {
      ASSERT_TRUE(session.checkpoint("app", version));
      const auto retired = session.retire("app", version);
      ASSERT_TRUE(retired) << retired.error().text();
      EXPECT_FALSE(session.latest("app"));
    }
    ASSERT_TRUE(session.checkpoint("app", 31));
    ASSERT_TRUE(session.wait("app", 31, PERDURE_LEVEL_STORE, 60));
    ASSERT_TRUE(session.checkpoint("app", 32));
  });
  on_sessions([](Session& session, std::uint32_t) { EXPECT_EQ(session.latest("app").value(), 32U); });
}

TEST_F(SmallCheckpoints, ThatEndWithTheirProgramAreThereInTheNext) {
  for (std::int64_t version = 1; version <= 3; ++version) {
    on_ranks([&](Job& job) {  // no rank closes it
      capture::GeneratedSource source(4096, seed(job.rank()));
      VersionWriter writer(job, source);
      const auto id = attempt_at(job, version);
      const base::Status outcome = stage(writer, id);
      ASSERT_TRUE(agree(job.comm(), outcome)) << (outcome ? "" : outcome.error().text());
      ASSERT_TRUE(writer.commit());
    });
    on_ranks([&](Job& job) {
      VersionReader reader(job);
      choose(reader);
      EXPECT_EQ(reader.id().version, static_cast<std::uint64_t>(version));
      ASSERT_TRUE(reader.fetch());
      expect_reads(reader, job.rank(), 0, 4096);
      reader.release();
    });
  }
}

TEST_F(SmallCheckpoints, WhoseCommitIsRefusedAreTheNextCallsError) {
  ranks_ = per_node_ = 1;
  on_ranks([&](Job& job) {
    const auto id = attempt_at(job, 1);
    capture::GeneratedSource source(4096, seed(0));
    VersionWriter writer(job, source);
    ASSERT_TRUE(stage(writer, id));
    ASSERT_TRUE(job.engine().post_commit({id, {{0, 1, {0, 1}}}})) << "nobody has rank 1's piece";
    const auto refused = job.begin({Operation::wait, "app", 1}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_INCOMPLETE);
    EXPECT_NE(refused.error().text().find("app version 1"), std::string::npos) << refused.error().text();
    EXPECT_TRUE(job.begin({Operation::wait, "app", 1}, {})) << "it is said once";
    ASSERT_TRUE(job.engine().post_commit({{"app", 7, {7, 7}}, {}}));
    EXPECT_TRUE(job.begin({Operation::wait, "app", 1}, {})) << "a version that went after its commit";
  });
}

TEST_F(SmallCheckpoints, WhoseEngineEndsBeforeItAnswersHoldAndAreCommittedByTheNext) {
  ranks_ = 2;
  per_node_ = 2;
  on_ranks([&](Job& job) {
    const auto id = attempt_at(job, 1);
    capture::GeneratedSource source(4096, seed(job.rank()));
    VersionWriter writer(job, source);
    ASSERT_TRUE(agree(job.comm(), stage(writer, id)));
    job.engine().channel().close();  // as when it ends: a posted message gets no answer
    ASSERT_TRUE(writer.commit());
    ASSERT_TRUE(job.comm().barrier());
    VersionReader reader(job);
    choose(reader);
    EXPECT_EQ(reader.id(), id);
    ASSERT_TRUE(reader.fetch());
    expect_reads(reader, job.rank(), 0, 4096);
    reader.release();
  });
}

}  // namespace
}  // namespace perdure::client
