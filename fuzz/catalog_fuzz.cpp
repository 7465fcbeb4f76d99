// Fuzzes a catalog's log with any bytes; with mode 1, the payload of a record whose header is right.
#include <cstring>

#include "catalog/catalog.hpp"
#include "support/sample_records.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

/// A replayed state must survive a compaction: its snapshot replays to the same state, without damage.
void check_replay(base::ConstByteSpan log) {
  catalog::ReplayReport report;
  std::uint64_t end = 0;
  const catalog::State state = catalog::replay_bytes(log, "log", report, end);
  require(report.torn_bytes + report.skipped_bytes <= log.size());
  catalog::ReplayReport second;
  const catalog::State again =
      catalog::replay_bytes(test_support::sample_log(state.snapshot()), "snapshot", second, end);
  require(second.damage.empty() && second.torn_bytes == 0);
  require(test_support::described(again) == test_support::described(state));
}

Bytes framed(base::ConstByteSpan payload) {
  Bytes log = test_support::sample_log({test_support::sample_stage(test_support::sample_id(1), 0, 2)});
  const std::uint32_t header[2] = {0x52434450, static_cast<std::uint32_t>(payload.size())};
  const std::uint64_t hash = base::hash64(payload);
  for (const auto part : std::initializer_list<base::ConstByteSpan>{std::as_bytes(std::span(header)),
                                                                    std::as_bytes(std::span(&hash, 1)), payload})
    log.insert(log.end(), part.begin(), part.end());
  return log;
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return check_replay(input);
  if (input[0] == std::byte{1}) return check_replay(framed(input.subspan(1)));
  check_replay(input.subspan(1));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list = {with_mode(0, test_support::sample_log({})),
                             with_mode(0, test_support::sample_log(test_support::sample_records()))};
  for (const auto& record : test_support::sample_records()) {
    list.push_back(with_mode(1, base::encode_cbor(catalog::to_json(record))));
    list.push_back(with_mode(0, test_support::sample_log({record, record})));
  }
  return list;
}

}  // namespace perdure::fuzz
