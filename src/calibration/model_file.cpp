#include "calibration/model_file.hpp"

#include <cmath>

#include "base/cbor.hpp"
#include "base/json.hpp"

namespace perdure::calibration {
namespace {

using base::fail;
using base::get_array;
using base::get_text;
using base::get_u64;
using base::Json;
using base::Result;
using placement::Sample;

constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kMaxText = 4096;
constexpr const char* kRemedy = "calibrate again: perdure calibrate";

Json samples_json(const std::vector<Sample>& samples) {
  Json list = Json::array();
  for (const Sample& sample : samples)
    list.push_back({{"writers", sample.writers}, {"bytes_per_s", sample.bytes_per_s}});
  return list;
}

tl::unexpected<base::Error> corrupt(const std::string& object, std::string cause) {
  return fail(PERDURE_CORRUPT, object, std::move(cause), kRemedy);
}

Result<std::string> text(const Json& map, const char* key, const std::string& object) {
  PERDURE_TRY(auto value, get_text(map, key, object));
  if (value.size() > kMaxText) return corrupt(object, std::string("its ") + key + " is longer than 4096 bytes");
  return value;
}

Result<unsigned> count(const Json& map, const char* key, std::uint64_t most, const std::string& object) {
  PERDURE_TRY(const std::uint64_t value, get_u64(map, key, object));
  if (value == 0 || value > most) return corrupt(object, std::string("its ") + key + " is out of range");
  return static_cast<unsigned>(value);
}

Result<std::vector<Sample>> samples(const Json& map, const char* key, const std::string& object) {
  PERDURE_TRY(const Json* const list, get_array(map, key, object));
  std::vector<Sample> read;
  if (list->size() > placement::kMaxModelledWriters) return corrupt(object, "it has too many samples");
  for (const Json& entry : *list) {
    const auto rate = entry.is_object() ? entry.find("bytes_per_s") : entry.end();
    if (rate == entry.end() || !rate->is_number()) return corrupt(object, "a sample has no bytes_per_s");
    PERDURE_TRY(const unsigned writers, count(entry, "writers", placement::kMaxModelledWriters, object));
    read.push_back({writers, rate->get<double>()});
  }
  return read;
}

Result<const Json*> part(const Json& map, const char* key, const std::string& object) {
  const auto found = map.find(key);
  if (found == map.end() || !found->is_object()) return corrupt(object, std::string("it has no ") + key);
  return &*found;
}

Result<Machine> machine(const Json& whole, const std::string& object) {
  PERDURE_TRY(const Json* const map, part(whole, "machine", object));
  Machine read;
  PERDURE_TRY(read.host, text(*map, "host", object));
  PERDURE_TRY(read.processor, text(*map, "processor", object));
  PERDURE_TRY(read.kernel, text(*map, "kernel", object));
  PERDURE_TRY(read.processors, count(*map, "processors", 1U << 20U, object));
  return read;
}

Result<Device> device(const Json& whole, const std::string& object) {
  PERDURE_TRY(const Json* const map, part(whole, "device", object));
  Device read;
  PERDURE_TRY(read.path, text(*map, "path", object));
  PERDURE_TRY(read.file_system, text(*map, "file_system", object));
  PERDURE_TRY(read.device_id, get_u64(*map, "device_id", object));
  return read;
}

Result<Calibration> calibration(const Json& map, const std::string& object) {
  Calibration read;
  PERDURE_TRY(read.tier, text(map, "tier", object));
  PERDURE_TRY(read.machine, machine(map, object));
  PERDURE_TRY(read.device, device(map, object));
  PERDURE_TRY(read.created_ns, get_u64(map, "created_ns", object));
  PERDURE_TRY(read.chunk_bytes, get_u64(map, "chunk_bytes", object));
  PERDURE_TRY(read.max_writers, count(map, "max_writers", placement::kMaxModelledWriters, object));
  PERDURE_TRY(read.repetitions, count(map, "repetitions", 1'000'000, object));
  PERDURE_TRY(read.recycled, samples(map, "recycled", object));
  PERDURE_TRY(read.fresh, samples(map, "fresh", object));
  if (auto model = model_of(read); !model) return corrupt(object, model.error().text());
  return read;
}

}  // namespace

std::string encode(const Calibration& c) {
  const Json json = {
      {"format", kFormat},
      {"tier", c.tier},
      {"machine",
       {{"host", c.machine.host},
        {"processor", c.machine.processor},
        {"kernel", c.machine.kernel},
        {"processors", c.machine.processors}}},
      {"device", {{"path", c.device.path}, {"file_system", c.device.file_system}, {"device_id", c.device.device_id}}},
      {"created_ns", c.created_ns},
      {"chunk_bytes", c.chunk_bytes},
      {"max_writers", c.max_writers},
      {"repetitions", c.repetitions},
      {"recycled", samples_json(c.recycled)},
      {"fresh", samples_json(c.fresh)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Calibration> decode(std::string_view input, const std::string& object) {
  if (input.size() > kMaxFileBytes) return corrupt(object, "it is larger than 1 MiB");
  const Json json = Json::parse(input, nullptr, false);  // iterative: nesting costs no stack
  if (!json.is_object()) return corrupt(object, "it is no JSON object");
  const auto format = get_u64(json, "format", object);
  if (!format) return corrupt(object, "it does not say its format");
  if (*format > kFormat)
    return fail(PERDURE_UNSUPPORTED, object,
                "it was written by a newer Perdure (format " + std::to_string(*format) + ")", kRemedy);
  auto read = calibration(json, object);
  if (!read) return corrupt(object, read.error().cause);
  return read;
}

Result<placement::DeviceModel> model_of(const Calibration& calibration) {
  return placement::DeviceModel::fit(calibration.recycled, calibration.max_writers);
}

}  // namespace perdure::calibration
