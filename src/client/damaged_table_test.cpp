// A program restores from a segment of format 3 whose table is damaged.
#include <filesystem>

#include "client/ranks_testing.hpp"
#include "support/sample_segment.hpp"

namespace perdure::client {
namespace {

namespace fs = std::filesystem;
using segment::VersionId;

/// Two ranks on two nodes; both pieces of a version are in one segment.
class DamagedTable : public JobOfThreads {
 protected:
  static constexpr std::uint64_t kCapture = 10'000, kOfFirst = kCapture / 3;
  DamagedTable() {
    ranks_ = 2;
    per_node_ = 1;
    more_ = "retention.keep_last=9";
  }
  static VersionId id_of(std::uint64_t version) {
    return {"app", version, {1700000000000000000ULL + version, version}};
  }
  std::string path_of(std::uint64_t version) const {
    return directory_.path() + "/store/app/" + std::to_string(version) + "/" +
           segment::file_name(0, 1, id_of(version).attempt);
  }
  static segment::Manifest manifest_of(std::uint64_t version) {
    segment::Manifest manifest = test_support::sample_manifest(id_of(version), 2, 0, 1, {0, 1}, kCapture, 4096);
    segment::lay_out(manifest, segment::Tables::always);
    return manifest;
  }
  void write(std::uint64_t version) {
    ASSERT_TRUE(os::make_directories(fs::path(path_of(version)).parent_path().string()));
    ASSERT_TRUE(os::write_file_atomically(path_of(version),
                                          test_support::sample_file(manifest_of(version), segment::Tables::always)));
  }
  /// Flips a bit of the byte at offset `at` in the table of `rank`.
  void damage(std::uint64_t version, std::uint32_t rank, std::uint64_t at) {
    auto bytes = os::read_file(path_of(version), 1 << 20).value();
    const segment::Table table = manifest_of(version).tables[rank];
    ASSERT_LT(at, table.length);
    bytes[table.offset + at] ^= std::byte{0x10};
    ASSERT_TRUE(os::write_file_atomically(path_of(version), bytes));
  }
  /// The result of each rank in a launch that restores the latest; if it succeeds, the version that it got.
  struct Got {
    base::Status status;
    std::vector<std::byte> bytes;
    std::int64_t version = -1;
  };
  std::vector<Got> restore() {
    std::vector<Got> got(2);
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      Got& mine = got[static_cast<std::size_t>(c.rank)];
      mine.bytes.resize(kCapture);
      ASSERT_TRUE((*session)->protect({0, mine.bytes.data(), 1, kOfFirst}));
      ASSERT_TRUE((*session)->protect({7, mine.bytes.data() + kOfFirst, 1, kCapture - kOfFirst}));
      mine.status = (*session)->restore("app", PERDURE_LATEST, {});
      perdure_progress known{};
      (void)(*session)->progress(known);
      mine.version = known.restored_version;
      EXPECT_TRUE((*session)->close());
    });
    return got;
  }
  void expect_restores(std::uint64_t version) {
    const auto got = restore();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(got[rank].status) << got[rank].status.error().text();
      EXPECT_EQ(got[rank].version, static_cast<std::int64_t>(version));
      EXPECT_EQ(got[rank].bytes, test_support::sample_capture(id_of(version), rank, kCapture)) << "rank " << rank;
    }
  }
};

TEST_F(DamagedTable, WholeOnesAreRestored) {
  write(1);
  write(2);
  expect_restores(2);
}

// Damages the first, a middle and the last byte in the tables of rank 0 and of rank 1. Rank 1 runs on another node.
TEST_F(DamagedTable, MakesTheNextOlderVersionTheOneThatAllRanksGetTwiceInARow) {
  const auto tables = manifest_of(2).tables;
  for (const std::uint32_t rank : {0U, 1U})
    for (const std::uint64_t at : {std::uint64_t{0}, tables[rank].length / 2, tables[rank].length - 1}) {
      SCOPED_TRACE("byte " + std::to_string(at) + " of the table of rank " + std::to_string(rank));
      fs::remove_all(directory_.path() + "/store");
      write(1);
      write(2);
      damage(2, rank, at);
      expect_restores(1);
      expect_restores(1);
    }
}

TEST_F(DamagedTable, OfTheOnlyVersionIsAnErrorOfAllRanksThatNamesTheFileTwiceInARow) {
  for (const std::uint32_t rank : {0U, 1U}) {
    fs::remove_all(directory_.path() + "/store");
    write(1);
    damage(1, rank, 5);
    const std::string file = fs::path(path_of(1)).filename().string();
    for (int launch = 0; launch < 2; ++launch)
      for (const Got& got : restore()) {
        ASSERT_FALSE(got.status);
        EXPECT_EQ(got.status.error().code, PERDURE_CORRUPT) << got.status.error().text();
        EXPECT_NE(got.status.error().text().find(file), std::string::npos) << got.status.error().text();
      }
  }
}

}  // namespace
}  // namespace perdure::client
