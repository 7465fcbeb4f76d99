// libFuzzer: whatever a file, the environment or a program says, the configuration is loaded or refused, never a crash.
#include <cstdint>

#include "config/config.hpp"
#include "config/toml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perdure::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Config config;
  if (config.set_all(text, Origin::program)) {
    Config copy;
    if (!copy.set_all(config.serialise(), Origin::program) || copy.fingerprint() != config.fingerprint())
      __builtin_trap();
  }
  const auto settings = parse_toml(text, "fuzz.toml");
  if (!settings) return 0;
  for (const Setting& setting : *settings) (void)config.set(setting.key, setting.value, Origin::file, "fuzz.toml");
  return 0;
}
