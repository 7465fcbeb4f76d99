// A checkpoint is of all ranks or of none.
#include "client/session.hpp"

#include "client/ranks_testing.hpp"

namespace perdure::client {
namespace {

class Checkpoint : public JobOfThreads {
 protected:
  Checkpoint() {
    per_node_ = 1, ranks_ = 2;
    more_ = "tier.memory.max_bytes=1MiB;tier.file.max_bytes=128KiB;flush.during_capture=never";
  }
};

TEST_F(Checkpoint, ThatOneRankCannotCaptureIsAnErrorOfAllAndNowhere) {
  on_sessions([](Session& session, std::uint32_t rank) {
    std::vector<std::byte> memory(100'000, static_cast<std::byte>(rank)), too_much(rank == 1 ? 4 * base::MiB : 0);
    ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
    ASSERT_TRUE(session.protect({2, too_much.data(), 1, too_much.size()}));
    const auto failed = session.checkpoint("app", 1);
    EXPECT_FALSE(failed);
    if (!failed) {
      EXPECT_EQ(failed.error().code, rank == 1 ? PERDURE_NO_SPACE : PERDURE_PEER_FAILED) << failed.error().text();
    }
    const auto here = session.level_reached("app", 1);
    EXPECT_FALSE(here) << "level " << *here;
    const auto latest = session.latest("app");
    EXPECT_FALSE(latest) << "version " << *latest;
    ASSERT_TRUE(session.unprotect(2));
    const auto next = session.checkpoint("app", 2);
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_EQ(session.latest("app").value(), 2U);
    std::fill(memory.begin(), memory.end(), std::byte{77});
    ASSERT_TRUE(session.restore("app", PERDURE_LATEST, {}));
    EXPECT_EQ(memory, std::vector<std::byte>(memory.size(), static_cast<std::byte>(rank)));
  });
}

/// Takes everything, and refuses it then with this code.
class RefusingTarget : public capture::Target {
 public:
  explicit RefusingTarget(base::ErrorCode code) : code_(code) {}
  base::Result<std::vector<capture::ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override {
    ++attempts;
    return std::vector<capture::ChunkRange>{{0, stored[0].bytes()}};
  }
  base::Status write(capture::ChunkRange, base::ConstByteSpan) override {
    return base::fail(code_, "target", "it is not wanted", "", true);
  }
  int attempts = 0;

 private:
  base::ErrorCode code_;
};

TEST_F(Checkpoint, ThatItsTargetRefusesIsNotTriedAgain) {
  on_sessions([](Session& session, std::uint32_t) {
    std::vector<std::byte> memory(1000);
    ASSERT_TRUE(session.protect({1, memory.data(), 1, memory.size()}));
    ASSERT_TRUE(session.checkpoint("app", 1) && session.checkpoint("app", 2));
    RefusingTarget refuses(PERDURE_EXISTS);
    const auto refused = session.restore("app", PERDURE_LATEST, refuses);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PERDURE_EXISTS);
    EXPECT_EQ(refused.error().cause, "it is not wanted");
    EXPECT_EQ(refuses.attempts, 1);
    RefusingTarget damaged(PERDURE_CORRUPT);
    EXPECT_FALSE(session.restore("app", PERDURE_LATEST, damaged));
    EXPECT_GE(damaged.attempts, 2) << "an older version may be whole";
  });
}

TEST_F(Checkpoint, SizesAreToldOfVersionsThatCanBeOnly) {
  on_sessions([](Session& session, std::uint32_t) {
    for (const auto& [name, version] : {std::pair("app", -5), std::pair("", 1)}) {
      const auto size = session.stored_size(name, version, 1);
      ASSERT_FALSE(size);
      EXPECT_EQ(size.error().code, PERDURE_INVALID_ARGUMENT) << size.error().text();
    }
  });
}

}  // namespace
}  // namespace perdure::client
