// Imported files read like the version that was exported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "portable/exported_testing.hpp"
#include "portable/import_version.hpp"
#include "support/sanitized.hpp"

namespace perdure::portable {
namespace {

namespace fs = std::filesystem;
using test_support::TemporaryDirectory;
using testing::HasSubstr;

const Advance kSilent = [](std::uint64_t) {};

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
  for (std::uint64_t seed = 0; seed < test_support::unless_sanitized(40U, 10U); ++seed) {
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

template <class T>
std::vector<T> values_of(reader::StoredContent& content, const char* region) {
  const auto set = choose(content, {region}).value().at(0);
  const auto bytes = all_of(content, set);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_F(ImportedFiles, MayBeOfOtherPrograms) {
  const std::string refused = directory_ / "refused";
  fs::create_directory(refused);
  ASSERT_EQ(std::system((std::string(PERDURE_PYTHON) + " " + PERDURE_FOREIGN_FILES + " " + directory_ / "good.h5" +
                         " " + refused)
                            .c_str()),
            0);
  const auto imported = import(directory_ / "good.h5");
  ASSERT_TRUE(imported) << imported.error().text();
  EXPECT_EQ(imported->arrays, 10U);
  EXPECT_EQ(imported->ranks, 1U);
  auto content = into_.open("back").value();
  std::vector<double> numbers(60);
  for (int i = 0; i < 60; ++i) numbers[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(values_of<double>(content, "contiguous"), numbers);
  EXPECT_EQ(values_of<std::int32_t>(content, "turned"), std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  EXPECT_EQ(values_of<float>(content, "packed"), std::vector<float>(numbers.begin(), numbers.end()));
  EXPECT_EQ(values_of<std::int16_t>(content, "single"), std::vector<std::int16_t>{-3});
  EXPECT_EQ(values_of<std::uint8_t>(content, "truth")[2], 1);
  EXPECT_EQ(values_of<double>(content, "waves")[3], 2.0);
  EXPECT_EQ(values_of<std::int64_t>(content, "growing")[8], 8);
  EXPECT_EQ(choose(content, {"lying"}).value().at(0).type.text(), "i4");
  const auto bodies = choose(content, {"bodies"}).value().at(0);
  EXPECT_EQ(bodies.type.text(), "{x:3f8,id:u2,v6}");
  EXPECT_EQ(values_of<double>(content, "bodies")[5], 4.0);
  EXPECT_EQ(choose(content, {"turned"}).value().at(0).label.unit, "K");
  EXPECT_EQ(choose(content, {"packed"}).value().at(0).whole.text(), "[0:3, 0:4, 0:5]");
  for (const auto& entry : fs::directory_iterator(refused)) {
    const auto none = import_hdf5(entry.path(), into_.store(), "none", 1, kSilent);
    ASSERT_FALSE(none) << entry.path();
    EXPECT_EQ(none.error().code == PERDURE_UNSUPPORTED || none.error().code == PERDURE_INVALID_ARGUMENT, true)
        << none.error().text();
    EXPECT_THAT(none.error().text(), HasSubstr(entry.path().string() + ":/")) << entry.path();
  }
  EXPECT_FALSE(into_.open("none"));
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
