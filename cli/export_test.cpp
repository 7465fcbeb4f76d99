// The tests type perdure export, import and plot as users do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/verb_testing.hpp"
#include "reader/written_testing.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The store has heat@40 of four ranks: 'field' (6 x 8, f8, K), and 'own' of each rank.
class ArrayStore {
 public:
  ArrayStore() {
    segment::ArrayEntry entry{{"field", "K", ""}, array::ElementType::parse("f8", "").value(), {}, {}, {}};
    entry.whole = array::whole(std::vector<std::uint64_t>{6, 8}, 8, "").value();
    std::vector<reader::WrittenRank> ranks(4);
    const auto grid = array::even_grid(entry.whole, ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      entry.boxes = {array::block(entry.whole, grid, r)};
      std::vector<double> values;
      array::each_element(entry.boxes[0],
                          [&](const array::Index& at) { values.push_back(static_cast<double>(8 * at[0] + at[1])); });
      const auto bytes = std::as_bytes(std::span(values));
      ranks[r].add(segment::entry_of(1, entry).value(), {bytes.begin(), bytes.end()});
      segment::RegionEntry own{5, 8, 2};
      segment::set_label(own, {"own", "", ""});
      ranks[r].add(own, std::vector<std::byte>(16, static_cast<std::byte>(r)));
      ranks[r].cut(40);
    }
    store_.write({"heat", 40, {1'700'000'000'000'000'000, 5}}, ranks, 2);
  }
  std::string path() const { return store_.path(); }
  std::string segment() const { return store_.file({"heat", 40, {1'700'000'000'000'000'000, 5}}, 0, 2); }
  std::string operator/(const std::string& name) const { return directory_ / name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  Ran run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", path()});
    return run_verb(arguments);
  }

 private:
  reader::WrittenStore store_;
  test_support::TemporaryDirectory directory_;
};

TEST(Export, WritesAnHdf5FileWithItsDescriptionAndSaysWhatItDid) {
  const ArrayStore store;
  const Ran ran = store.run({"export", "heat@40", "--to", store / "heat.h5"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, StartsWith(store / "heat.h5: 1 array and 4 regions of ranks, 448 B of heat version 40, in "));
  EXPECT_THAT(ran.out, HasSubstr("read back and compared\n" + store / "heat.xdmf"));
  EXPECT_THAT(store.files(), testing::ElementsAre("heat.h5", "heat.xdmf"));
}

TEST(Export, WritesAZarrGroupAndOnlyTheRegionsThatAreAskedFor) {
  const ArrayStore store;
  const Ran ran = store.run({"export", "heat", "--to", store / "heat.zarr/", "--region", "own", "--json"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  const auto json = ran.json();
  EXPECT_EQ(json["version"], "heat version 40");
  EXPECT_EQ(json["verified"], true);
  ASSERT_EQ(json["data_sets"].size(), 4U);
  EXPECT_EQ(json["data_sets"][3]["path"], "ranks/3/own");
  EXPECT_TRUE(fs::exists(store / "heat.zarr/ranks/3/own/c/0/0"));
  EXPECT_FALSE(fs::exists(store / "heat.zarr/field"));
}

TEST(Export, RefusesWhatItCannotDoAndLeavesNothing) {
  const ArrayStore store;
  const auto refused = [&](std::vector<std::string> arguments, int status, const std::string& why) {
    const Ran ran = store.run(std::move(arguments));
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_TRUE(store.files().empty());
  };
  refused({"export", "heat"}, kUsage, "--to");
  refused({"export", "heat", "--to", store / "heat.nc"}, kUsage, "FILE.h5 is written as HDF5");
  refused({"export", "heat@41", "--to", store / "heat.h5"}, kCannot, "heat");
  refused({"export", "heat", "--to", store / "heat.h5", "--region", "pressure"}, kCannot, "its regions are 1 'field'");
  refused({"export", "heat", "--to", store / "none/heat.h5"}, kCannot, "none/heat.h5");
  flip_byte(store.segment(), 4096);
  refused({"export", "heat", "--to", store / "heat.h5"}, kCannot, "chunk 0 of rank 0 at offset 4096");
  refused({"export", "heat", "--to", store / "heat.zarr"}, kCannot, "chunk 0 of rank 0 at offset 4096");
}

TEST(Export, ReplacesOnlyWithForce) {
  const ArrayStore store;
  for (const char* name : {"heat.h5", "heat.zarr"}) {
    EXPECT_EQ(store.run({"export", "heat", "--to", store / name}).status, kGood);
    const Ran again = store.run({"export", "heat", "--to", store / name});
    EXPECT_EQ(again.status, kCannot);
    EXPECT_THAT(again.err, HasSubstr("--force"));
    EXPECT_EQ(store.run({"export", "heat", "--to", store / name, "--force", "--no-verify"}).status, kGood);
  }
  fs::remove(store / "heat.h5");
  EXPECT_THAT(store.run({"export", "heat", "--to", store / "heat.h5"}).err,
              HasSubstr("heat.xdmf: it is there already"));
}

TEST(Import, BringsBackWhatWasExportedAsAVersionLikeAnyOther) {
  const ArrayStore store;
  ASSERT_EQ(store.run({"export", "heat", "--to", store / "heat.h5"}).status, kGood);
  const std::string to = store / "store";
  fs::create_directory(to);
  const Ran ran = run_verb({"import", store / "heat.h5", "--to", to, "back@3"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_EQ(ran.out, "back version 3: 1 arrays and 4 regions of 4 ranks, 448 B, written, read back and verified\n");
  EXPECT_EQ(run_verb({"verify", to}).status, kGood);
  EXPECT_THAT(run_verb({"show", "back", "--store", to}).out, HasSubstr("4 ranks, 1 of 1 segments"));
  const Ran again = run_verb({"import", store / "heat.h5", "back@3", "--to", to});
  EXPECT_EQ(again.status, kCannot);
  EXPECT_THAT(again.err, HasSubstr("back version 3: it is in " + to + " already"));
}

TEST(Import, RefusesWhatItCannotDo) {
  const ArrayStore store;
  std::ofstream(store / "text.h5") << "none";
  const Ran unversioned = store.run({"import", store / "text.h5", "back"});
  EXPECT_EQ(unversioned.status, kUsage);
  EXPECT_THAT(unversioned.err, HasSubstr("it says no version"));
  const Ran text = store.run({"import", store / "text.h5", "back@1"});
  EXPECT_EQ(text.status, kCannot);
  EXPECT_THAT(text.err, HasSubstr("text.h5: it is no HDF5 file, or damaged"));
  EXPECT_THAT(run_verb({"import", store / "text.h5", "back@1", "--to", store / "none"}).err, HasSubstr("none"));
  const std::string empty = store / "empty";
  std::filesystem::create_directory(empty);
  EXPECT_EQ(run_verb({"import", store / "text.h5", "back@1", "--to", empty}).status, kCannot);
  EXPECT_TRUE(std::filesystem::is_empty(empty)) << "what refuses the file changes nothing";
}

TEST(Plot, ShowsAPlaneInLettersAsWideAsItIsTold) {
  const ArrayStore store;
  const Ran ran = store.run({"plot", "heat@40", "field", "--width", "8"});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_EQ(ran.out,
            "heat version 40: field [0:6, 0:8], K\n"
            "   ....:\n"
            "====++++\n"
            "#%%%%@@@\n"
            "4 to 43 K\n");
}

TEST(Plot, WritesPicturesAndNumbers) {
  const ArrayStore store;
  EXPECT_EQ(store.run({"plot", "heat", "field", "--to", store / "f.png"}).status, kGood);
  EXPECT_EQ(store.run({"plot", "heat", "field[2,:]", "--to", store / "line.svg"}).status, kGood);
  EXPECT_EQ(store.run({"plot", "heat", "1[:,7]", "--to", store / "line.png"}).status, kGood);
  EXPECT_THAT(store.files(), testing::ElementsAre("f.png", "line.png", "line.svg"));
  const auto json = store.run({"plot", "heat", "field[2, 1:4]", "--json"}).json();
  EXPECT_EQ(json["values"], (std::vector<double>{17, 18, 19}));
  EXPECT_EQ(json["plane"], "[2, 1:4]");
  EXPECT_EQ(store.run({"plot", "heat", "field", "--to", store / "f.png"}).status, kCannot);
  EXPECT_EQ(store.run({"plot", "heat", "field", "--to", store / "f.png", "--force"}).status, kGood);
}

TEST(Plot, SaysWhatIsWrongWithAPlane) {
  const ArrayStore store;
  const auto refused = [&](const std::vector<std::string>& arguments, int status, const std::string& why) {
    const Ran ran = store.run(arguments);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refused({"plot", "heat", "field[6,:]"}, kUsage, "'6' is no index and no range in [0:6, 0:8]");
  refused({"plot", "heat", "field[:]"}, kUsage, "has 1 dimensions, the array 2");
  refused({"plot", "heat", "pressure"}, kCannot, "its regions are");
  refused({"plot", "heat", "field", "--member", "x"}, kCannot, "have no member 'x'");
  refused({"plot", "heat", "own"}, kUsage, "--rank N");
  refused({"plot", "heat", "own", "--rank", "1"}, kUsage, "bytes of which nothing is known");
  refused({"plot", "heat", "own", "--rank", "9"}, kCannot, "rank 9 has no such region");
  refused({"plot", "heat", "field", "--to", store / "f.gif"}, kUsage, "FILE.png");
  refused({"plot", "heat", "field", "--to", store / "f.svg"}, kUsage, "PNG only");
  refused({"plot", "heat", "field", "--width", "0"}, kUsage, "--width");
}

// Colleagues who may read the one may read the other.
TEST(Export, GivesAllItsFilesTheModeThatTheUmaskLeaves) {
  ArrayStore store;
  const mode_t before = ::umask(0022);
  const auto mode_of = [](const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); };
  EXPECT_EQ(store.run({"export", "heat", "--to", store / "out.h5"}).status, kGood);
  EXPECT_EQ(store.run({"export", "heat", "--to", store / "out.zarr"}).status, kGood);
  ::umask(before);
  for (const char* name : {"out.h5", "out.xdmf"}) EXPECT_EQ(mode_of(store / name), 0644U) << name;
  for (const auto& entry : fs::recursive_directory_iterator(store / "out.zarr"))
    EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0755U : 0644U) << entry.path();
}

}  // namespace
}  // namespace perdure::cli
