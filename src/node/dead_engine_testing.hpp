#pragma once
// For tests only: makes residue of dead engines, over stores that have some of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "catalog/catalog.hpp"
#include "config/directories.hpp"
#include "node/reclaim.hpp"
#include "support/sample_records.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::node {

/// The residue is in `<at>/node` and `<at>/file`.
class DeadEngines {
 public:
  explicit DeadEngines(std::string at) : at_(std::move(at)) {
    EXPECT_TRUE(config.set_all("node.path=" + root() + ";tier.file.path=" + at_ + "/file", config::Origin::program));
    for (const std::string& path : {root(), at_ + "/file"}) EXPECT_TRUE(os::make_private_directory(path));
  }
  std::string root() const { return at_ + "/node"; }
  std::string store_of(const std::string& job) const { return at_ + "/store-" + job; }
  /// Returns the directory of this job's dead engine, which holds these versions.
  std::string path_of(const std::string& job) const {
    return root() + "/" + base::hash128(base::as_bytes(job)).hex().substr(0, 16) + ".0";
  }
  /// Leaves arena, slots and log. `versions` are committed on this node alone, and not stored according to the catalog.
  void leave(const std::string& job, const std::vector<std::uint64_t>& versions, const std::string& name = "run") {
    const std::string path = path_of(job);
    const std::string slots = config::tier_directory(config, "file", path.substr(path.rfind('/') + 1));
    for (const std::string& part : {path, slots}) EXPECT_TRUE(os::make_private_directory(part));
    EXPECT_TRUE(write_job_note(path, {job, store_of(job), "here"}));
    for (const std::string& file : {path + "/engine.lock", path + "/fingerprint", path + "/engine.log"})
      std::ofstream(file) << "";
    for (const std::string& file : {path + "/arena", path + "/arena-1", slots + "/slot-0"})
      std::ofstream(file) << std::string(10'000, 'x');
    auto log = catalog::Catalog::open(path).value();
    for (const std::uint64_t version : versions) {
      const auto id = test_support::sample_id(version, name);
      EXPECT_TRUE(log.append(test_support::sample_stage(id, 0, 1)));
      EXPECT_TRUE(log.append(catalog::CommitRecord{id, {{0, 1, {0}, false}}}));
    }
  }
  void append(const std::string& job, const catalog::Record& record) {
    EXPECT_TRUE(catalog::Catalog::open(path_of(job)).value().append(record));
  }
  /// Stores the version in the job's store, whole.
  void store(const std::string& job, std::uint64_t version, const std::string& name = "run") {
    const auto store = store::make_store(store_of(job)).value();
    EXPECT_TRUE(store->prepare());
    for (const auto& manifest : test_support::sample_version(test_support::sample_id(version, name), 1))
      EXPECT_TRUE(test_support::write_segment(*store, manifest));
  }
  Left left_by(const std::string& job) const {
    EngineDirectory found;
    const auto all = find_engine_directories(config).value();
    for (const auto& one : all)
      if (one.path == path_of(job)) found = one;
    EXPECT_EQ(found.path, path_of(job));
    return look_at(found);
  }
  Reclaimed reclaim_for(const std::string& job, const std::string& own = {}) const {
    return reclaim(config, {own, {job, store_of(job), "here"}, open, [] { return false; }});
  }
  static base::Result<std::unique_ptr<store::Store>> open(const std::string& location) {
    return store::make_store(location);
  }
  bool there(const std::string& job) const { return std::filesystem::exists(path_of(job)); }
  /// Returns all entries below the roots of engines and tiers.
  std::vector<std::string> entries() const {
    std::vector<std::string> found;
    for (const std::string& part : {root(), at_ + "/file"})
      for (const auto& entry : std::filesystem::recursive_directory_iterator(part))
        found.push_back(entry.path().filename().string());
    return found;
  }

  config::Config config;

 private:
  std::string at_;
};

struct OwnDirectory {
  test_support::TemporaryDirectory directory;
};
class DeadEnginesFixture : public ::testing::Test, protected OwnDirectory, protected DeadEngines {
 protected:
  DeadEnginesFixture() : DeadEngines(directory.path()) {}
};

}  // namespace perdure::node
