#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "portable/exported_testing.hpp"
#include "portable/import_version.hpp"

namespace perdure::portable {
namespace {

namespace fs = std::filesystem;
using test_support::TemporaryDirectory;
using testing::HasSubstr;

const Advance kSilent = [](std::uint64_t) {};

std::vector<std::byte> all_of(reader::StoredContent& content, const DataSet& set) {
  std::vector<std::byte> bytes(set.bytes());
  const auto read =
      set.array != nullptr ? content.read(*set.array, set.whole, bytes) : content.read_local(set.local, 0, bytes);
  EXPECT_TRUE(read) << read.error().text();
  return bytes;
}

void expect_same(reader::StoredContent& before, reader::StoredContent& after, std::uint64_t seed) {
  EXPECT_EQ(before.ranks() == after.ranks() || before.locals().empty(), true) << seed;
  const auto was = choose(before, {}).value(), is = choose(after, {}).value();
  ASSERT_EQ(was.size(), is.size()) << seed;
  std::map<std::string, const DataSet*> by_path;
  for (const DataSet& set : is) by_path[set.path] = &set;
  for (const DataSet& set : was) {
    ASSERT_EQ(by_path.count(set.path), 1U) << seed << " " << set.path;
    const DataSet& other = *by_path[set.path];
    EXPECT_EQ(set.id, other.id);
    EXPECT_EQ(set.label, other.label);
    EXPECT_EQ(set.kind, other.kind);
    EXPECT_EQ(set.type, other.type);
    EXPECT_EQ(set.whole, other.whole);
    EXPECT_EQ(set.stored_element_bytes, other.stored_element_bytes);
    EXPECT_EQ(all_of(before, set), all_of(after, other)) << seed << " " << set.path;
  }
}

class ImportedFiles : public ::testing::Test {
 protected:
  base::Result<Imported> import(const std::string& path) {
    return import_hdf5(path, into_.store(), "back", 7, kSilent);
  }
  std::string exported(AnyExport& any, const std::string& name) {
    auto content = any.open();
    const std::string path = directory_ / name;
    EXPECT_TRUE(export_all(content, choose(content, {}).value(), path));
    return path;
  }
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
  reader::WrittenStore into_;
};

TEST_F(ImportedFiles, ReadLikeTheVersionThatWasExported) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    AnyExport any(seed);
    const auto path = exported(any, std::to_string(seed) + ".h5");
    const auto imported = import_hdf5(path, into_.store(), "back", seed, kSilent);
    ASSERT_TRUE(imported) << seed << ": " << imported.error().text();
    auto before = any.open(), after = into_.open("back", seed).value();
    expect_same(before, after, seed);
  }
}

TEST_F(ImportedFiles, AreChunksOfAllLengthsAndElementsOfAnySize) {
  std::vector<reader::WrittenRank> ranks(2);
  reader::WrittenStore store;
  add_own(ranks[0], 3, 5000, 2);
  add_own(ranks[1], 3, 20 * base::MiB + 1, 1);
  ranks[0].cut(1000);
  ranks[1].cut(1000000);
  store.write(kExported, ranks, 1);
  auto before = store.open("heat").value();
  ASSERT_TRUE(export_all(before, choose(before, {}).value(), directory_ / "large.h5"));
  ASSERT_TRUE(import(directory_ / "large.h5"));
  auto after = into_.open("back").value();
  expect_same(before, after, 0);
  EXPECT_EQ(after.locals()[1].element_bytes, 20 * base::MiB + 1);
}

TEST_F(ImportedFiles, NeverReplaceAVersion) {
  AnyExport any(1);
  const auto path = exported(any, "one.h5");
  ASSERT_TRUE(import(path));
  const auto again = import(path);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, PERDURE_EXISTS);
  EXPECT_THAT(again.error().text(), HasSubstr("back version 7"));
  EXPECT_TRUE(into_.open("back", 7));
}

TEST_F(ImportedFiles, ThatAreNoneOrDamagedAreRefusedAndLeaveNothing) {
  AnyExport any(4, 20);
  const auto path = exported(any, "good.h5");
  EXPECT_EQ(import(directory_ / "none.h5").error().code, PERDURE_NOT_FOUND);
  std::ofstream(directory_ / "text.h5") << "no HDF5 at all";
  EXPECT_EQ(import(directory_ / "text.h5").error().code, PERDURE_CORRUPT);
  for (const std::uint64_t cut : {8U, 100U, 800U}) {
    fs::copy_file(path, directory_ / "cut.h5", fs::copy_options::overwrite_existing);
    fs::resize_file(directory_ / "cut.h5", cut);
    EXPECT_FALSE(import(directory_ / "cut.h5")) << cut;
  }
  EXPECT_FALSE(into_.open("back"));
}

TEST_F(ImportedFiles, LeaveNothingInAStoreWithoutRoom) {
  AnyExport any(11, 40);
  const auto path = exported(any, "good.h5");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{8192, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const auto imported = import(path);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, PERDURE_NO_SPACE) << imported.error().text();
  EXPECT_FALSE(into_.open("back"));
  EXPECT_TRUE(import(path));
}

}  // namespace
}  // namespace perdure::portable
