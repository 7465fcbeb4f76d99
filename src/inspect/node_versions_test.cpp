// Catalogs tell which versions nodes have and the store lacks.
#include "inspect/node_versions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "catalog/catalog.hpp"
#include "config/directories.hpp"
#include "inspect/unstored.hpp"
#include "os/system.hpp"
#include "support/sample_records.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::inspect {
namespace {

using test_support::sample_id;
using test_support::sample_stage;
using testing::ElementsAre;

class NodeVersions : public testing::Test {
 protected:
  config::Config configured(const std::string& more = {}) const {
    config::Config config;
    const std::string settings = "store.path=" + directory_.path() + "/store;node.path=" + directory_.path() + "/node";
    EXPECT_TRUE(config.set_all(settings + more, config::Origin::program));
    return config;
  }
  /// Makes a directory of an engine that died, with version 1 stored, 2 in part, 3 not, and 4 complete and not
  /// committed.
  std::string engine_of(const config::Config& config, const std::string& label, unsigned instance = 0) const {
    const std::string path =
        config::node_root(config) + "/" + config::node_key(config, label) + "." + std::to_string(instance);
    std::filesystem::create_directories(path);
    auto catalog = catalog::Catalog::open(path).value();
    const auto append = [&](const catalog::Record& record) { EXPECT_TRUE(catalog.append(record)); };
    for (std::uint64_t version = 1; version <= 4; ++version) {
      const auto id = sample_id(version);
      for (std::uint32_t rank = 0; rank < 2; ++rank) append(sample_stage(id, rank, 2));
      if (version < 4) append(catalog::CommitRecord{id, {{0, 2, {0}, false}, {1, 2, {1}, false}}});
      if (version <= 2) append(catalog::StoredRecord{id, 0});
      if (version == 1) append(catalog::StoredRecord{id, 1});
    }
    return path;
  }
  static std::vector<std::uint64_t> numbers(const std::vector<NodeVersion>& versions) {
    std::vector<std::uint64_t> all;
    for (const auto& one : versions) all.push_back(one.id.version);
    return all;
  }
  test_support::TemporaryDirectory directory_;
};

TEST_F(NodeVersions, AreThoseThatWereAgreedOnAndThatTheStoreLacks) {
  const auto config = configured();
  const std::string path = engine_of(config, os::host_name());
  const auto found = versions_not_stored(config);
  EXPECT_THAT(numbers(found), ElementsAre(2, 3, 4));
  EXPECT_EQ(found[0].directory, path);
  EXPECT_EQ(found[0].bytes, 10'000U);
}

TEST_F(NodeVersions, OfOtherJobsStoresAndHostsAreNot) {
  engine_of(configured(";job=other"), os::host_name());
  engine_of(configured(), "another-host");
  engine_of(configured(), os::host_name() + "#1");
  EXPECT_THAT(versions_not_stored(configured()), testing::IsEmpty());
  EXPECT_THAT(numbers(versions_not_stored(configured(";node.ranks_per_node=2"))), ElementsAre(2, 3, 4));
}

TEST_F(NodeVersions, OfSeveralEnginesOfANodeAreAllFound) {
  const auto config = configured();
  engine_of(config, os::host_name(), 0);
  engine_of(config, os::host_name(), 3);
  EXPECT_THAT(numbers(versions_not_stored(config)), ElementsAre(2, 2, 3, 3, 4, 4));
  EXPECT_EQ(directories_of_job(config).size(), 2U);
}

TEST_F(NodeVersions, WithoutOrWithADamagedCatalogAreNone) {
  const auto config = configured();
  EXPECT_THAT(versions_not_stored(config), testing::IsEmpty()) << "there is no node.path";
  const std::string path = engine_of(config, os::host_name());
  std::ofstream(path + "/catalog", std::ios::trunc) << "no catalog";
  EXPECT_THAT(versions_not_stored(config), testing::IsEmpty());
  std::filesystem::remove(path + "/catalog");
  EXPECT_THAT(versions_not_stored(config), testing::IsEmpty());
}

// No engine can flush it here: there is no perdured.
TEST_F(NodeVersions, ThatCannotBeFlushedAreNamedWithTheReason) {
  const auto config = configured(";engine.daemon_path=/nowhere/perdured");
  const std::string path = engine_of(config, os::host_name());
  std::ofstream(path + "/engine.lock") << "";
  const FlushRequest request{[](const std::string&) {}, [](double) { return true; }, os::monotonic_ns};
  const auto left = flush_unstored(config, request);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].versions, 3U);
  EXPECT_THAT(left[0].text(), testing::HasSubstr("3 checkpoints (nbody versions 2 to 4, 29.3 KiB) in " + path +
                                                 ", because: /nowhere/perdured: there is no such program"));
}

TEST_F(NodeVersions, ThatAreAllStoredNeedNoEngine) {
  const auto config = configured(";engine.daemon_path=/nowhere/perdured");
  const FlushRequest request{[](const std::string&) {}, [](double) { return true; }, os::monotonic_ns};
  EXPECT_THAT(flush_unstored(config, request), testing::IsEmpty());
}

}  // namespace
}  // namespace perdure::inspect
