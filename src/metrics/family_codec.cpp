#include "metrics/family_codec.hpp"

#include "base/json.hpp"
#include "metrics/exposition.hpp"

namespace perdure::metrics {
namespace {

using base::Json;

constexpr std::size_t kMostFamilies = 1000, kMostSamples = 100'000;
constexpr const char* kKinds[] = {"counter", "gauge", "histogram"};

Json sample_json(const Sample& sample) {
  Json json = {{"labels", to_json(sample.labels)}};
  if (sample.distribution) {
    json["bounds"] = sample.distribution->bounds;
    json["counts"] = sample.distribution->counts;
    json["sum"] = sample.distribution->sum;
  } else {
    json["value"] = sample.value;
  }
  return json;
}

base::Error malformed(const std::string& object, const std::string& key) {
  return {PERDURE_CORRUPT, object, "'" + key + "' of a metric is missing or not what it should be", "", false};
}

base::Result<double> number(const Json& json, const char* key, const std::string& object) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  if (it == json.end() || !it->is_number()) return base::fail(malformed(object, key));
  return it->get<double>();
}

base::Result<Distribution> distribution_from(const Json& json, const std::string& object) {
  Distribution distribution;
  PERDURE_TRY(const Json* bounds, base::get_array(json, "bounds", object));
  PERDURE_TRY(const Json* counts, base::get_array(json, "counts", object));
  for (const Json& bound : *bounds) {
    if (!bound.is_number()) return base::fail(malformed(object, "bounds"));
    distribution.bounds.push_back(bound.get<double>());
  }
  for (const Json& count : *counts) {
    if (!count.is_number_unsigned()) return base::fail(malformed(object, "counts"));
    distribution.counts.push_back(count.get<std::uint64_t>());
  }
  PERDURE_TRY(distribution.sum, number(json, "sum", object));
  return distribution;
}

base::Result<Sample> sample_from(const Json& json, Kind kind, const std::string& object) {
  Sample sample;
  if (!json.is_object() || !json.contains("labels")) return base::fail(malformed(object, "labels"));
  PERDURE_TRY(sample.labels, labels_from_json(json["labels"], object));
  if (kind == Kind::histogram) {
    PERDURE_TRY(sample.distribution, distribution_from(json, object));
  } else {
    PERDURE_TRY(sample.value, number(json, "value", object));
  }
  return sample;
}

base::Result<Kind> kind_from(const Json& json, const std::string& object) {
  PERDURE_TRY(const std::string text, base::get_text(json, "type", object));
  for (const Kind kind : {Kind::counter, Kind::gauge, Kind::histogram})
    if (text == kKinds[static_cast<std::size_t>(kind)]) return kind;
  return base::fail(malformed(object, "type"));
}

}  // namespace

Json to_json(const Labels& labels) {
  Json json = Json::object();
  for (const auto& [name, value] : labels) json[name] = value;
  return json;
}

Json to_json(const std::vector<Family>& families) {
  Json list = Json::array();
  for (const Family& family : families) {
    Json samples = Json::array();
    for (const Sample& sample : family.samples) samples.push_back(sample_json(sample));
    list.push_back({{"name", family.name},
                    {"type", kKinds[static_cast<std::size_t>(family.kind)]},
                    {"help", family.help},
                    {"samples", std::move(samples)}});
  }
  return list;
}

base::Result<Labels> labels_from_json(const Json& json, const std::string& object) {
  if (!json.is_object()) return base::fail(malformed(object, "labels"));
  Labels labels;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) return base::fail(malformed(object, "labels"));
    labels.emplace_back(name, value.get<std::string>());
  }
  return labels;
}

base::Result<std::vector<Family>> families_from_json(const Json& json, const std::string& object) {
  if (!json.is_array() || json.size() > kMostFamilies) return base::fail(malformed(object, "families"));
  std::vector<Family> families;
  std::size_t count = 0;
  for (const Json& entry : json) {
    Family& family = families.emplace_back();
    PERDURE_TRY(family.name, base::get_text(entry, "name", object));
    PERDURE_TRY(family.kind, kind_from(entry, object));
    PERDURE_TRY(family.help, base::get_text(entry, "help", object));
    PERDURE_TRY(const Json* samples, base::get_array(entry, "samples", object));
    if ((count += samples->size()) > kMostSamples) return base::fail(malformed(object, "samples"));
    for (const Json& sample : *samples) {
      PERDURE_TRY(Sample read, sample_from(sample, family.kind, object));
      family.samples.push_back(std::move(read));
    }
    if (auto good = check(family); !good) return base::fail(PERDURE_CORRUPT, object, good.error().text());
    for (std::size_t i = 0; i + 1 < families.size(); ++i)
      if (families[i].name == family.name) return base::fail(malformed(object, "name"));
  }
  return families;
}

}  // namespace perdure::metrics
