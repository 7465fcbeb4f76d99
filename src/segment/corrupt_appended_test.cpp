// Tests files of format 4 in which one field was changed, with all hashes right.
#include <gtest/gtest.h>

#include <functional>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/little_endian.hpp"
#include "segment/reader.hpp"
#include "support/appended_segment.hpp"
#include "support/memory_source.hpp"

namespace perdure::segment {
namespace {

using base::Json;
using test_support::MemorySource;

const VersionId kChangedId{"nbody", 7, {1700000000123456789, 42}};

/// The CBOR of a file: tables of ranks 2 and 3, and the index.
struct Described {
  std::vector<Json> tables;
  Json index;
  bool places_are_right = true;  ///< the index gets those of the tables
};

void append(std::vector<std::byte>& file, base::ConstByteSpan data, std::uint64_t alignment) {
  file.resize(base::round_up(file.size(), alignment));
  file.insert(file.end(), data.begin(), data.end());
}

std::vector<std::byte> trailer_of(std::uint64_t offset, base::ConstByteSpan index, std::uint64_t file_bytes) {
  std::vector<std::byte> block(kTrailerBytes);
  const auto put = [&](std::size_t at, base::ConstByteSpan data) {
    std::copy(data.begin(), data.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, base::as_bytes({"\x89PDT\r\n\x1a\n", 8}));
  put_le<std::uint64_t>(block, 8, offset);
  put_le<std::uint64_t>(block, 16, index.size());
  put(24, base::hash128(index).bytes());
  put_le<std::uint64_t>(block, 40, file_bytes);
  put(48, base::hash128(base::ConstByteSpan(block).first(48)).bytes());
  return block;
}

/// Rank 2 has 5000 bytes in two chunks of 4096 and 904 bytes, rank 3 none. All chunks come before all tables.
std::vector<std::byte> file_with(const std::function<void(Described&)>& change, std::uint64_t alignment = 16) {
  Manifest manifest = test_support::sample_manifest(kChangedId, 4, 1, 2, {2}, 5000, 4096);
  manifest.pieces.push_back({3, 4096, {}, {}});
  manifest.pieces[0].regions[0].attributes = {{"name", std::string("mass")}, {"unit", std::string("kg")}};
  std::vector<std::byte> file = test_support::appended_file(manifest, alignment);
  MemorySource source(file);
  const Trailer trailer = read_trailer(source).value();
  const Manifest read = read_manifest(source).value();
  const auto json = [&](std::uint64_t offset, std::uint64_t length) {
    return base::decode_cbor(base::ConstByteSpan(file).subspan(offset, length), "x").value();
  };
  Described parts{{}, json(trailer.manifest_offset, trailer.manifest_length)};
  for (const Table& table : read.tables) parts.tables.push_back(json(table.offset, table.length));
  change(parts);
  file.resize(read.tables[0].offset);
  for (std::size_t i = 0; i < parts.tables.size(); ++i) {
    const auto table = base::encode_cbor(parts.tables[i]);
    append(file, table, alignment);
    if (!parts.places_are_right) continue;
    Json& entry = parts.index["tables"][i];
    entry[1] = file.size() - table.size();
    entry[2] = table.size();
    entry[3] = base::binary(base::hash128(table).bytes());
  }
  const auto index = base::encode_cbor(parts.index);
  append(file, index, 4096);
  const std::uint64_t offset = file.size() - index.size();
  file.resize(base::round_up(file.size() + kTrailerBytes, 4096));
  const auto tail = trailer_of(offset, index, file.size());
  std::copy(tail.begin(), tail.end(), file.end() - static_cast<std::ptrdiff_t>(kTrailerBytes));
  return file;
}

/// Returns the refusal of such a file by a reader of all, of the rank, and of who verifies it.
std::string refusal(const std::function<void(Described&)>& change, perdure_status code = PERDURE_CORRUPT) {
  MemorySource source(file_with(change));
  const auto read = read_manifest(source), rank = read_rank(source, 2);
  if (read) return "accepted";
  EXPECT_EQ(read.error().code, code);
  EXPECT_TRUE(rank || rank.error().code == code);
  EXPECT_FALSE(verify(source, nullptr).empty());
  return read.error().cause.empty() ? "" : read.error().text();
}

void expect_says(const std::string& what, const std::function<void(Described&)>& change) {
  const std::string said = refusal(change);
  EXPECT_NE(said.find(what), std::string::npos) << "'" << said << "' instead of '" << what << "'";
}

TEST(CorruptAppended, FilesAreGoodWithoutAChange) {
  MemorySource source(file_with([](Described&) {}));
  EXPECT_TRUE(read_manifest(source)) << read_manifest(source).error().text();
  EXPECT_TRUE(verify(source, nullptr).empty());
}

TEST(CorruptAppended, AlignmentsAreRefused) {
  const auto set = [](const Json& value) { return [value](Described& d) { d.index["alignment"] = value; }; };
  expect_says("field 'alignment' is 0, outside 1 to 1048576", set(0U));
  expect_says("field 'alignment' is 2097152, outside 1 to 1048576", set(2097152U));
  expect_says("field 'alignment' is 24, no power of two", set(24U));
  expect_says("field 'alignment'", set("16"));
  expect_says("is not a multiple of 32", set(32U));
}

TEST(CorruptAppended, AFileWithoutAlignmentIsOfAnotherFormat) {
  MemorySource source(file_with([](Described& d) { d.index.erase("alignment"); }, 4096));
  EXPECT_EQ(read_contents(source).error().cause, "header and manifest disagree about the format");
  EXPECT_FALSE(read_manifest(source));
  EXPECT_FALSE(verify(source, nullptr).empty());
}

TEST(CorruptAppended, IndexesAreRefused) {
  expect_says("it has an alignment, but no tables", [](Described& d) {
    d.index.erase("tables");
    d.index["pieces"] = Json::array();
    d.tables.clear();
  });
  expect_says("it has both pieces and tables", [](Described& d) { d.index["pieces"] = Json::array(); });
  expect_says("header and manifest disagree about the ranks", [](Described& d) { d.index["ranks"] = 5U; });
  expect_says("header and manifest disagree about the name", [](Described& d) { d.index["name"] = "other"; });
  expect_says("header and manifest disagree about the version", [](Described& d) { d.index["version"] = 8U; });
  expect_says("header and manifest disagree about the segment", [](Described& d) {
    d.index["segment"] = Json::array({0U, 2U});
  });
  expect_says("header and manifest disagree about the attempt", [](Described& d) {
    d.index["attempt"] = Json::array({1U, 2U});
  });
  expect_says("field 'writer'", [](Described& d) { d.index["writer"] = "\n"; });
}

TEST(CorruptAppended, PlacesOfTablesAreRefused) {
  const auto set = [](std::size_t item, const Json& value) {
    return [item, value](Described& d) {
      d.places_are_right = item == 0;
      d.index["tables"][1][item] = value;
    };
  };
  expect_says("not ascending", set(0, 1U));
  expect_says("the version has 4 ranks", set(0, 4U));
  expect_says("rank 2147483648 is not below 2^31", set(0, 2147483648U));
  expect_says("overlaps the table of rank 2", [](Described& d) {
    d.places_are_right = false;
    d.index["tables"][1][1] = d.index["tables"][0][1];
  });
  expect_says("the table of rank 3: offset 16 overlaps the header", set(1, 16U));
  expect_says("is not a multiple of 16", set(1, 9001U));
  expect_says("reach beyond the manifest's offset", set(1, std::uint64_t{1} << 62));
  expect_says("length 0 is not between 1 and 2^30", set(2, 0U));
  expect_says("length 1073741825 is not between 1 and 2^30", set(2, (1U << 30) + 1));
  expect_says("reach beyond the manifest's offset", set(2, 1U << 30));
  expect_says("table of rank 3 damaged: wrong hash", set(3, base::binary(base::hash128({}).bytes())));
  expect_says("is not [rank, offset, length, hash]", set(3, "hash"));
}

/// Changes the first entry of rank 2, [0, 1, 1666, 0, "mass", "", {"unit": "kg"}].
void expect_entry(const std::string& what, const std::function<void(Json&)>& change) {
  expect_says(what, [&](Described& d) { change(d.tables[0]["regions"][0]); });
}

TEST(CorruptAppended, EntriesAreRefused) {
  expect_entry("is not [id, element_bytes, count] with or without [kind, name, element type, attributes]",
               [](Json& entry) { entry.erase(4); });
  expect_entry("is not [id, element_bytes, count]", [](Json& entry) { entry[1] = "1"; });
  expect_entry("id 2147483648 is not below 2^31", [](Json& entry) { entry[0] = 2147483648U; });
  expect_entry("id 7 appears twice", [](Json& entry) { entry[0] = 7U; });
  expect_entry("field 'chunks' has 2 chunks, 3335 bytes of regions need 1", [](Json& entry) { entry[2] = 1U; });
  expect_entry("has a kind that is not a number below 2^32", [](Json& entry) { entry[3] = "memory"; });
  expect_entry("it is no text", [](Json& entry) { entry[4] = 5U; });
  expect_entry("has a name that is not 1 to 64", [](Json& entry) { entry[4] = "7th"; });
  expect_entry("has a name that is not 1 to 64", [](Json& entry) { entry[4] = std::string(65, 'a'); });
  expect_entry("has its name twice", [](Json& entry) { entry[6]["name"] = "mass"; });
  expect_entry("it is no text", [](Json& entry) { entry[5] = 5U; });
  expect_entry("has an element type that is none, or of another size", [](Json& entry) { entry[5] = "number"; });
  expect_entry("has an element type that is none, or of another size", [](Json& entry) { entry[5] = "f8"; });
  expect_entry("has an element type that is none", [](Json& entry) { entry[3] = 1U, entry[5] = "u1"; });
  expect_entry("has its type twice", [](Json& entry) { entry[5] = "u1", entry[6]["type"] = "u1"; });
  expect_entry("has attributes that are not a map", [](Json& entry) { entry[6] = 5U; });
  expect_entry("is plain memory, but not written so", [](Json& entry) { entry[4] = "", entry[6] = Json::object(); });
}

TEST(CorruptAppended, AnUnknownKindOfEntryIsUnsupported) {
  const std::string said = refusal([](Described& d) { d.tables[0]["regions"][0][3] = 99U; }, PERDURE_UNSUPPORTED);
  EXPECT_NE(said.find("is of kind 99, which this Perdure does not know"), std::string::npos) << said;
}

/// Changes the second chunk of rank 2, [8192, 904, hash].
void expect_chunk(const std::string& what, const std::function<void(Json&)>& change) {
  expect_says(what, [&](Described& d) { change(d.tables[0]["chunks"][1]); });
}

void encode_as(Json& chunk, std::uint64_t encoding, std::uint64_t length) {
  chunk.push_back(encoding);
  chunk.push_back(length);
  chunk.push_back(chunk[2]);
}

TEST(CorruptAppended, ChunksAreRefused) {
  const std::string shape = "is not [offset, length, hash] with or without [encoding, stored length, stored hash]";
  expect_chunk(shape, [](Json& chunk) { chunk.push_back(0U); });
  expect_chunk(shape, [](Json& chunk) { chunk[0] = "8192"; });
  expect_chunk("offset 4096 overlaps chunk 0 of rank 2", [](Json& chunk) { chunk[0] = 4096U; });
  expect_chunk("is not a multiple of 16", [](Json& chunk) { chunk[0] = 8193U; });
  expect_chunk("overlaps the header", [](Json& chunk) { chunk[0] = 0U; });
  expect_chunk("reach beyond", [](Json& chunk) { chunk[0] = ~std::uint64_t{15}; });
  expect_chunk("chunk 1 has length 905, its share of the regions is 904", [](Json& chunk) { chunk[1] = 905U; });
  expect_chunk("its hash is not a byte string of 16 bytes", [](Json& chunk) { chunk[2] = "hash"; });
  expect_chunk("it is stored as it is, but not written so", [](Json& chunk) { encode_as(chunk, 0, 904); });
  expect_chunk("encoding 4294967296 is not below 2^32", [](Json& chunk) { encode_as(chunk, 1ULL << 32, 904); });
  expect_chunk("its stored length is 0", [](Json& chunk) { encode_as(chunk, 1, 0); });
  expect_chunk("reach beyond", [](Json& chunk) { encode_as(chunk, 1, std::uint64_t{1} << 62); });
  expect_chunk("reach beyond", [](Json& chunk) { encode_as(chunk, 1, ~std::uint64_t{0}); });
  expect_chunk(shape, [](Json& chunk) { encode_as(chunk, 1, 904), chunk[3] = "zstd"; });
  expect_chunk(shape, [](Json& chunk) { encode_as(chunk, 1, 904), chunk[4] = "904"; });
  expect_chunk("its stored hash is not a byte string", [](Json& chunk) { encode_as(chunk, 1, 904), chunk[5] = 1U; });
}

TEST(CorruptAppended, TablesAreRefused) {
  expect_says("it is that of rank 1", [](Described& d) { d.tables[0]["rank"] = 1U; });
  expect_says("field 'chunk_bytes' is 0", [](Described& d) { d.tables[0]["chunk_bytes"] = 0U; });
  expect_says("field 'chunks' is missing", [](Described& d) { d.tables[0].erase("chunks"); });
  expect_says("field 'regions' is missing", [](Described& d) { d.tables[0].erase("regions"); });
  expect_says("overlaps", [](Described& d) {  // a chunk of another rank
    d.tables[1]["regions"] = d.tables[0]["regions"];
    d.tables[1]["chunks"] = d.tables[0]["chunks"];
  });
}

// The bytes in the file are verified by everybody, with or without a decoder.
TEST(EncodedChunks, AreRefusedByReadersAndStillVerify) {
  const std::vector<std::pair<std::uint32_t, std::string>> encodings{{1, "1 (zstd)"}, {2, "2 (encrypted)"}, {77, "77"}};
  for (const auto& [number, name] : encodings) {
    MemorySource source(file_with([number = number](Described& d) {
      Json& chunk = d.tables[0]["chunks"][1];
      encode_as(chunk, number, 904);
      chunk[2] = base::binary(base::hash128({}).bytes());  // of plain bytes that nobody here can make
    }));
    for (const auto& refused : {read_manifest(source), read_rank(source, 2)}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
      EXPECT_EQ(refused.error().cause, "chunk 1 of rank 2 has encoding " + name + ", which this Perdure cannot decode");
      EXPECT_EQ(refused.error().remedy, "read it with the Perdure that wrote it, or a newer one");
    }
    EXPECT_TRUE(read_contents(source)) << "names and ranks are known";
    EXPECT_TRUE(read_rank(source, 3)) << "it has no such chunk";
    EXPECT_TRUE(verify(source, nullptr).empty());
    source.bytes()[8192] ^= std::byte{1};
    const auto defects = verify(source, nullptr);
    ASSERT_EQ(defects.size(), 1U);
    EXPECT_EQ(defects[0].rank, 2);
    EXPECT_EQ(defects[0].chunk, 1);
  }
}

TEST(EncodedChunks, AreNotReadAsTheyAre) {
  MemorySource source(
      test_support::appended_file(test_support::sample_manifest(kChangedId, 4, 1, 2, {2}, 5000, 4096), 1));
  Piece piece = read_rank(source, 2)->pieces[0];
  piece.chunks[1].encoding = Encoding::encrypted;
  std::vector<std::byte> target(904);
  const auto refused = read_chunk(source, piece, 1, target);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
}

// Fields of format 4 in older formats, and the other way round, are damage.
TEST(CorruptAppended, PiecesOfOtherFormsAreRefused) {
  expect_chunk("is not [offset, length, hash]", [](Json& chunk) { chunk.push_back(0U); });
  expect_entry("is not [id, element_bytes, count]", [](Json& entry) {
    entry = Json::array({0U, 1U, 1666U, 1U, entry[6]});
  });
  Manifest old = test_support::sample_manifest(kChangedId, 4, 1, 2, {2}, 5000, 4096);
  lay_out(old, Tables::always);
  old.pieces[0].chunks[1].encoding = Encoding::zstd;
  MemorySource source(test_support::sample_file(old, Tables::always));
  EXPECT_EQ(read_manifest(source)->pieces[0].chunks[1].encoding, Encoding::none);
}

}  // namespace
}  // namespace perdure::segment
