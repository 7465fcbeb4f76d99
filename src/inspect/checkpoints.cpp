#include "inspect/checkpoints.hpp"

#include <charconv>
#include <ctime>

#include "inspect/store_place.hpp"
#include "inspect/words.hpp"
#include "os/file.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::inspect {

base::Result<CheckpointSpec> parse_checkpoint(const std::string& text) {
  const std::size_t at = text.find('@');
  CheckpointSpec spec{text.substr(0, at), std::nullopt};
  PERDURE_CHECK(segment::check_name(spec.name));
  if (at == std::string::npos) return spec;
  const std::string digits = text.substr(at + 1);
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || version > INT64_MAX)
    return base::fail(PERDURE_INVALID_ARGUMENT, text.substr(0, 200), "what follows '@' is not a version",
                      "write NAME@VERSION, e.g. nbody@12");
  spec.version = version;
  return spec;
}

base::Error no_checkpoint(store::Store& store) {
  const auto& properties = store.properties();
  if (auto other = not_a_store(store)) return *other;
  return {PERDURE_NOT_FOUND, properties.location, "there is no checkpoint in this store",
          "see that it is the one that the program writes to; perdure config shows store.path", false};
}

base::Error no_such_checkpoint(store::Store& store, const CheckpointSpec& spec) {
  const std::string location = store.properties().location;
  const auto names = store.names().value_or(std::vector<std::string>{});
  std::vector<std::string> known;
  std::vector<store::VersionListing> versions;
  for (const std::string& name : names) {
    auto listed = store.list(name);
    if (!listed || listed->empty()) continue;
    known.push_back(name);
    if (name == spec.name) versions = std::move(*listed);
  }
  if (known.empty()) return no_checkpoint(store);
  std::string object = spec.name, there;
  if (spec.version) object += " version " + std::to_string(*spec.version);
  const std::string near = meant(spec.name, known);
  if (!versions.empty())
    there = "its versions there are " + std::to_string(versions.front().id.version) + " to " +
            std::to_string(versions.back().id.version) + "; ";
  else if (!near.empty())
    there = "did you mean " + near + "? ";
  return {PERDURE_NOT_FOUND, object, "no such checkpoint in " + location,
          there + "perdure ls " + shell_text({location}) + " lists what is there", false};
}

std::string local_time(std::uint64_t ns) {
  if (ns == 0) return {};
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return {};
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string ranges_text(const std::vector<std::uint32_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[i]);
    if (last > i) text += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace perdure::inspect
