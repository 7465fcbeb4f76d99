#pragma once
// Makes a plate whose temperatures are known, for the tests of verbs that read regions.
#include "cli/verb_testing.hpp"
#include "reader/written_testing.hpp"

namespace perdure::cli {

/// Gives the value of the plate at row i, column j.
inline double plate(std::uint64_t i, std::uint64_t j) {
  return static_cast<double>(i) * 10 + static_cast<double>(j) + 0.25;
}

struct PlateOptions {
  std::uint64_t rows = 6, columns = 4;
  std::uint32_t ranks = 2;
  double changed = 0;  ///< is added at [4, 1]
  std::string type = "f8";
  std::uint64_t local_count = 10;  ///< elements of region 3 of each rank
  bool more = false;               ///< a region 'pressure' as well
};

/// Writes "temperature" (5, f8 in K) in rows, a local region 3 of each rank, and particles (8) that rank 0 stored for
/// all.
inline void write_plate(reader::WrittenStore& written, const std::string& name, std::uint64_t version,
                        const PlateOptions& options = {}, const std::vector<std::uint32_t>& segments = {}) {
  segment::ArrayEntry array{{"temperature", "K", "of the plate"},
                            array::ElementType::parse(options.type, "test").value(),
                            segment::ArrayKind::global,
                            array::whole(std::array{options.rows, options.columns}, 8, "test").value(),
                            {}};
  std::vector<reader::WrittenRank> ranks(options.ranks);
  for (std::uint32_t r = 0; r < options.ranks; ++r) {
    array.boxes = {array::block(array.whole, array::Grid{2, {options.ranks, 1}}, r)};
    std::vector<std::byte> bytes;
    array::each_element(array.boxes[0], [&](const array::Index& at) {
      double value = plate(at[0], at[1]);
      if (at[0] == 4 && at[1] == 1) value += options.changed;
      const auto* begin = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), begin, begin + 8);
    });
    ranks[r].add(segment::entry_of(5, array).value(), bytes);
    std::vector<std::byte> local(options.local_count * 4, static_cast<std::byte>(r + 1));
    ranks[r].add(segment::RegionEntry{3, 4, options.local_count}, local);
    segment::ArrayEntry particles{{"particles", "", ""},
                                  array::ElementType::parse("{position:2f4,id:i4}", "test").value(),
                                  segment::ArrayKind::replicated,
                                  array::whole(std::array<std::uint64_t, 1>{2}, 12, "test").value(),
                                  {}};
    std::vector<std::byte> all;
    if (r == 0) {
      particles.boxes = {particles.whole};
      for (std::int32_t i = 0; i < 2; ++i) {
        const float position[2] = {static_cast<float>(i) + 0.5F, -1};
        all.insert(all.end(), reinterpret_cast<const std::byte*>(position),
                   reinterpret_cast<const std::byte*>(position) + 8);
        all.insert(all.end(), reinterpret_cast<const std::byte*>(&i), reinterpret_cast<const std::byte*>(&i) + 4);
      }
    }
    ranks[r].add(segment::entry_of(8, particles).value(), all);
    if (options.more) {
      array.label.name = "pressure";
      ranks[r].add(segment::entry_of(9, array).value(), bytes);
      array.label.name = "temperature";
    }
    ranks[r].cut(100);
  }
  written.write({name, version, {1'700'000'000'000'000'000 + version, 5}}, ranks, options.ranks, segments);
}

}  // namespace perdure::cli
