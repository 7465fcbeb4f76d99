#include "cli/store_access.hpp"

#include <charconv>
#include <ctime>

#include "config/effective.hpp"
#include "os/file.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::cli {
namespace {

base::Result<std::string> configured_location() {
  PERDURE_TRY(const auto config, config::effective_config(nullptr));
  return config.text("store.path");
}

}  // namespace

base::Result<std::unique_ptr<store::Store>> open_store(const std::string& location) {
  std::string where = location;
  if (where.empty()) {
    PERDURE_TRY(where, configured_location());
  }
  PERDURE_TRY(auto store, store::make_store(where));
  PERDURE_CHECK(store->names());  // says so when there is no store
  return store;
}

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

}  // namespace perdure::cli
