#include "track/place_codec.hpp"

#include <cstring>

#include "base/cbor.hpp"
#include "base/json.hpp"

namespace perdure::track {
namespace {

using base::Json;
using base::Result;

constexpr const char* kObject = "place of the checkpoint";

Json json_of(const Box& box) {
  Json numbers = Json::array();
  for (unsigned d = 0; d < box.dimensions; ++d) {
    numbers.push_back(box.begin[d]);
    numbers.push_back(box.end[d]);
  }
  return numbers;
}

Json json_of(const std::vector<BoxSet>& sets) {
  Json all = Json::array();
  for (const BoxSet& set : sets) {
    Json boxes = Json::array();
    for (const Box& box : set.boxes()) boxes.push_back(json_of(box));
    all.push_back(std::move(boxes));
  }
  return all;
}

tl::unexpected<base::Error> damaged(const char* what) { return base::fail(PERDURE_CORRUPT, kObject, what); }

Result<Box> box_of(const Json& numbers) {
  if (!numbers.is_array() || numbers.size() % 2 != 0 || numbers.size() > 2 * kMostDimensions)
    return damaged("a box has no pairs of indices");
  Box box;
  for (const Json& number : numbers)
    if (!number.is_number_integer()) return damaged("a box has an index that is no number");
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    box.begin[box.dimensions] = numbers[i].get<std::int64_t>();
    box.end[box.dimensions++] = numbers[i + 1].get<std::int64_t>();
  }
  return box;
}

// Each box must lie within its data set, so that no sum overflows.
Result<std::vector<BoxSet>> sets_of(const Json& place, const char* key, const std::vector<DataSet>& sets) {
  PERDURE_TRY(const Json* all, base::get_array(place, key, kObject));
  if (all->size() != sets.size()) return damaged("it does not say of each data set what was written and saved of it");
  std::vector<BoxSet> made(sets.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!(*all)[i].is_array()) return damaged("a set of boxes is none");
    for (const Json& numbers : (*all)[i]) {
      PERDURE_TRY(const Box box, box_of(numbers));
      if (box.dimensions != sets[i].box.dimensions || box.empty() || !sets[i].box.contains(box))
        return damaged("a box does not lie in its data set");
      made[i].add(box);
    }
  }
  return made;
}

Result<std::vector<DataSet>> data_sets_of(const Json& place) {
  PERDURE_TRY(const Json* all, base::get_array(place, "sets", kObject));
  std::vector<DataSet> sets;
  for (const Json& one : *all) {
    DataSet set;
    PERDURE_TRY(set.name, base::get_text(one, "name", kObject));
    PERDURE_TRY(set.element_bytes, base::get_u64(one, "element_bytes", kObject));
    PERDURE_TRY(set.scratch, base::get_bool(one, "scratch", kObject));
    PERDURE_TRY(const Json* numbers, base::get_array(one, "box", kObject));
    PERDURE_TRY(set.box, box_of(*numbers));
    if (!defect_of(set).empty()) return damaged("a data set is none");
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<Answers> answers_of(const Json& place) {
  Answers answers;
  if (!place.contains("answers") || !place.contains("lengths")) return damaged("it has no answers");
  PERDURE_TRY(answers.bytes, base::binary_of(place["answers"], kMostAnswerBytes, "answers", kObject));
  PERDURE_TRY(const auto lengths, base::binary_of(place["lengths"], kMostAnswerBytes, "lengths", kObject));
  if (lengths.size() % sizeof(std::uint32_t) != 0) return damaged("the lengths of its answers are none");
  answers.lengths.resize(lengths.size() / sizeof(std::uint32_t));
  if (!lengths.empty()) std::memcpy(answers.lengths.data(), lengths.data(), lengths.size());
  std::uint64_t sum = 0;
  for (const std::uint32_t length : answers.lengths) sum += length;
  if (sum != answers.bytes.size()) return damaged("its answers have other lengths than it says");
  return answers;
}

Result<std::vector<LoopSequence::Stretch>> stretches_of(const Json& place) {
  PERDURE_TRY(const Json* numbers, base::get_array(place, "before", kObject));
  if (numbers->size() % 3 != 0) return damaged("its loops are no sequence");
  std::vector<LoopSequence::Stretch> stretches;
  for (const Json& number : *numbers)
    if (!number.is_number_unsigned()) return damaged("its loops are no sequence");
  for (std::size_t i = 0; i < numbers->size(); i += 3)
    stretches.push_back({(*numbers)[i].get<std::uint64_t>(), (*numbers)[i + 1].get<std::uint64_t>(),
                         (*numbers)[i + 2].get<std::uint64_t>()});
  return stretches;
}

Result<Place> place_of(std::span<const std::byte> bytes) {
  PERDURE_TRY(const Json json, base::decode_cbor(bytes, kObject));
  Place place;
  PERDURE_TRY(place.loop, base::get_u64(json, "loop", kObject));
  PERDURE_TRY(place.id, base::get_u64(json, "id", kObject));
  PERDURE_TRY(place.before, stretches_of(json));
  PERDURE_TRY(place.answers, answers_of(json));
  PERDURE_TRY(place.sets, data_sets_of(json));
  PERDURE_TRY(place.written, sets_of(json, "written", place.sets));
  PERDURE_TRY(place.saved, sets_of(json, "saved", place.sets));
  if (json.contains("payload")) {
    PERDURE_TRY(auto payload, base::binary_of(json["payload"], kMostAnswerBytes, "payload", kObject));
    place.payload = std::move(payload);
  }
  return place;
}

}  // namespace

std::vector<std::byte> encode(const Place& place) {
  Json before = Json::array(), sets = Json::array();
  for (const auto& stretch : place.before)
    for (const std::uint64_t number : {stretch.back, stretch.count, stretch.loop}) before.push_back(number);
  for (const DataSet& set : place.sets)
    sets.push_back({{"name", set.name},
                    {"element_bytes", set.element_bytes},
                    {"scratch", set.scratch},
                    {"box", json_of(set.box)}});
  Json json{{"loop", place.loop},
            {"id", place.id},
            {"before", std::move(before)},
            {"answers", base::binary(place.answers.bytes)},
            {"lengths", base::binary(std::as_bytes(std::span(place.answers.lengths)))},
            {"sets", std::move(sets)},
            {"written", json_of(place.written)},
            {"saved", json_of(place.saved)}};
  if (place.payload) json["payload"] = base::binary(*place.payload);
  return base::encode_cbor(json);
}

tl::expected<Place, std::string> decode_place(std::span<const std::byte> bytes) {
  auto place = place_of(bytes);
  if (!place) return tl::unexpected(place.error().text());
  return std::move(*place);
}

}  // namespace perdure::track
