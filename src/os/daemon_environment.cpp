#include "os/daemon_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace perdure::os {
namespace {

constexpr std::array<std::string_view, 14> kNames = {
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "LANG", "TZ",
    // Libraries of environment modules, such as libfabric, are found by it; builds with a sanitizer read its options.
    "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    // Bounds the C library's memory, with MALLOC_*.
    "GLIBC_TUNABLES"};

// Variables of Perdure, of the locale, of libfabric, its providers and the libraries below them.
constexpr std::array<std::string_view, 12> kFamilies = {"PERDURE_", "LC_",  "MALLOC_", "FI_",    "UCX_", "PSM2_",
                                                        "PSM3_",    "HFI_", "MLX5_",   "RDMAV_", "IBV_", "SLINGSHOT_"};

bool is_inherited(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kFamilies.begin(), kFamilies.end(), [&](const auto& family) { return name.starts_with(family); });
}

}  // namespace

std::vector<std::string> daemon_environment(const std::vector<std::string>& all, std::string_view family) {
  std::vector<std::string> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept), [&](const std::string& variable) {
    return is_inherited(variable) || (!family.empty() && variable.starts_with(family));
  });
  return kept;
}

std::vector<std::string> daemon_environment(std::string_view family) {
  std::vector<std::string> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) all.emplace_back(*at);
  return daemon_environment(all, family);
}

}  // namespace perdure::os
