#include "reader/stored_content.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "reader/written_testing.hpp"
#include "support/sanitized.hpp"

namespace perdure::reader {
namespace {

using array::AnyBoxes;
using array::Box;
using segment::ArrayEntry;
using segment::ArrayKind;

const segment::VersionId kWritten{"heat", 3, {1'700'000'000'000'000'000, 5}};

Box box_of(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> ranges) {
  Box box;
  for (const auto& [begin, end] : ranges) {
    box.begin[box.dimensions] = begin;
    box.end[box.dimensions++] = end;
  }
  return box;
}

ArrayEntry array_with(const Box& whole, std::vector<Box> boxes, const std::string& type = "f8",
                      const std::string& name = "temperature") {
  return {{name, "K", ""}, array::ElementType::parse(type, "test").value(), ArrayKind::global, whole, std::move(boxes)};
}

/// So many arrays, divided randomly among ranks that also have memory of their own.
struct AnyVersion {
  std::vector<ArrayEntry> arrays;  // number i has the id 10 + i
  std::vector<WrittenRank> ranks;
};

AnyVersion any_version(AnyBoxes& any) {
  static const char* const kTypes[] = {"f8", "i4", "u1", "{position:3f4,id:i8,v3}", "c16", "v7"};
  AnyVersion version;
  version.ranks.resize(1 + any.below(16));
  const auto local = [&](WrittenRank& rank, std::int32_t id) {
    const std::uint64_t count = any.below(40);
    std::vector<std::byte> bytes(count * 4);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = content(id, {i}, 0);
    rank.add(segment::RegionEntry{id, 4, count}, bytes);
  };
  for (auto& rank : version.ranks)
    if (any.chance()) local(rank, 1);
  const auto arrays = 1 + any.below(3);
  for (std::size_t i = 0; i < arrays; ++i) {
    ArrayEntry array = array_with(any.array(6), {}, kTypes[any.below(6)], "array" + std::to_string(i));
    const auto division = any.division(array.whole, version.ranks.size());
    version.arrays.push_back(array);
    for (std::size_t r = 0; r < version.ranks.size(); ++r) {
      array.boxes.clear();
      for (const Box& box : division[r])
        if (!box.empty()) array.boxes.push_back(box);
      version.ranks[r].add(10 + static_cast<std::int32_t>(i), array);
    }
  }
  for (auto& rank : version.ranks) {
    if (any.chance()) local(rank, 2);
    rank.cut(1 + any.below(200));
  }
  return version;
}

TEST(StoredContents, GiveEveryBoxOfEveryArrayWhoeverWroteIt) {
  for (std::uint64_t seed = 0; seed < test_support::unless_sanitized(300U, 60U); ++seed) {
    AnyBoxes any(seed);
    WrittenStore written;
    const AnyVersion version = any_version(any);
    const auto tables = any.chance() ? segment::Tables::always : segment::Tables::when_needed;
    written.write(kWritten, version.ranks, 1 + static_cast<std::uint32_t>(any.below(version.ranks.size())), {}, tables);
    // Some chunks are kept, some forgotten at once, and some too large.
    const std::uint64_t kept = std::array<std::uint64_t, 3>{1 << 20, 200, 20}[any.below(3)];
    auto content = written.open("heat", 3, kept);
    ASSERT_TRUE(content) << content.error().text();
    ASSERT_EQ(content->ranks(), version.ranks.size());
    std::uint64_t stored = 0;
    for (const auto& rank : version.ranks) stored += rank.capture.size();
    ASSERT_EQ(content->arrays().size(), version.arrays.size());
    for (std::size_t i = 0; i < version.arrays.size(); ++i) {
      const auto id = 10 + static_cast<std::int32_t>(i);
      const StoredArray* array = content->array(id);
      ASSERT_NE(array, nullptr);
      EXPECT_EQ(array->whole, version.arrays[i].whole);
      EXPECT_EQ(array->type, version.arrays[i].type);
      EXPECT_EQ(content->find("array" + std::to_string(i)).value()->id, id);
      for (int round = 0; round < 6; ++round) {
        const Box box = round == 0 ? array->whole : any.part(array->whole);
        std::vector<std::byte> memory(box.elements() * array->type.bytes());
        const std::uint64_t before = content->bytes_read();
        const auto outcome = content->read(*array, box, memory);
        ASSERT_TRUE(outcome) << outcome.error().text();
        if (kept >= 200) {
          ASSERT_LE(content->bytes_read() - before, stored) << "a chunk was read twice";
        }
        ASSERT_EQ(memory, contents(id, box, array->type.bytes())) << "seed " << seed << ", " << box.text();
      }
    }
  }
}

TEST(StoredContents, GoThroughAnArrayInSlabsThatReadEachChunkOnce) {
  for (std::uint64_t seed = 0; seed < test_support::unless_sanitized(200U, 60U); ++seed) {
    AnyBoxes any(seed);
    WrittenStore written;
    AnyVersion version = any_version(any);
    written.write(kWritten, version.ranks, 1);
    for (std::size_t i = 0; i < version.arrays.size(); ++i) {
      auto content = written.open("heat", 3, 200);
      ASSERT_TRUE(content) << content.error().text();
      const auto id = 10 + static_cast<std::int32_t>(i);
      const StoredArray& array = *content->array(id);
      const std::uint64_t most = any.below(500), element = array.type.bytes();
      std::map<array::Index, int> given;
      const auto outcome = content->for_each_slab(array, most, [&](const Box& box, base::ConstByteSpan bytes) {
        EXPECT_TRUE(bytes.size() <= most || box.elements() == 1);
        EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), contents(id, box, element));
        array::each_element(box, [&](const array::Index& at) { ++given[at]; });
        return base::Status();
      });
      ASSERT_TRUE(outcome) << outcome.error().text();
      ASSERT_EQ(given.size(), array.whole.elements());
      for (const auto& [at, times] : given) ASSERT_EQ(times, 1);
      std::uint64_t stored = 0;
      for (const auto& rank : version.ranks) stored += rank.capture.size();
      EXPECT_LE(content->bytes_read(), stored);
    }
  }
}

TEST(StoredContents, GiveWhatRanksHaveForThemselves) {
  WrittenStore written;
  std::vector<WrittenRank> ranks(3);
  std::vector<std::byte> bytes(400);
  for (std::uint32_t r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = content(7, {r, i}, 0);
    if (r != 1) ranks[r].add(segment::RegionEntry{7, 8, 50, segment::EntryKind::memory, {{"name", "halo"}}}, bytes);
    ranks[r].add(segment::RegionEntry{8, 0, 3}, {});
    ranks[r].cut(64);
  }
  written.write(kWritten, ranks, 2);
  auto content = written.open("heat").value();
  ASSERT_EQ(content.regions().size(), 2U);
  const StoredRegion& halo = *content.find("halo").value();
  EXPECT_EQ(halo.id, 7);
  EXPECT_EQ(halo.ranks, 2U);
  EXPECT_EQ(halo.bytes, 800U);
  EXPECT_EQ(content.local(1, 7), nullptr);
  EXPECT_EQ(content.array(7), nullptr);
  const LocalRegion& local = *content.local(2, 7);
  std::vector<std::byte> part(10 * 8);
  ASSERT_TRUE(content.read_local(local, 12, part));
  for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], reader::content(7, {2, 96 + i}, 0));
  for (const std::uint64_t first : {41ULL, 51ULL, ~0ULL})
    EXPECT_EQ(content.read_local(local, first, part).error().code, PERDURE_INVALID_ARGUMENT);
  part.resize(7);
  EXPECT_EQ(content.read_local(local, 0, part).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(content.read_local(*content.local(0, 8), 0, part).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_TRUE(content.read_local(*content.local(0, 8), 0, {}));
  std::uint64_t next = 0;
  ASSERT_TRUE(content.for_each_slab(local, 100, [&](std::uint64_t first, base::ConstByteSpan some) {
    EXPECT_EQ(first, next);
    EXPECT_LE(some.size(), 100U);
    next += some.size() / 8;
    return base::Status();
  }));
  EXPECT_EQ(next, 50U);
}

std::vector<WrittenRank> two_halves(const std::string& type_of_second = "f8") {
  const Box whole = box_of({{0, 8}, {0, 5}});
  std::vector<WrittenRank> ranks(2);
  ranks[0].add(5, array_with(whole, {box_of({{0, 4}, {0, 5}})}));
  ranks[1].add(5, array_with(whole, {box_of({{4, 8}, {0, 5}})}, type_of_second));
  for (auto& rank : ranks) rank.cut(50);
  return ranks;
}

TEST(StoredContents, AreFoundByNameOrNumberAndSayWhatThereIs) {
  WrittenStore written;
  written.write(kWritten, two_halves(), 1);
  auto content = written.open("heat").value();
  EXPECT_EQ(content.find("temperature").value(), content.find("5").value());
  for (const char* unknown : {"", "6", "temp", "-5", "5x", "99999999999"}) {
    const auto none = content.find(unknown);
    ASSERT_FALSE(none) << unknown;
    EXPECT_EQ(none.error().code, PERDURE_NOT_FOUND);
    EXPECT_EQ(none.error().remedy, "its regions are 5 'temperature'");
  }
  auto twice = two_halves();
  for (auto& rank : twice) {
    rank.add(segment::RegionEntry{9, 1, 1, segment::EntryKind::memory, {{"name", "temperature"}}}, {std::byte{1}});
    rank.cut(50);
  }
  written.write({"heat", 4, {1'800'000'000'000'000'000, 5}}, twice, 1);
  EXPECT_EQ(written.open("heat")->find("temperature").error().cause,
            "several regions have this name: 5 'temperature', 9 'temperature'");
}

TEST(StoredContents, RefuseBoxesAndMemoryThatDoNotFit) {
  WrittenStore written;
  written.write(kWritten, two_halves(), 1);
  auto content = written.open("heat").value();
  const StoredArray& array = *content.array(5);
  std::vector<std::byte> memory(8);
  const auto code = [&](const Box& box) {
    const auto outcome = content.read(array, box, memory);
    return outcome ? PERDURE_OK : outcome.error().code;
  };
  EXPECT_EQ(code(box_of({{7, 8}, {4, 5}})), PERDURE_OK);
  EXPECT_EQ(code(box_of({{8, 9}, {4, 5}})), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code(box_of({{7, 8}})), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(code(box_of({{6, 8}, {4, 5}})), PERDURE_INVALID_ARGUMENT);
  EXPECT_TRUE(content.read(array, box_of({{3, 3}, {0, 5}}), {}));
}

TEST(StoredContents, OfAVersionThatLacksSegmentsAreRefused) {
  WrittenStore written;
  std::vector<WrittenRank> ranks(6);
  for (auto& rank : ranks) rank.cut(50);
  written.write(kWritten, ranks, 6, {0, 4});
  const auto none = written.open("heat");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, PERDURE_INCOMPLETE);
  EXPECT_EQ(none.error().cause, "segments 1-3,5 of its 6 are missing");
  EXPECT_EQ(StoredContent::open(written.store(), kWritten).error().code, PERDURE_INCOMPLETE);
  EXPECT_EQ(written.open("heat", 4).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(written.open("head").error().code, PERDURE_NOT_FOUND);
}

TEST(StoredContents, OfTwoAttemptsAreTheNewestThatIsWhole) {
  WrittenStore written;
  const segment::VersionId later{"heat", 3, {kWritten.attempt.created_ns + 1, 6}};
  const segment::VersionId newest{"heat", 3, {kWritten.attempt.created_ns + 2, 7}};
  const segment::VersionId other{"heat", 1, {kWritten.attempt.created_ns + 3, 8}};
  for (const auto& id : {kWritten, later, other}) written.write(id, two_halves(), 2);
  written.write(newest, two_halves(), 2, {1});
  EXPECT_EQ(written.open("heat", 3)->id(), later);
  EXPECT_EQ(written.open("heat")->id(), other) << "what was begun last, whatever its number";
  EXPECT_EQ(StoredContent::open(written.store(), kWritten)->id(), kWritten);
}

TEST(StoredContents, WhoseRanksContradictEachOtherAreCorrupt) {
  const Box whole = box_of({{0, 8}, {0, 5}});
  const auto opened = [&](std::vector<WrittenRank> ranks) {
    WrittenStore written;
    for (auto& rank : ranks) rank.cut(50);
    written.write(kWritten, ranks, 1);
    const auto content = written.open("heat");
    return content ? std::string("good")
                   : std::string(base::code_name(content.error().code)) + ": " + content.error().cause;
  };
  const auto with = [&](const ArrayEntry& second) {
    std::vector<WrittenRank> ranks(3);
    ranks[0].add(5, array_with(whole, {whole}));
    ranks[2].add(5, second);
    return ranks;
  };
  EXPECT_EQ(opened(with(array_with(whole, {}))), "good");
  EXPECT_EQ(opened(with(array_with(whole, {}, "i8"))),
            "corrupt: its ranks contradict each other: rank 0 says it is of type f8, rank 2 i8");
  EXPECT_EQ(opened(with(array_with(box_of({{0, 5}, {0, 8}}), {}))),
            "corrupt: its ranks contradict each other: rank 0 says it is [0:8, 0:5], rank 2 [0:5, 0:8]");
  auto list = array_with(whole, {});
  list.kind = ArrayKind::list;
  EXPECT_EQ(opened(with(list)),
            "corrupt: its ranks contradict each other: rank 0 says it is a global array, rank 2 a list");
  auto memory = with(array_with(whole, {}));
  memory[1].add(segment::RegionEntry{5, 8, 1}, std::vector<std::byte>(8));
  EXPECT_EQ(opened(memory),
            "corrupt: its ranks contradict each other: rank 0 says it is a part of an array, rank 1 memory");
}

TEST(StoredContents, WithElementsOfNobodyOrOfTwoSayWhich) {
  const Box whole = box_of({{0, 8}, {0, 5}});
  const auto read = [&](const Box& second, const Box& wanted) {
    WrittenStore written;
    std::vector<WrittenRank> ranks(2);
    ranks[0].add(5, array_with(whole, {box_of({{0, 4}, {0, 5}})}));
    ranks[1].add(5, array_with(whole, {second}));
    for (auto& rank : ranks) rank.cut(50);
    written.write(kWritten, ranks, 1);
    auto content = written.open("heat").value();
    std::vector<std::byte> memory(wanted.elements() * 8);
    const auto outcome = content.read(*content.array(5), wanted, memory);
    const auto slabs = content.for_each_slab(*content.array(5), 100, [](auto&, auto) { return base::Status(); });
    EXPECT_EQ(slabs ? PERDURE_OK : slabs.error().code, PERDURE_CORRUPT);
    return outcome ? std::string("good") : outcome.error().text();
  };
  EXPECT_EQ(read(box_of({{5, 8}, {0, 5}}), whole),
            "heat version 3, region 5 'temperature': no rank stored [4:5, 0:5] (corrupt)");
  EXPECT_EQ(read(box_of({{5, 8}, {0, 5}}), box_of({{0, 4}, {0, 5}})), "good");
  EXPECT_EQ(read(box_of({{3, 8}, {0, 5}}), whole),
            "heat version 3, region 5 'temperature': ranks 0 and 1 both stored [3:4, 0:5] (corrupt)");
}

// Flips each written byte and some zeros between: the content is right, or there is an error.
TEST(StoredContents, OfAFlippedByteAreRightOrAnError) {
  WrittenStore written;
  written.write(kWritten, two_halves(), 1);
  const std::string path = written.file(kWritten, 0, 1);
  const Box whole = box_of({{0, 8}, {0, 5}});
  const auto expected = contents(5, whole, 8);
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  std::fseek(file, 0, SEEK_END);
  const long bytes = std::ftell(file);
  unsigned errors = 0;
  constexpr unsigned kStep = test_support::unless_sanitized(1U, 7U);
  for (long at = 0; at < bytes; at += kStep) {
    std::fseek(file, at, SEEK_SET);
    if (std::fgetc(file) == 0 && at % 16 != 0) continue;
    const auto flip = [&] {
      std::fseek(file, at, SEEK_SET);
      const int byte = std::fgetc(file);
      std::fseek(file, at, SEEK_SET);
      std::fputc(byte ^ (1 << at % 8), file);
      std::fflush(file);
    };
    flip();
    auto content = written.open("heat");
    if (content) {
      const StoredArray* array = content->array(5);
      ASSERT_NE(array, nullptr);
      std::vector<std::byte> memory(expected.size());
      const auto outcome = content->read(*array, whole, memory);
      if (outcome) {
        ASSERT_EQ(memory, expected) << "byte " << at;
      }
      errors += !outcome;
    }
    errors += !content;
    flip();
  }
  std::fclose(file);
  EXPECT_GT(errors, (4096U / 16 + 2 * 160) / kStep);
}

TEST(StoredContents, OfADamagedChunkSayWhoseItIs) {
  WrittenStore written;
  written.write(kWritten, two_halves(), 1);
  const std::string path = written.file(kWritten, 0, 1);
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  std::fseek(file, 4096 * 5 + 3, SEEK_SET);  // chunk 0 of rank 1
  std::fputc(77, file);
  std::fclose(file);
  for (const std::uint64_t kept : {1000, 20}) {
    auto content = written.open("heat", 3, kept).value();
    const Box box = box_of({{4, 5}, {0, 1}});
    std::vector<std::byte> memory(8);
    const auto outcome = content.read(*content.array(5), box, memory);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, PERDURE_CORRUPT);
    const std::string text = outcome.error().text();
    EXPECT_NE(text.find(path + ": chunk 0 of rank 1 at offset 20480 (50 bytes) damaged"), std::string::npos) << text;
    EXPECT_NE(text.find("; it has a part of region 5 'temperature'"), std::string::npos) << text;
    EXPECT_TRUE(content.read(*content.array(5), box_of({{5, 6}, {2, 3}}), memory)) << "other chunks are good";
    EXPECT_EQ(content.verify(nullptr)->size(), 1U);
  }
}

// The retention of a running job removes the version that a verb reads.
TEST(StoredContents, AreReadToTheirEndAlsoWhenTheVersionIsRemoved) {
  WrittenStore written;
  written.write(kWritten, two_halves(), 2);
  auto opened = open_version(written.store(), "heat", std::nullopt);
  ASSERT_TRUE(opened) << opened.error().text();
  ASSERT_TRUE(written.store().remove(kWritten));
  EXPECT_FALSE(std::filesystem::exists(written.file(kWritten, 0, 2)));
  const auto& array = *opened->content.array(5);
  std::vector<std::byte> memory(array.whole.elements() * array.type.bytes());
  const auto read = opened->content.read(array, array.whole, memory);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(memory, contents(5, array.whole, array.type.bytes()));
  EXPECT_FALSE(opened->content.writer().empty());
}

TEST(StoredContents, OfTheNewestVersionAreOpenedBesideAJobThatWritesAndRetires) {
  WrittenStore written;
  const auto id_of = [](std::uint64_t version) {
    return segment::VersionId{"heat", version, {1'700'000'000'000'000'000 + version, 5}};
  };
  written.write(id_of(1), two_halves(), 2);
  std::atomic<bool> stop = false;
  std::thread job([&] {
    for (std::uint64_t version = 2; !stop; ++version) {
      written.write(id_of(version), two_halves(), 2);
      EXPECT_TRUE(written.store().remove(id_of(version - 1)));
    }
  });
  for (int times = 0; times < test_support::unless_sanitized(300, 50); ++times) {
    auto opened = open_version(written.store(), "heat", std::nullopt);
    EXPECT_TRUE(opened) << opened.error().text();
    if (!opened) break;
    const auto& array = *opened->content.array(5);
    std::vector<std::byte> memory(array.whole.elements() * array.type.bytes());
    EXPECT_TRUE(opened->content.read(array, array.whole, memory));
  }
  stop = true;
  job.join();
}

TEST(StoredContents, OfANumberThatIsRemovedMeanwhileSayWhatToDo) {
  WrittenStore written;
  written.write(kWritten, two_halves(), 2);
  std::filesystem::remove(written.file(kWritten, 1, 2));
  const auto opened = open_version(written.store(), "heat", 3);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, PERDURE_INCOMPLETE);
}

}  // namespace
}  // namespace perdure::reader
