#include "device/description.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/bytes.hpp"
#include "config/toml.hpp"

namespace perdure::device {
namespace {

using base::fail;
using base::Result;
using base::Status;

constexpr std::size_t kMaxTiers = 16, kMaxPoints = 4096;

Result<double> parse_number(const std::string& text, const std::string& object) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return fail(PERDURE_INVALID_ARGUMENT, object, "'" + text.substr(0, 100) + "' is not a number");
  return value;
}

Result<double> parse_size(const std::string& text, const std::string& object) {
  const auto bytes = base::parse_bytes(text);
  if (!bytes) return fail(PERDURE_INVALID_ARGUMENT, object, bytes.error().cause);
  return static_cast<double>(*bytes);
}

using Parse = Result<double> (*)(const std::string&, const std::string&);

/// Reads the settings of a file. Each is removed when it is read, so that the rest is unknown.
class Reader {
 public:
  Reader(std::vector<config::Setting> settings, std::string path) : path_(std::move(path)) {
    for (auto& setting : settings) settings_[setting.key] = std::move(setting.value);
  }
  std::string object(const std::string& key) const { return path_ + ": " + key; }

  bool has(const std::string& key) const { return settings_.contains(key); }
  std::optional<std::string> text(const std::string& key) {
    auto node = settings_.extract(key);
    return node ? std::optional(std::move(node.mapped())) : std::nullopt;
  }
  Result<double> number(const std::string& key, double fallback, double low, double high, Parse parse = parse_number) {
    const auto given = text(key);
    if (!given) return fallback;
    PERDURE_TRY(const double value, parse(*given, object(key)));
    if (value < low || value > high)
      return fail(PERDURE_INVALID_ARGUMENT, object(key), "'" + given->substr(0, 100) + "' is out of its range");
    return value;
  }
  std::vector<std::string> list(const std::string& key) {
    std::vector<std::string> items;
    const auto given = text(key);
    if (!given || given->empty()) return items;
    for (std::size_t from = 0; from <= given->size();) {
      const std::size_t comma = std::min(given->find(',', from), given->size());
      items.push_back(given->substr(from, comma - from));
      from = comma + 1;
    }
    return items;
  }
  Result<Curve> curve(const std::string& counts_key, const std::string& values_key) {
    const auto counts = list(counts_key), values = list(values_key);
    if (counts.size() != values.size() || counts.size() > kMaxPoints)
      return fail(PERDURE_INVALID_ARGUMENT, object(values_key),
                  "needs one value for each of " + counts_key + ", at most 4096");
    std::vector<Point> points;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      PERDURE_TRY(const double count, parse_number(counts[i], object(counts_key)));
      PERDURE_TRY(const double value, parse_size(values[i], object(values_key)));
      points.push_back({count, value});
    }
    return Curve::through(std::move(points), object(values_key));
  }
  Status nothing_left() const {
    if (settings_.empty()) return {};
    return fail(PERDURE_INVALID_ARGUMENT, object(settings_.begin()->first.substr(0, 200)), "is not known here");
  }

 private:
  std::map<std::string, std::string> settings_;
  std::string path_;
};

Status read_slump(Reader& reader, const std::string& prefix, Variability& variability) {
  PERDURE_TRY(variability.slump_factor, reader.number(prefix + "slump_factor", 1, 1e-9, 1));
  PERDURE_TRY(variability.slump_from_s, reader.number(prefix + "slump_from_s", 0, 0, 1e9));
  PERDURE_TRY(variability.slump_until_s,
              reader.number(prefix + "slump_until_s", variability.slump_until_s, variability.slump_from_s, 1e9));
  return {};
}

Result<Device> read_device(Reader& reader, const std::string& name, const std::string& prefix) {
  Device device;
  device.name = name;
  PERDURE_TRY(device.throughput, reader.curve(prefix + "streams", prefix + "bytes_per_s"));
  PERDURE_TRY(device.latency_s, reader.number(prefix + "latency_s", 0, 0, 3600));
  PERDURE_TRY(const double capacity, reader.number(prefix + "capacity", 0, 0, 9e18, parse_size));
  device.capacity_bytes = static_cast<std::uint64_t>(capacity);
  PERDURE_TRY(device.variability.amplitude, reader.number(prefix + "variability", 0, 0, 0.95));
  PERDURE_TRY(device.variability.period_s, reader.number(prefix + "variability_period_s", 1, 1e-3, 1e6));
  PERDURE_CHECK(read_slump(reader, prefix, device.variability));
  return device;
}

}  // namespace

double share_of_store(const Node& node, double nodes) {
  const double count = std::max(nodes, 1.0);
  return node.store_shared.at(count) / count;
}

Result<Node> parse_description(std::string_view toml, const std::string& path) {
  PERDURE_TRY(auto settings, config::parse_toml(toml, path));
  Reader reader(std::move(settings), path);
  Node node;
  node.name = reader.text("name").value_or(path);
  PERDURE_TRY(node.time_scale, reader.number("time_scale", 1, 1e-6, 1e6));
  const auto order = reader.list("tiers");
  if (order.empty() || order.size() > kMaxTiers)
    return fail(PERDURE_INVALID_ARGUMENT, reader.object("tiers"), "names no tiers, or more than 16",
                "tiers = [\"cache\", \"ssd\"], fastest first");
  for (const std::string& name : order) {
    PERDURE_TRY(Device tier, read_device(reader, name, "tier." + name + "."));
    node.tiers.push_back(std::move(tier));
  }
  PERDURE_TRY(node.store, read_device(reader, "store", "store."));
  if (reader.has("store.nodes")) {
    PERDURE_TRY(node.store_shared, reader.curve("store.nodes", "store.total_bytes_per_s"));
  }
  PERDURE_CHECK(reader.nothing_left());
  return node;
}

}  // namespace perdure::device
