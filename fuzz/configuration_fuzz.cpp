// Fuzzes settings of the API (mode 0) and configuration files (mode 1) with any text.
#include "config/config.hpp"
#include "config/toml.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

/// Accepted settings must mean the same to a perdured that receives them.
void check_handover(const config::Config& config) {
  config::Config other;
  require(other.set_all(config.serialise(), config::Origin::file, "handed over").has_value());
  require(other.serialise() == config.serialise() && other.fingerprint() == config.fingerprint());
}

void as_settings(std::string_view text) {
  config::Config config;
  if (config.set_all(text, config::Origin::program)) check_handover(config);
}

void as_file(std::string_view text) {
  const auto settings = config::parse_toml(text, "input.toml");
  if (!settings) return;
  config::Config config;
  for (const auto& setting : *settings)
    if (!config.set(setting.key, setting.value, config::Origin::file, "input.toml")) return;
  check_handover(config);
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return as_settings("");
  if (input[0] == std::byte{1}) return as_file(text_of(input.subspan(1)));
  as_settings(text_of(input.subspan(1)));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  const std::string whole = config::Config().serialise();
  for (std::string_view text : {std::string_view(whole), std::string_view("chunk_bytes=1.5 MiB;engine.mode=daemon"),
                                std::string_view("job = \"a\\\"b\\\\;c\"\nretention.keep_last=3; ;"),
                                std::string_view("store.path=/tmp/x;tier.order=file,memory;flush.retry_max=1e3")})
    list.push_back(with_mode(0, base::as_bytes(text)));
  for (std::string_view text :
       {"[tier.memory]\nmax_bytes = '1GiB'\nprefault = true\n", "tier.order = ['memory', 'file']\n",
        "[retention]\nkeep_last = 0x10\n[engine]\nidle_exit = 1.5\nmode = \"daemon\"\n",
        "job = \"\"\"\na\nb\"\"\"\n[[x]]\ny = 2024-02-29T12:00:00Z\n", "a.b.c = { d = 1, e = [1, [2]] }\n"})
    list.push_back(with_mode(1, base::as_bytes(text)));
  return list;
}

}  // namespace perdure::fuzz
