#pragma once
// Makes catalog records, as ranks and flushes do, for tests and fuzz targets.
#include <random>
#include <vector>

#include "base/json.hpp"
#include "catalog/catalog.hpp"
#include "support/sample_segment.hpp"

namespace perdure::test_support {

inline segment::VersionId sample_id(std::uint64_t version, const std::string& name = "nbody") {
  return {name, version, {1000 + version, 7 * version + 1}};
}

/// Returns a staged piece, whose chunks are in slots of `tier`.
inline catalog::StageRecord sample_stage(const segment::VersionId& id, std::uint32_t rank, std::uint32_t ranks,
                                         std::uint32_t tier = 0, std::uint64_t bytes = 5000) {
  segment::Piece piece = sample_piece(id, rank, bytes, 4096);
  for (std::size_t i = 0; i < piece.chunks.size(); ++i) {
    piece.chunks[i].offset = 10 * rank + i;
    piece.chunks[i].place = tier;
  }
  return {id, ranks, piece};
}

inline catalog::StageRecord captured_on(catalog::StageRecord stage, std::vector<std::uint64_t> nodes) {
  stage.nodes = std::move(nodes);
  return stage;
}

/// Returns the redundancy set of position 1 in a group of three, for a version with one rank per node.
inline catalog::RedundancySet sample_redundancy_set(const segment::VersionId& id, std::uint64_t epoch,
                                                    std::uint32_t tier = 0) {
  catalog::RedundancySet protection{{id, epoch}, 3, 0, "xor", 1, 1, {}, {}, false};
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    protection.members.push_back({sample_piece(id, rank, 5000 * rank, 4096)});
  protection.kept[{1, 0}] = {77, 4096, base::hash128({}), tier};
  protection.kept[{4, 0}] = {78, 904, base::hash128({}), 0};
  return protection;
}

/// Returns one record of every kind, in an order in which all have an effect.
inline std::vector<catalog::Record> sample_records() {
  const auto first = sample_id(1), second = sample_id(2);
  return {catalog::TierRecord{0, "memory", 4711},
          catalog::TierRecord{1, "file", 42},
          catalog::BegunRecord{first, {{0, 2, {0}, false}, {1, 2, {1}, false}}},
          sample_stage(first, 0, 2),
          sample_stage(first, 1, 2, 1),
          catalog::SpilledRecord{first, 0, {{0, 4096}}},
          catalog::CommitRecord{first, {{0, 2, {0}, false}, {1, 2, {1}, false}}},
          catalog::StoredRecord{first, 1},
          catalog::IncarnationRecord{"nbody", 4711},
          sample_stage(second, 0, 1, 0, 0),
          catalog::QuarantineRecord{first, 1, 0, "its hash is wrong"},
          catalog::DropRecord{second},
          catalog::RedundancyRecord{sample_redundancy_set(first, 5)},
          catalog::ReachedRecord{{first, 5}},
          catalog::BadBlockRecord{{first, 5}, {4, 0}, "its hash is wrong"},
          catalog::RedundancyRecord{sample_redundancy_set(second, 6)},
          catalog::DropRedundancyRecord{{second, 6}},
          catalog::SupersededRecord{"nbody", 1002, {1000, 1001}}};
}

/// Returns a random record about one of a few versions; most have an effect.
inline catalog::Record random_record(std::mt19937_64& random) {
  const auto id = sample_id(random() % 4, random() % 2 == 0 ? "nbody" : "heat");
  const auto rank = static_cast<std::uint32_t>(random() % 3);
  switch (random() % 17) {
    case 0:
      return catalog::TierRecord{static_cast<std::uint32_t>(random() % 2), "memory", random() % 3};
    case 1:
      return catalog::DropRecord{id};
    case 2:
    case 3:
      return catalog::CommitRecord{id, {{0, 2, {0, 1}, false}, {1, 2, {2}, false}}};
    case 4:
      return catalog::StoredRecord{id, static_cast<std::uint32_t>(random() % 2)};
    case 5:
      return catalog::QuarantineRecord{id, rank, static_cast<std::uint32_t>(random() % 2), "damaged"};
    case 6:
      return catalog::BegunRecord{id, {{0, 2, {0, 1}, false}, {1, 2, {2}, false}}};
    case 7:
      return catalog::SpilledRecord{id, rank, {{static_cast<std::uint32_t>(random() % 4), 4096}}};
    case 8:
      return catalog::RedundancyRecord{
          sample_redundancy_set(id, random() % 2, static_cast<std::uint32_t>(random() % 2))};
    case 9:
      return catalog::ReachedRecord{{id, random() % 2}};
    case 12:
      return catalog::IncarnationRecord{id.name, random() % 2};
    case 11:
      return catalog::SupersededRecord{id.name, random() % 3, {random() % 2}};
    case 10:
      return random() % 2 == 0 ? catalog::Record{catalog::BadBlockRecord{{id, random() % 2}, {1, 0}, "damaged"}}
                               : catalog::Record{catalog::DropRedundancyRecord{{id, random() % 2}}};
    default: {
      auto stage = sample_stage(id, rank, 3, static_cast<std::uint32_t>(random() % 2), 1 + random() % 9000);
      return random() % 2 == 0 ? stage : captured_on(std::move(stage), {3, random()});
    }
  }
}

inline catalog::State fold(const std::vector<catalog::Record>& records) {
  catalog::State state;
  for (const auto& record : records) state.apply(record);
  return state;
}

/// Returns the records of the state's snapshot, which are equal for equal states.
inline base::Json described(const catalog::State& state) {
  base::Json list = base::Json::array();
  for (const auto& record : state.snapshot()) list.push_back(catalog::to_json(record));
  return list;
}

/// Returns the bytes of a log file.
inline std::vector<std::byte> sample_log(const std::vector<catalog::Record>& records) {
  std::vector<std::byte> log;
  for (char c : std::string_view("PDCATLG1")) log.push_back(static_cast<std::byte>(c));
  for (const auto& record : records) {
    const auto bytes = catalog::encode_record(record);
    log.insert(log.end(), bytes.begin(), bytes.end());
  }
  return log;
}

}  // namespace perdure::test_support
