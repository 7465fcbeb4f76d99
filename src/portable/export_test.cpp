// Exported files contain the stored data, whatever its types and divisions are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

#include "portable/exported_testing.hpp"
#include "support/sanitized.hpp"
#if PERDURE_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace perdure::portable {
namespace {

namespace fs = std::filesystem;
using test_support::TemporaryDirectory;
using testing::HasSubstr;

std::size_t entries(const std::string& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

// HDF5 keeps the memory of a file that it could not close: 1.4 MB here, until the process ends.
template <class Work>
auto without_leak_check(Work work) {
#if PERDURE_ADDRESS_SANITIZER
  const __lsan::ScopedDisabler none;
#endif
  return work();
}

class ExportedFiles : public ::testing::TestWithParam<const char*> {
 protected:
  std::string file(const std::string& stem) const { return directory_ / (stem + GetParam()); }
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
};
INSTANTIATE_TEST_SUITE_P(Formats, ExportedFiles, ::testing::Values(".h5", ".zarr"),
                         [](const auto& tested) { return std::string(tested.param + 1); });

TEST_P(ExportedFiles, AreWhatOthersReadWhateverTheTypesAndDivisions) {
  std::string command = std::string(PERDURE_PYTHON) + " " + PERDURE_CHECK_EXPORT;
  for (std::uint64_t seed = 0; seed < test_support::unless_sanitized(40U, 15U); ++seed) {
    AnyExport any(seed);
    auto content = any.open();
    const auto sets = choose(content, {}).value();
    const std::string path = file(std::to_string(seed)), expected = directory_ / (std::to_string(seed) + ".expected");
    const auto exported = export_all(content, sets, path);
    ASSERT_TRUE(exported) << seed << ": " << exported.error().text();
    any.set_down(expected, sets);
    command += " " + path + " " + expected;
  }
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_P(ExportedFiles, AreNotMadeOfADamagedChunkWhichIsNamed) {
  AnyExport any(3);
  const auto listing = reader::find_version(any.store().store(), "heat", 3).value();
  const std::string segment = any.store().file(kExported, 0, listing.segment_count);
  {
    std::fstream damaged(segment, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekg(4096);
    const char byte = static_cast<char>(damaged.get() ^ 0x40);
    damaged.seekp(4096);
    damaged.put(byte);
  }
  auto content = any.open();
  const auto exported = export_all(content, choose(content, {}).value(), file("damaged"));
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(exported.error().text(), HasSubstr("chunk 0 of rank 0 at offset 4096"));
  EXPECT_THAT(exported.error().text(), HasSubstr(segment));
  EXPECT_EQ(entries(directory_.path()), 0U);
}

TEST_P(ExportedFiles, NeverReplaceWhatIsThereUnlessTheyAreTold) {
  AnyExport any(5);
  auto content = any.open();
  const auto sets = choose(content, {}).value();
  const std::string path = file("twice");
  ASSERT_TRUE(export_all(content, sets, path));
  const auto again = export_all(content, sets, path);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, PERDURE_EXISTS);
  EXPECT_THAT(again.error().text(), HasSubstr("--force"));
  EXPECT_TRUE(export_all(content, sets, path, true));
  EXPECT_EQ(entries(directory_.path()), 1U);
}

TEST_P(ExportedFiles, NeverReplaceADirectoryOfOtherFiles) {
  AnyExport any(5);
  auto content = any.open();
  const std::string path = file("mine");
  fs::create_directory(path);
  std::ofstream(path + "/thesis") << "all of it";
  const auto exported = export_all(content, choose(content, {}).value(), path, true);
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().code, PERDURE_EXISTS);
  EXPECT_TRUE(fs::exists(path + "/thesis"));
}

TEST_P(ExportedFiles, LeaveNothingWhereThereIsNoRoom) {
  AnyExport any(11, 40);
  auto content = any.open();
  const auto sets = choose(content, {}).value();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t most : {rlim_t{0}, rlim_t{500}, rlim_t{1000}, rlim_t{3000}}) {
    const rlimit low{most, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
    const auto exported = without_leak_check([&] { return export_all(content, sets, file("large")); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    if (exported) {
      fs::remove_all(file("large"));
      continue;
    }
    EXPECT_EQ(exported.error().code, PERDURE_NO_SPACE) << exported.error().text();
    EXPECT_EQ(entries(directory_.path()), 0U) << most;
  }
}

TEST(ChosenSets, AreThoseThatAreNamedAndOthersAreRefused) {
  AnyExport any(7);
  auto content = any.open();
  const auto chosen = choose(content, {"time", "9"}).value();
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].path, "time");
  EXPECT_EQ(chosen[1].path, "nothing");
  const auto none = choose(content, {"pressure"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PERDURE_NOT_FOUND);
  EXPECT_THAT(none.error().text(), HasSubstr("time"));
}

TEST(ChosenSets, HavePathsOfTheirOwnWhateverTheRegionsAreCalled) {
  reader::WrittenStore store;
  std::vector<reader::WrittenRank> ranks(1);
  const std::pair<int, const char*> kNamed[] = {{0, "a"}, {1, "a"},        {2, "a.1"},      {3, "ranks"},
                                                {4, ""},  {5, "region.4"}, {6, "zarr.json"}};
  for (const auto& [id, name] : kNamed) {
    segment::ArrayEntry entry{{name, "", ""}, array::ElementType::parse("f8", "").value(), {}, {}, {}};
    entry.whole = array::whole(std::vector<std::uint64_t>{3}, 8, "").value();
    entry.boxes = {entry.whole};
    ranks[0].add(id, entry);
  }
  ranks[0].cut(64);
  store.write(kExported, ranks, 1);
  const auto content = store.open("heat").value();
  std::vector<std::string> paths;
  const auto sets = choose(content, {}).value();
  for (const auto& set : sets) paths.push_back(set.path);
  EXPECT_THAT(paths, testing::ElementsAre("a.0", "a.1_", "a.1", "ranks.3", "region.4_", "region.4", "zarr.json.6"));
}

/// Keeps the data it is given, and gives it back with one bit turned.
class LyingTarget : public Target {
 public:
  std::uint64_t chunk_bytes() const override { return 64; }
  bool keeps_room() const override { return true; }
  base::Status make(const DataSet&, const array::Index&) override { return {}; }
  base::Status write(const DataSet&, const array::Box&, base::ConstByteSpan elements) override {
    written_.insert(written_.end(), elements.begin(), elements.end());
    return {};
  }
  base::Status finish() override { return {}; }
  base::Status read(const DataSet&, const array::Box&, base::ByteSpan elements) override {
    std::memcpy(elements.data(), written_.data() + at_, elements.size());
    at_ += elements.size();
    if (at_ == written_.size()) elements.back() ^= std::byte{1};
    return {};
  }
  base::Status publish(bool) override { return {}; }

 private:
  std::vector<std::byte> written_;
  std::size_t at_ = 0;
};

TEST(ReadingBack, FindsOneBitThatIsAnother) {
  AnyExport any(2);
  auto content = any.open();
  LyingTarget target;
  const auto exported = export_sets(content, choose(content, {}).value(), target, true, [](std::uint64_t) {});
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().code, PERDURE_CORRUPT);
  EXPECT_THAT(exported.error().text(), HasSubstr("what was read back is not what was written"));
  LyingTarget unasked;
  EXPECT_TRUE(export_sets(content, choose(content, {}).value(), unasked, false, [](std::uint64_t) {}));
}

TEST(Formats, AreTakenFromTheEnding) {
  EXPECT_EQ(format_of("a/b.h5").value(), Format::hdf5);
  EXPECT_EQ(format_of("b.hdf5").value(), Format::hdf5);
  EXPECT_EQ(format_of("b.zarr").value(), Format::zarr);
  for (const char* path : {"", "h5", ".h5", "b.nc", "b.h5/"})
    EXPECT_EQ(format_of(path).error().code, PERDURE_INVALID_ARGUMENT) << path;
}

}  // namespace
}  // namespace perdure::portable
