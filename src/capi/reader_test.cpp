// Tests the C functions of readers: their own checks, and that they return the stored content.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "os/file.hpp"
#include "perdure/perdure_reader.h"
#include "reader/written_testing.hpp"

extern "C" double sum_in_c(const char* store, const char* name, const char* region);

namespace perdure::capi {
namespace {

using testing::HasSubstr;

/// Has version 3 of "heat": temperature (4 x 6, divided in columns), a region of each rank, and a scalar on rank 0.
class ReaderInC : public testing::Test {
 protected:
  ReaderInC() {
    std::vector<reader::WrittenRank> ranks(3);
    const auto whole = array::whole(std::array<std::uint64_t, 2>{4, 6}, 8, "test").value();
    for (std::uint32_t r = 0; r < 3; ++r) {
      segment::ArrayEntry entry{{"temperature", "K", "of the plate"},
                                array::ElementType::parse("f8", "test").value(),
                                segment::ArrayKind::global,
                                whole,
                                {array::block(whole, array::Grid{2, {1, 3}}, r)}};
      std::vector<std::byte> bytes;
      array::each_element(entry.boxes[0], [&](const array::Index& at) {
        const double value = static_cast<double>(at[0] * 6 + at[1]);
        const auto* begin = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), begin, begin + 8);
      });
      ranks[r].add(segment::entry_of(5, entry).value(), bytes);
      if (r > 0) ranks[r].add(segment::RegionEntry{2, 4, r}, std::vector<std::byte>(4 * r, static_cast<std::byte>(r)));
      segment::ArrayEntry scalar{
          {}, array::ElementType::parse("i1", "test").value(), segment::ArrayKind::replicated, {}, {}};
      if (r == 0) scalar.boxes = {scalar.whole};
      ranks[r].add(segment::entry_of(9, scalar).value(), std::vector<std::byte>(r == 0 ? 1 : 0, std::byte{42}));
      ranks[r].cut(24);
    }
    written_.write({"heat", 3, {7, 5}}, ranks, 2);
    open();
  }
  ~ReaderInC() override { (void)perdure_close_reader(&reader_); }
  void open() {
    char message[512];
    EXPECT_EQ(perdure_open_reader(written_.path().c_str(), "heat", 3, &reader_, message, sizeof message), PERDURE_OK)
        << message;
  }
  reader::WrittenStore written_;
  perdure_reader_t* reader_ = nullptr;
};

TEST_F(ReaderInC, GivesWhatAProgramInCAsksFor) {
  EXPECT_EQ(sum_in_c(written_.path().c_str(), "heat", "temperature"), 23 * 24 / 2);
  EXPECT_EQ(sum_in_c(written_.path().c_str(), "heat", "speed"), -1);
  EXPECT_EQ(sum_in_c(written_.path().c_str(), "head", "5"), -1);
}

TEST_F(ReaderInC, ListsTheRegionsOfAllRanks) {
  std::int64_t version = 0;
  std::uint64_t ranks = 0;
  EXPECT_EQ(perdure_reader_version(reader_, &version, &ranks), PERDURE_OK);
  EXPECT_EQ(perdure_reader_version(reader_, nullptr, nullptr), PERDURE_OK);
  EXPECT_EQ(version, 3);
  EXPECT_EQ(ranks, 3U);
  std::size_t count = 0;
  ASSERT_EQ(perdure_reader_region_count(reader_, &count), PERDURE_OK);
  ASSERT_EQ(count, 3U);
  perdure_region_info info;
  ASSERT_EQ(perdure_reader_region(reader_, 0, &info), PERDURE_OK);
  EXPECT_EQ(info.id, 2);
  EXPECT_EQ(info.kind, PERDURE_STORED_LOCAL);
  EXPECT_STREQ(info.name, "");
  EXPECT_STREQ(info.type, "v4");
  EXPECT_EQ(info.dimensions, 1);
  EXPECT_EQ(info.extents[0], 2U);
  EXPECT_EQ(info.ranks, 2U);
  EXPECT_EQ(info.bytes, 12U);
  ASSERT_EQ(perdure_reader_region(reader_, 1, &info), PERDURE_OK);
  EXPECT_EQ(info.kind, PERDURE_STORED_ARRAY);
  EXPECT_STREQ(info.name, "temperature");
  EXPECT_STREQ(info.unit, "K");
  EXPECT_STREQ(info.description, "of the plate");
  EXPECT_EQ(info.dimensions, 2);
  EXPECT_EQ(info.extents[1], 6U);
  EXPECT_EQ(info.extents[2], 0U);
  EXPECT_EQ(info.element_bytes, 8U);
  EXPECT_EQ(info.ranks, 3U);
  ASSERT_EQ(perdure_reader_region(reader_, 2, &info), PERDURE_OK);
  EXPECT_EQ(info.kind, PERDURE_STORED_REPLICATED);
  EXPECT_EQ(info.dimensions, 0);
  EXPECT_EQ(perdure_reader_region(reader_, 3, &info), PERDURE_NOT_FOUND);
  EXPECT_EQ(perdure_reader_region(reader_, 0, nullptr), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_region_count(reader_, nullptr), PERDURE_INVALID_ARGUMENT);
  std::size_t index = 77;
  EXPECT_EQ(perdure_reader_find(reader_, "9", &index), PERDURE_OK);
  EXPECT_EQ(index, 2U);
  EXPECT_STREQ(perdure_reader_error_text(reader_), "");
  EXPECT_EQ(perdure_reader_find(reader_, "speed", &index), PERDURE_NOT_FOUND);
  EXPECT_THAT(perdure_reader_error_text(reader_), HasSubstr("its regions are 2, 5 'temperature', 9"));
  EXPECT_EQ(perdure_reader_find(reader_, nullptr, &index), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_find(reader_, "9", nullptr), PERDURE_INVALID_ARGUMENT);
}

// Has an older version of another branch, and a name without branch.
TEST_F(ReaderInC, TakesAVersionOfABranch) {
  std::vector<reader::WrittenRank> ranks(1);
  ranks[0].add(segment::RegionEntry{2, 4, 1}, std::vector<std::byte>(4));
  ranks[0].cut(24);
  written_.write({"heat", 8, {3, plan::nonce_on(0x3f9a12, 5)}}, ranks, 1);
  char message[512];
  std::int64_t version = 0;
  std::uint64_t of_ranks = 0;
  const auto opened = [&](const char* name, std::int64_t wanted) {
    (void)perdure_close_reader(&reader_);
    return perdure_open_reader(written_.path().c_str(), name, wanted, &reader_, message, sizeof message);
  };
  ASSERT_EQ(opened("heat", PERDURE_LATEST), PERDURE_OK) << message;
  (void)perdure_reader_version(reader_, &version, &of_ranks);
  EXPECT_EQ(version, 3) << "what was begun last, not the highest number";
  EXPECT_EQ(opened("heat", 8), PERDURE_MISMATCH);
  EXPECT_THAT(message, HasSubstr("heat@3f9a12:8"));
  ASSERT_EQ(opened("heat@3f9a12", PERDURE_LATEST), PERDURE_OK) << message;
  (void)perdure_reader_version(reader_, &version, &of_ranks);
  EXPECT_EQ(version, 8);
  EXPECT_EQ(opened("heat@3f9a1", 8), PERDURE_INVALID_ARGUMENT);
  open();
}

TEST_F(ReaderInC, ReadsBoxesAndRefusesThoseThatDoNotFit) {
  double values[24];
  const auto read = [&](std::array<std::uint64_t, 2> begin, std::array<std::uint64_t, 2> end, std::size_t bytes) {
    return perdure_reader_read(reader_, 1, begin.data(), end.data(), values, bytes);
  };
  ASSERT_EQ(read({1, 1}, {3, 5}, 64), PERDURE_OK) << perdure_reader_error_text(reader_);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(values[i], static_cast<double>((1 + i / 4) * 6 + 1 + i % 4));
  EXPECT_EQ(read({1, 1}, {3, 5}, 63), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(read({1, 1}, {3, 7}, 96), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(read({3, 1}, {1, 5}, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(read({~0ULL, 0}, {0, 6}, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(read({2, 1}, {2, 5}, 0), PERDURE_OK);
  const std::uint64_t zero[2] = {0, 0};
  EXPECT_EQ(perdure_reader_read(reader_, 1, zero, nullptr, values, sizeof values), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_read(reader_, 1, nullptr, nullptr, nullptr, sizeof values), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_read(reader_, 1, nullptr, nullptr, values, sizeof values), PERDURE_OK);
  EXPECT_EQ(values[23], 23);
  EXPECT_EQ(perdure_reader_read(reader_, 9, nullptr, nullptr, values, sizeof values), PERDURE_NOT_FOUND);
  EXPECT_EQ(perdure_reader_read(reader_, 0, nullptr, nullptr, values, 4), PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(perdure_reader_error_text(reader_), HasSubstr("perdure_reader_read_local()"));
  std::int8_t scalar = 0;
  EXPECT_EQ(perdure_reader_read(reader_, 2, nullptr, nullptr, &scalar, 1), PERDURE_OK);
  EXPECT_EQ(scalar, 42);
}

TEST_F(ReaderInC, ReadsWhatOneRankHas) {
  perdure_region_size size{};
  EXPECT_EQ(perdure_reader_local_size(reader_, 2, 2, &size), PERDURE_OK);
  EXPECT_EQ(size.element_bytes, 4U);
  EXPECT_EQ(size.count, 2U);
  EXPECT_EQ(perdure_reader_local_size(reader_, 2, 2, nullptr), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_local_size(reader_, 0, 2, &size), PERDURE_NOT_FOUND);
  EXPECT_EQ(perdure_reader_local_size(reader_, 1ULL << 32 | 2, 2, &size), PERDURE_NOT_FOUND);
  EXPECT_EQ(perdure_reader_local_size(reader_, 0, 5, &size), PERDURE_NOT_FOUND);
  EXPECT_THAT(perdure_reader_error_text(reader_), HasSubstr("that is an array"));
  unsigned char bytes[8] = {};
  EXPECT_EQ(perdure_reader_read_local(reader_, 2, 2, 1, 1, bytes, 4), PERDURE_OK);
  EXPECT_EQ(bytes[3], 2);
  EXPECT_EQ(bytes[4], 0);
  EXPECT_EQ(perdure_reader_read_local(reader_, 2, 2, 1, 2, bytes, 8), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_read_local(reader_, 2, 2, 0, 2, bytes, 7), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_read_local(reader_, 2, 2, 0, 1ULL << 62, bytes, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_read_local(reader_, 2, 2, 0, 2, nullptr, 8), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_read_local(reader_, 0, 2, 0, 2, bytes, 8), PERDURE_NOT_FOUND);
}

TEST_F(ReaderInC, VerifiesEveryByte) {
  EXPECT_EQ(perdure_reader_verify(reader_), PERDURE_OK);
  const std::string path = written_.file({"heat", 3, {7, 5}}, 1, 2);
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  for (const long at : {4095L, 4096L + 4000}) {  // of the header, and behind a chunk
    std::fseek(file, at, SEEK_SET);
    std::fputc(1, file);
  }
  std::fclose(file);
  EXPECT_EQ(perdure_reader_verify(reader_), PERDURE_CORRUPT);
  EXPECT_THAT(perdure_reader_error_text(reader_), HasSubstr(path));
  EXPECT_THAT(perdure_reader_error_text(reader_), HasSubstr("; and 1 more defects"));
}

TEST_F(ReaderInC, AFailedOpenGivesNoReaderAndAMessageThatFitsTheRoom) {
  auto* reader = reinterpret_cast<perdure_reader_t*>(std::uintptr_t{77});
  char message[16];
  const std::string store = written_.path();
  std::memset(message, 'x', sizeof message);
  EXPECT_EQ(perdure_open_reader(store.c_str(), "heat", 4, &reader, message, sizeof message), PERDURE_MISMATCH);
  EXPECT_EQ(reader, nullptr);
  EXPECT_EQ(std::strlen(message), sizeof message - 1);
  EXPECT_EQ(perdure_open_reader(store.c_str(), "heat", -7, &reader, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open_reader(store.c_str(), "../x", 3, &reader, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open_reader(store.c_str(), nullptr, 3, &reader, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open_reader(nullptr, "heat", 3, &reader, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open_reader("", "heat", 3, &reader, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open_reader((store + "/none").c_str(), "heat", 3, &reader, nullptr, 0), PERDURE_NOT_FOUND);
  EXPECT_EQ(perdure_open_reader(store.c_str(), "heat", 3, nullptr, nullptr, 0), PERDURE_INVALID_ARGUMENT);
}

TEST_F(ReaderInC, AClosedReaderIsAnErrorForEveryCall) {
  perdure_reader_t* stale = reader_;
  EXPECT_EQ(perdure_close_reader(&reader_), PERDURE_OK);
  EXPECT_EQ(reader_, nullptr);
  EXPECT_EQ(perdure_close_reader(&reader_), PERDURE_CLOSED);
  EXPECT_EQ(perdure_close_reader(nullptr), PERDURE_INVALID_ARGUMENT);
  std::size_t number = 0;
  perdure_region_info info;
  perdure_region_size size;
  EXPECT_EQ(perdure_reader_version(stale, nullptr, nullptr), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_region_count(stale, &number), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_region(stale, 0, &info), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_find(stale, "5", &number), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_read(stale, 0, nullptr, nullptr, &number, 8), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_local_size(stale, 0, 0, &size), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_read_local(stale, 0, 0, 0, 0, &number, 0), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_verify(stale), PERDURE_CLOSED);
  EXPECT_STREQ(perdure_reader_error_text(stale), "the reader is closed");
  EXPECT_EQ(perdure_close_reader(&stale), PERDURE_CLOSED);
  EXPECT_EQ(perdure_reader_verify(nullptr), PERDURE_INVALID_ARGUMENT);
}

TEST(ReaderOfAProgram, GivesTheArraysThatItProtected) {
  test_support::TemporaryDirectory directory;
  const std::string store = directory.path() + "/store";
  const std::string options = "store.path=" + store + ";node.path=" + directory.path() +
                              "/node;tier.file.path=" + directory.path() + "/file;chunk_bytes=64KiB";
  perdure_t* handle = nullptr;
  char message[512];
  ASSERT_EQ(perdure_open(options.c_str(), &handle, message, sizeof message), PERDURE_OK) << message;
  constexpr std::uint64_t kRows = 100, kColumns = 200;
  std::vector<double> plate(kRows * kColumns);
  std::iota(plate.begin(), plate.end(), 0.5);
  const std::uint64_t extents[2] = {kRows, kColumns};
  const perdure_array array{"plate", "f8", 2, extents, nullptr, 0, "K", "a plate"};
  ASSERT_EQ(perdure_protect_block(handle, 5, &array, nullptr, plate.data()), PERDURE_OK) << perdure_error_text(handle);
  std::int32_t counter = 77;
  ASSERT_EQ(perdure_protect(handle, 6, &counter, 4, 1), PERDURE_OK);
  ASSERT_EQ(perdure_describe(handle, 6, "counter", nullptr, nullptr), PERDURE_OK);
  ASSERT_EQ(perdure_checkpoint(handle, "heat", 1), PERDURE_OK) << perdure_error_text(handle);
  ASSERT_EQ(perdure_wait(handle, "heat", 1, PERDURE_LEVEL_STORE, 60), PERDURE_OK) << perdure_error_text(handle);
  EXPECT_EQ(perdure_close(&handle), PERDURE_OK);
  perdure_reader_t* reader = nullptr;
  ASSERT_EQ(perdure_open_reader(store.c_str(), "heat", PERDURE_LATEST, &reader, message, sizeof message), PERDURE_OK)
      << message;
  std::size_t index = 77;
  ASSERT_EQ(perdure_reader_find(reader, "plate", &index), PERDURE_OK) << perdure_reader_error_text(reader);
  const std::uint64_t begin[2] = {50, 10}, end[2] = {52, 13};
  double values[6];
  ASSERT_EQ(perdure_reader_read(reader, index, begin, end, values, sizeof values), PERDURE_OK);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(values[i], plate[(50 + i / 3) * kColumns + 10 + i % 3]);
  EXPECT_EQ(perdure_reader_find(reader, "counter", &index), PERDURE_OK);
  std::int32_t found = 0;
  EXPECT_EQ(perdure_reader_read_local(reader, 0, 6, 0, 1, &found, sizeof found), PERDURE_OK);
  EXPECT_EQ(found, 77);
  EXPECT_EQ(perdure_reader_verify(reader), PERDURE_OK) << perdure_reader_error_text(reader);
  EXPECT_EQ(perdure_close_reader(&reader), PERDURE_OK);
}

TEST_F(ReaderInC, BelongsToTheProcessThatOpenedIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::size_t count = 0;
    perdure_reader_t* copy = reader_;
    const bool refused = perdure_reader_region_count(reader_, &count) == PERDURE_WRONG_PROCESS &&
                         perdure_close_reader(&copy) == PERDURE_WRONG_PROCESS;
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

struct Shown {
  std::vector<std::tuple<std::string, std::int64_t, perdure_stored_state, std::string>> versions;
  std::size_t most = 100;
  static int visit(void* context, const perdure_stored_version* version) {
    auto& shown = *static_cast<Shown*>(context);
    EXPECT_GT(version->bytes, 0U);
    EXPECT_GT(version->created_ns, 0U);
    shown.versions.push_back({version->name, version->version, version->state, version->reason});
    return shown.versions.size() < shown.most ? 0 : 1;
  }
};

TEST_F(ReaderInC, ListsWhatIsInAStore) {
  reader::WrittenRank rank;
  rank.add(segment::RegionEntry{1, 1, 3}, std::vector<std::byte>(3));
  rank.cut(4);
  written_.write({"heat", 2, {9, 1}}, {rank, rank}, 2);  // a later attempt at an older version
  written_.write({"nbody", 8, {1, 1}}, {rank}, 1);
  ASSERT_TRUE(os::remove_file(written_.file({"heat", 2, {9, 1}}, 1, 2)));
  Shown all, one, first;
  char message[512];
  const auto list = [&](const char* name, Shown& into) {
    return perdure_list_versions(written_.path().c_str(), name, Shown::visit, &into, message, sizeof message);
  };
  ASSERT_EQ(list(nullptr, all), PERDURE_OK) << message;
  ASSERT_EQ(all.versions.size(), 3U);
  EXPECT_EQ(all.versions[0], std::tuple("heat", 3, PERDURE_STORED_COMPLETE, ""));
  EXPECT_EQ(std::get<2>(all.versions[1]), PERDURE_STORED_INCOMPLETE);
  EXPECT_THAT(std::get<3>(all.versions[1]), HasSubstr("1 of 2 segments"));
  EXPECT_EQ(all.versions[2], std::tuple("nbody", 8, PERDURE_STORED_COMPLETE, ""));
  ASSERT_EQ(list("nbody", one), PERDURE_OK);
  EXPECT_EQ(one.versions.size(), 1U);
  first.most = 1;
  ASSERT_EQ(list(nullptr, first), PERDURE_OK);
  EXPECT_EQ(first.versions.size(), 1U) << "it goes on after the visitor had enough";
  EXPECT_EQ(list("head", one), PERDURE_NOT_FOUND);
  EXPECT_THAT(message, HasSubstr("head: no such checkpoint in"));
  EXPECT_EQ(perdure_list_versions("", nullptr, Shown::visit, &one, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_list_versions(written_.path().c_str(), nullptr, nullptr, &one, message, 9),
            PERDURE_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "visit: i");
}

TEST_F(ReaderInC, ExportsWhatIsAskedFor) {
  test_support::TemporaryDirectory directory;
  const std::string path = directory / "heat.zarr";
  const char* const regions[] = {"temperature", nullptr};
  EXPECT_EQ(perdure_reader_export(reader_, path.c_str(), regions, 2, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_export(reader_, path.c_str(), nullptr, 1, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_export(reader_, path.c_str(), regions, 0, 0), PERDURE_INVALID_ARGUMENT) << "not all";
  EXPECT_EQ(perdure_reader_export(reader_, path.c_str(), nullptr, 0, 4), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_export(reader_, nullptr, nullptr, 0, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_reader_export(reader_, (directory / "heat.doc").c_str(), nullptr, 0, 0), PERDURE_INVALID_ARGUMENT);
  ASSERT_EQ(perdure_reader_export(reader_, path.c_str(), regions, 1, 0), PERDURE_OK)
      << perdure_reader_error_text(reader_);
  EXPECT_TRUE(os::exists(path + "/temperature/zarr.json").value());
  EXPECT_FALSE(os::exists(path + "/ranks").value()) << "it was not asked for";
  EXPECT_EQ(perdure_reader_export(reader_, path.c_str(), nullptr, 0, 0), PERDURE_EXISTS);
  ASSERT_EQ(
      perdure_reader_export(reader_, path.c_str(), nullptr, 0, PERDURE_EXPORT_REPLACE | PERDURE_EXPORT_UNVERIFIED),
      PERDURE_OK)
      << perdure_reader_error_text(reader_);
  EXPECT_TRUE(os::exists(path + "/ranks").value());
}

}  // namespace
}  // namespace perdure::capi
