// Tests a job that was suspended (its monotonic clock jumps) and goes on: the suspension does not count as waiting.
#include "engine/host/engine_testing.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::int64_t kSuspendedNs = 3 * 3'600'000'000'000;

class SuspendedEngine : public EngineFixture {
 protected:
  void SetUp() override {
    const auto started = start("chunk_bytes=64KiB;tier.order=file;tier.file.max_bytes=64KiB");
    ASSERT_TRUE(started) << started.error().text();
  }
  void TearDown() override { os::shift_monotonic_clock(-shifted_); }
  void suspend() {
    shifted_ += kSuspendedNs;
    os::shift_monotonic_clock(kSuspendedNs);
  }

 private:
  std::int64_t shifted_ = 0;
};

TEST_F(SuspendedEngine, GoesOnWaitingForASlotThatComes) {
  const segment::VersionId id{"app", 1, {1, 1}}, later{"app", 2, {2, 2}};
  ipc::Grant request{id, 64 * base::KiB, 600'000'000'000, {}, {}};
  auto first = client(), second = client(), other = client();
  const auto slot = first.call(request).value().slot;  // the only one
  request.id = later;
  const auto waiting = second.post(request).value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(other.call(ipc::Progress{})) << "now it is known that it waits, or that it woke up";
    suspend();
  }
  ASSERT_TRUE(other.call(ipc::Progress{}));
  ASSERT_TRUE(other.call(ipc::Progress{})) << "it looked at who waits between the two";
  ASSERT_TRUE(first.tell(ipc::GiveBack{id, slot.tier, slot.slot}));
  const auto granted = second.await(waiting);
  EXPECT_TRUE(granted) << granted.error().text();
}

}  // namespace
}  // namespace perdure::engine
