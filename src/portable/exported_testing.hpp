#pragma once
// Makes random versions with arrays of every type, writes and exports them, and writes their bytes to files for
// comparisons.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/json.hpp"
#include "portable/export_version.hpp"
#include "reader/written_testing.hpp"

namespace perdure::portable {

inline const segment::VersionId kExported{"heat", 3, {1'700'000'000'000'000'000, 5}};

/// Adds a rank's own region; its bytes are those of an array of this number in one dimension.
inline void add_own(reader::WrittenRank& rank, std::int32_t id, std::uint64_t element_bytes, std::uint64_t count) {
  std::vector<std::byte> bytes(element_bytes * count);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = reader::content(id, {i}, 0);
  rank.add(segment::RegionEntry{id, element_bytes, count}, bytes);
}

/// A random version, randomly divided; id 10 + i is the array of number i. Some ranks have memory of their own.
class AnyExport {
 public:
  explicit AnyExport(std::uint64_t seed, std::uint64_t most_extent = 7) : any_(seed) {
    ranks_.resize(1 + any_.below(9));
    for (auto& rank : ranks_)
      if (any_.chance()) add_own(rank, 1, any_.chance() ? 8 : 1, any_.below(40));
    const auto count = 1 + any_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) add(static_cast<std::int32_t>(i), any_.array(most_extent));
    add_whole(8, {}, segment::ArrayKind::replicated, "f8", "time");
    add_whole(9, {0}, segment::ArrayKind::list, "{x:f4,id:u4}", "nothing");
    for (auto& rank : ranks_) rank.cut(1 + any_.below(2000));
    store_.write(kExported, ranks_, 1 + static_cast<std::uint32_t>(any_.below(ranks_.size())));
  }
  reader::WrittenStore& store() { return store_; }
  reader::StoredContent open() { return store_.open("heat").value(); }

  /// Writes the expected content of the exported file at `path`, as bytes, with a list of it: for tests/portable.
  void set_down(const std::string& path, const std::vector<DataSet>& sets) {
    std::filesystem::create_directories(path);
    base::Json list = base::Json::array();
    for (const DataSet& set : sets) {
      const std::string file = std::to_string(list.size());
      const auto bytes = set.array != nullptr ? reader::contents(set.id, set.whole, set.type.bytes()) : own(set);
      std::ofstream(path + "/" + file, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      list.push_back(
          {{"path", set.path},
           {"file", file},
           {"type", set.type.text()},
           {"extents", std::vector<std::uint64_t>(set.whole.end.data(), set.whole.end.data() + set.whole.dimensions)},
           {"attributes", attributes(set)}});
    }
    const base::Json all = {{"sets", list},
                            {"attributes",
                             {{"name", "heat"},
                              {"version", 3},
                              {"attempt", kExported.attempt.hex()},
                              {"ranks", ranks_.size()},
                              {"writer", "perdure test"}}}};
    std::ofstream(path + "/index.json") << all.dump();
  }

 private:
  static std::vector<std::byte> own(const DataSet& set) {
    std::vector<std::byte> bytes(set.bytes());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = reader::content(set.id, {i}, 0);
    return bytes;
  }
  static base::Json attributes(const DataSet& set) {
    base::Json json = {{"perdure_id", set.id}, {"perdure_kind", set.kind}, {"perdure_type", set.type.text()}};
    if (set.array == nullptr && set.stored_element_bytes != set.type.bytes())
      json["perdure_element_bytes"] = set.stored_element_bytes;
    if (!set.label.name.empty()) json["name"] = set.label.name;
    if (!set.label.unit.empty()) json["unit"] = set.label.unit;
    if (!set.label.description.empty()) json["description"] = set.label.description;
    return json;
  }
  void add(std::int32_t number, const array::Box& whole) {
    static const char* const kTypes[] = {"f8",
                                         "f4",
                                         "i1",
                                         "i2",
                                         "i4",
                                         "i8",
                                         "u1",
                                         "u2",
                                         "u4",
                                         "c8",
                                         "c16",
                                         "b1",
                                         "v7",
                                         "v1",
                                         "{position:3f4,id:i8,v3}",
                                         "{z:c16,ok:b1,v7,raw:v5,m:2v3,n:u8}"};
    const std::string name = any_.below(4) == 0 ? "" : any_.below(6) == 0 ? "ranks" : "field." + std::to_string(number);
    segment::ArrayEntry entry{{name, any_.chance() ? "K" : "", any_.chance() ? "Wärme <&> \"x\"" : ""},
                              array::ElementType::parse(kTypes[any_.below(std::size(kTypes))], "test").value(),
                              segment::ArrayKind::global,
                              whole,
                              {}};
    const auto division = any_.division(whole, ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      entry.boxes.clear();
      for (const array::Box& box : division[r])
        if (!box.empty()) entry.boxes.push_back(box);
      ranks_[r].add(10 + number, entry);
    }
  }
  void add_whole(std::int32_t id, std::vector<std::uint64_t> extents, segment::ArrayKind kind, const char* type,
                 const char* name) {
    segment::ArrayEntry entry{{name, "s", ""}, array::ElementType::parse(type, "test").value(), kind, {}, {}};
    entry.whole = array::whole(extents, entry.type.bytes(), "test").value();
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      entry.boxes.clear();
      if (r == 0 && !entry.whole.empty()) entry.boxes = {entry.whole};
      ranks_[r].add(id, entry);
    }
  }

  array::AnyBoxes any_;
  std::vector<reader::WrittenRank> ranks_;
  reader::WrittenStore store_;
};

inline base::Status export_all(reader::StoredContent& content, const std::vector<DataSet>& sets,
                               const std::string& path, bool replace = false) {
  const Facts about{kExported.name, kExported.version, kExported.attempt.hex(), content.ranks(), "perdure test"};
  PERDURE_TRY(const auto format, format_of(path));
  PERDURE_CHECK(check_free(path, format, replace));
  PERDURE_TRY(const auto target, format == Format::hdf5 ? make_hdf5(path, about) : make_zarr(path, about));
  PERDURE_CHECK(export_sets(content, sets, *target, true, [](std::uint64_t) {}));
  return target->publish(replace);
}

inline std::vector<std::byte> all_of(reader::StoredContent& content, const DataSet& set) {
  std::vector<std::byte> bytes(set.bytes());
  const auto read =
      set.array != nullptr ? content.read(*set.array, set.whole, bytes) : content.read_local(set.local, 0, bytes);
  EXPECT_TRUE(read) << read.error().text();
  return bytes;
}

/// Compares under any number of ranks.
inline void expect_same(reader::StoredContent& before, reader::StoredContent& after, std::uint64_t seed) {
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

}  // namespace perdure::portable
