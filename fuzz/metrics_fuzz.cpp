// Fuzzes an engine's metrics message with any bytes: an understood one can be exported, and survives encoding.

#include "base/json.hpp"
#include "metrics/exposition.hpp"
#include "metrics/family_codec.hpp"
#include "metrics/utf8.hpp"
#include "target.hpp"

namespace perdure::fuzz {

void run_one(base::ConstByteSpan input) {
  const std::string text = metrics::valid_utf8(text_of(input));
  require(metrics::valid_utf8(text) == text);
  const auto json = base::decode_cbor(input, "input");
  if (!json) return;
  const auto families = metrics::families_from_json(*json, "input");
  if (!families) return;
  require(metrics::encode(*families).has_value());
  const auto again = metrics::families_from_json(metrics::to_json(*families), "again");
  require(again.has_value() && metrics::encode(*again).value() == metrics::encode(*families).value());
}

std::vector<Bytes> seeds() {
  const std::vector<metrics::Family> families = {
      {"a_total", metrics::Kind::counter, "First", {{{}, 3, {}}, {{{"tier", "file"}}, 0.5, {}}}},
      {"b", metrics::Kind::gauge, "Second", {{{{"x", "1\n"}, {"y", "\xC3\xA4"}}, -1, {}}}},
      {"c", metrics::Kind::histogram, "Third", {{{}, 0, metrics::Distribution{{0.1, 1}, {1, 0, 7}, 12.5}}}}};
  return {base::encode_cbor(metrics::to_json(families)), base::encode_cbor(base::Json::array())};
}

}  // namespace perdure::fuzz
