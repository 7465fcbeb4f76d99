#include "engine/upkeep/store_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::engine {
namespace {

using test_support::sample_version;
using test_support::write_segment;

class Look : public ::testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version, const std::string& name = "app") {
    return {name, version, {version, 1}};
  }
  void write(const segment::VersionId& version, std::uint32_t segments) {
    const auto manifests = sample_version(version, 2);
    for (std::uint32_t i = 0; i < segments; ++i) ASSERT_TRUE(write_segment(*store_, manifests[i]));
  }
  void SetUp() override {
    store_ = std::move(*store::make_store(directory_ / "store"));
    ASSERT_TRUE(store_->prepare());
    look_ = std::make_unique<StoreProbe>(*store_, 1'000'000, [this](const segment::VersionId& version) {
      std::lock_guard guard(mutex_);
      seen_.push_back(version.text());
    });
  }
  std::vector<std::string> seen() {
    std::lock_guard guard(mutex_);
    return seen_;
  }
  /// Waits until `version` was seen.
  bool wait_for(const segment::VersionId& version) {
    return test_support::eventually(version.text() + " is seen", [&] {
      const auto now = seen();
      return std::find(now.begin(), now.end(), version.text()) != now.end();
    });
  }

  test_support::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_;
  std::mutex mutex_;
  std::vector<std::string> seen_;
  std::unique_ptr<StoreProbe> look_;  // destroyed first
};

TEST_F(Look, TellsOfEachVersionThatIsWholeAndWasAskedFor) {
  for (std::uint64_t version : {1, 3, 4}) write(id(version), 2);
  write(id(2), 1);
  write(id(1, "other"), 2);
  for (std::uint64_t version : {1, 2, 3}) look_->ask(id(version));
  ASSERT_TRUE(wait_for(id(3)));
  EXPECT_THAT(seen(), testing::ElementsAre(id(1).text(), id(3).text()));
  look_->ask(id(4));
  EXPECT_TRUE(wait_for(id(4)));
}

TEST_F(Look, OneThatIsNotThereIsNothing) {
  look_->ask(id(1, "nothing"));
  look_->ask(id(1));
  write(id(2), 2);
  look_->ask(id(2));
  ASSERT_TRUE(wait_for(id(2)));
  EXPECT_EQ(seen().size(), 1U);
}

TEST_F(Look, NorIsOneWhoseManifestIsDamaged) {
  for (std::uint64_t version : {1, 2}) write(id(version), 2);
  const auto listings = store_->list("app");
  ASSERT_TRUE(listings);
  const std::string path = directory_ / "store/" + listings->front().segments.at(1).path;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  for (std::uint64_t version : {1, 2}) look_->ask(id(version));
  ASSERT_TRUE(wait_for(id(2)));
  EXPECT_EQ(seen().size(), 1U);
}

TEST_F(Look, EndsAtOnceThoughALookIsDue) {
  StoreProbe late(*store_, 3'600'000'000'000, [](const segment::VersionId&) {});
  late.ask(id(1));
}

}  // namespace
}  // namespace perdure::engine
