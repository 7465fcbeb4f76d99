#include "inspect/engines.hpp"

#include "base/json.hpp"
#include "base/printable.hpp"
#include "config/directories.hpp"
#include "inspect/table.hpp"
#include "inspect/words.hpp"
#include "ipc/channel.hpp"
#include "node/directories.hpp"

namespace perdure::inspect {
namespace {

using base::Json;

constexpr std::uint64_t kPatienceNs = 2'000'000'000;

base::Result<Json> ask(const std::string& directory) {
  PERDURE_TRY(auto channel, ipc::Channel::connect(directory + "/socket"));
  ipc::Hello hello;
  hello.client = false;
  PERDURE_CHECK(channel.call(hello, kPatienceNs));
  PERDURE_TRY(const auto view, channel.call(ipc::Top{}, kPatienceNs));
  PERDURE_TRY(auto engine, base::decode_cbor(view.cbor, directory));
  if (!engine.is_object()) return base::fail(PERDURE_CORRUPT, directory, "its engine answers something else");
  return engine;
}

}  // namespace

base::Result<std::vector<EngineState>> ask_engines(const config::Config& config) {
  PERDURE_TRY(const auto directories, node::find_engine_directories(config));
  std::vector<EngineState> states;
  for (const node::EngineDirectory& directory : directories)
    if (directory.alive) states.push_back({directory.path, ask(directory.path)});
  return states;
}

std::vector<std::string> places_of_engines(const config::Config& config) { return config::node_roots(config); }

std::string no_engine_text(const config::Config& config) {
  return "no engine runs here: none lives in " + base::printable(enumerated(places_of_engines(config))) +
         "\nAn engine runs as long as its program or perdured does. One with another node.path is found with "
         "--set node.path=PATH, as its program has it.\n";
}

}  // namespace perdure::inspect
