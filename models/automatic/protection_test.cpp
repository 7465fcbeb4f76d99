// Tests how a restart treats versions that turn out to be damaged while it restores them.
#include "automatic/protection.hpp"

#include <gmock/gmock.h>

#include "automatic/failure.hpp"

namespace perdure::automatic {
namespace {

using testing::HasSubstr;
using track::Access;

/// Places of versions, of which the newest may be damaged.
struct Versions {
  std::vector<std::vector<std::byte>> places;
  bool damaged = false;
};

class PlacesAlone final : public CheckpointStore {
 public:
  explicit PlacesAlone(Versions& versions) : versions_(versions) {}
  std::optional<std::vector<std::byte>> newest() override {
    if (versions_.places.empty()) return std::nullopt;
    return versions_.places.back();
  }
  bool restore(std::span<const SavedBox>) override {
    if (!versions_.damaged) return true;
    versions_.places.pop_back();
    versions_.damaged = false;
    return false;
  }
  tl::expected<void, std::string> write(std::span<const std::byte> place, std::span<const SavedBox>) override {
    versions_.places.emplace_back(place.begin(), place.end());
    return {};
  }
  tl::expected<void, std::string> refuse(const std::string& why) override { return tl::unexpected(why); }
  void retire_written() override {}
  void retire_restored() override {}
  Met meet(const Meeting&, bool here) override { return {here, {}}; }
  tl::expected<void, std::string> finish() override { return {}; }

 private:
  Versions& versions_;
};

/// Two numbers; the second is written late.
class DamagedVersion : public testing::Test {
 protected:
  Protection begin() {
    const auto number = [](const char* name, std::int64_t& value) {
      StoredSet set;
      set.data = {name, {}, 8, false};
      set.type = "i8";
      set.owned = {{{}, reinterpret_cast<std::byte*>(&value), {}}};
      return set;
    };
    Policy policy;
    policy.every_loops = 20;
    policy.learns = 8;
    policy.foresees = false;
    return {{number("early", values_[0]), number("late", values_[1])},
            std::make_unique<PlacesAlone>(versions_),
            policy,
            [](const auto&) {},
            false};
  }
  void live() {
    Protection protection = begin();
    for (int i = 0; i < 60; ++i) (void)protection.loop(1, "add", std::vector{Access::reads_writes(0, {}, {})}, true);
    before_late_ = versions_.places.size();
    (void)protection.loop(2, "late", std::vector{Access::writes(1, {})}, true);
    const std::vector both{Access::reads_writes(0, {}, {}), Access::reads_writes(1, {}, {})};
    for (int i = 0; i < 100; ++i) (void)protection.loop(3, "both", both, true);
  }
  std::int64_t values_[2] = {};
  Versions versions_;
  std::size_t before_late_ = 0;
};

TEST_F(DamagedVersion, ThatFilledWhatTheOneBeforeNeedsAsItWasEndsTheLaunch) {
  live();
  ASSERT_GT(before_late_, 0U);
  ASSERT_GT(versions_.places.size(), before_late_ + 1);
  versions_.places.erase(versions_.places.begin() + static_cast<std::ptrdiff_t>(before_late_),
                         versions_.places.end() - 1);
  versions_.damaged = true;
  try {
    (void)begin();
    FAIL() << "it went on";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status, PERDURE_CORRUPT);
    EXPECT_THAT(failure.what(), HasSubstr("start the program again"));
  }
  EXPECT_TRUE(begin().restarted()) << "the next launch";
}

TEST_F(DamagedVersion, IsFollowedByTheOneBeforeWhereThatHasAll) {
  live();
  versions_.damaged = true;
  EXPECT_TRUE(begin().restarted());
}

}  // namespace
}  // namespace perdure::automatic
