// A checkpoint succeeds on all ranks or on none.
#include "client/session.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>

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

/// The system gives new mappings from the upper end of freed memory, so nobody gets its lower end.
class FreedMemory {
 public:
  FreedMemory() {
    memory_ = static_cast<std::byte*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  FreedMemory(const FreedMemory&) = delete;
  FreedMemory& operator=(const FreedMemory&) = delete;
  ~FreedMemory() { free(); }
  std::byte* data() const { return memory_; }
  void free() {
    if (!std::exchange(freed_, true)) ::munmap(memory_, kBytes);
  }

 private:
  static constexpr std::size_t kBytes = base::GiB;
  std::byte* memory_ = nullptr;
  bool freed_ = false;
};

// Makes a region of every second element of 12; each rank has memory of its own.
capture::Region strided_region(std::byte* memory, std::uint32_t rank) {
  const std::uint64_t extents[1] = {24};
  segment::ArrayEntry field{{"field", "", ""}, array::ElementType::parse("f8", "test").value(), {}, {}, {}};
  field.whole = array::whole(extents, 8, "test").value();
  capture::OwnedBox owned{field.whole, memory, array::Strides{16}};
  owned.box.begin[0] = 12 * rank;
  owned.box.end[0] = owned.box.begin[0] + 12;
  return capture::region_of(capture::ArrayPart::make(1, field, {}, {owned}, true).value());
}

TEST_F(Checkpoint, OfMemoryThatAProgramHasFreedIsAnErrorThatNamesIt) {
  constexpr std::size_t kFitsTiers = 96 * base::KiB;
  for (const std::string mode : {"copy", "cow"})
    for (const std::size_t bytes : {kFitsTiers, std::size_t{8}, std::size_t{0}}) {  // 0: a part of an array
      SCOPED_TRACE(mode + ", " + std::to_string(bytes));
      const std::string name = "app" + mode + std::to_string(bytes);
      more_ = "tier.memory.max_bytes=1MiB;tier.file.max_bytes=128KiB;flush.during_capture=never;capture.mode=" + mode;
      on_sessions([&](Session& session, std::uint32_t rank) {
        FreedMemory memory;
        ASSERT_NE(memory.data(), MAP_FAILED);
        const std::string text = bytes == 0 ? "region 1 'field': its memory, 96 B" : "region 1: its memory";
        ASSERT_TRUE(session.protect(bytes == 0 ? strided_region(memory.data(), rank)
                                               : capture::Region{1, memory.data(), 1, bytes}));
        ASSERT_TRUE(session.checkpoint(name, 1));
        ASSERT_TRUE(session.wait(name, 1, PERDURE_LEVEL_PROCESS, 60));
        if (rank == 1) memory.free();
        const std::int32_t ids[] = {1};
        for (const auto& failed : {session.checkpoint(name, 2), session.restore(name, 1, std::nullopt),
                                   session.restore(name, PERDURE_LATEST, std::span(ids))}) {
          ASSERT_FALSE(failed);
          EXPECT_EQ(failed.error().code, rank == 1 ? PERDURE_INVALID_ARGUMENT : PERDURE_PEER_FAILED);
          if (rank == 1) {
            EXPECT_THAT(failed.error().text(), testing::HasSubstr(text));
          }
        }
        ASSERT_TRUE(session.unprotect(1));
        EXPECT_TRUE(session.checkpoint(name, 2)) << "it goes on without it";
      });
    }
}

TEST_F(Checkpoint, IsNotRestoredInPartsToMemoryThatAProgramHasFreed) {
  on_sessions([](Session& session, std::uint32_t rank) {
    FreedMemory memory;
    double value = rank;
    ASSERT_TRUE(session.protect({1, reinterpret_cast<std::byte*>(&value), 8, 1}));
    ASSERT_TRUE(session.checkpoint("app", 1));
    if (rank == 1) memory.free();
    const auto failed = session.restore_part("app", 1, 0, {1, memory.data(), 8, 1});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, rank == 1 ? PERDURE_INVALID_ARGUMENT : PERDURE_PEER_FAILED);
    EXPECT_TRUE(session.restore_part("app", 1, 0, {1, reinterpret_cast<std::byte*>(&value), 8, 1}));
    EXPECT_EQ(value, 0.0);
  });
}

int locate_bytes(void* owner, void** address, std::size_t* count) {
  auto& bytes = *static_cast<std::vector<std::byte>*>(owner);
  *address = bytes.data();
  *count = bytes.size();
  return 0;
}

TEST_F(Checkpoint, HasWhatOwnersHaveAtTheCallAndNothingWhereOneHasNothing) {
  on_sessions([](Session& session, std::uint32_t rank) {
    std::vector<std::byte> first(1000, std::byte{1}), second(500, std::byte{2});
    for (auto* owner : {&first, &second}) {
      const std::int32_t id = owner == &first ? 1 : 2;
      ASSERT_TRUE(session.protect({id, owner->data(), 1, owner->size()}));
      ASSERT_TRUE(session.followed().follow(*session.regions().find(id), locate_bytes, owner));
    }
    std::swap(first, second);
    ASSERT_TRUE(session.checkpoint("app", 1));
    first.assign(2000, std::byte{7});
    second.assign(1000, std::byte{0});
    EXPECT_EQ(session.restore("app", 1, {}).error().code, PERDURE_MISMATCH) << "it has another size by now";
    first.assign(500, std::byte{0});
    ASSERT_TRUE(session.restore("app", 1, {}));
    EXPECT_EQ(first, std::vector<std::byte>(500, std::byte{2}));
    EXPECT_EQ(second, std::vector<std::byte>(1000, std::byte{1}));
    if (rank == 1) first.clear();
    const auto refused = session.checkpoint("app", 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, rank == 1 ? PERDURE_INVALID_ARGUMENT : PERDURE_PEER_FAILED);
    EXPECT_EQ(session.latest("app").value(), 1U);
    first.assign(30, std::byte{3});
    ASSERT_TRUE(session.checkpoint("app", 2));
  });
}

/// Accepts everything, and then refuses it with this code.
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
