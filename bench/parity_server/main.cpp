// Measures the parity server beside distributed xor over the same endpoints ("parity"), and its memory used directly
// ("memory").
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "comparison.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "transfers.hpp"

namespace perdure::bench {
namespace {

using nlohmann::json;

struct Arguments {
  ComparisonOptions parity;
  TransferOptions memory;
  bool wire = false, as_json = false;
};

void print_parity(const json& result) {
  fmt::print("parities of groups, {:.1f} MB per member, over {}\n", result["bytes_per_member"].get<double>() * 1e-6,
             result["path"].get<std::string>());
  fmt::print("  {:>7} {:>6} {:>12} {:>18} {:>12} {:>12}\n", "members", "", "MB/s", "members' CPU (ms)", "bandwidth",
             "members' CPU");
  for (const json& row : result["groups"])
    for (const std::string kind : {"server", "xor", "ring"}) {
      fmt::print("  {:>7} {:>6} {:>12.0f} {:>18.2f}", row["members"].get<unsigned>(), kind,
                 row[kind + "_bytes_per_s"].get<double>() * 1e-6, row[kind + "_members_cpu_s"].get<double>() * 1e3);
      if (kind != "server")
        fmt::print(" server {:>5.2f}x {:>12.3f}", row["server_over_" + kind + "_bandwidth"].get<double>(),
                   row["server_over_" + kind + "_members_cpu"].get<double>());
      fmt::print("\n");
    }
}

void print_memory(const json& result) {
  fmt::print("put and get over {}\n  {:>10} {:>12} {:>12} {:>12} {:>12}\n", result["provider"].get<std::string>(),
             "bytes", "put us", "put MB/s", "get us", "get MB/s");
  for (const json& row : result["samples"])
    fmt::print("  {:>10} {:>12.2f} {:>12.1f} {:>12.2f} {:>12.1f}\n", row["bytes"].get<std::uint64_t>(),
               row["put_s"].get<double>() * 1e6, row["put_bytes_per_s"].get<double>() * 1e-6,
               row["get_s"].get<double>() * 1e6, row["get_bytes_per_s"].get<double>() * 1e-6);
}

base::Result<json> run(const std::string& kind, Arguments& arguments) {
  ProcessOptions& process = arguments.parity.process;
  process.local = !arguments.wire;
  process.directory = (std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp") +
                      std::string("/perdure-parity-bench-") + std::to_string(os::process_id());
  process.pool_bytes = 2 * process.bytes + (64U << 20U);
  if (kind == "memory") {
    arguments.memory.process = process;
    return measure_transfers(arguments.memory);
  }
  PERDURE_CHECK(os::make_private_directory(process.directory));
  auto result = compare(arguments.parity);
  PERDURE_CHECK(os::remove_tree(process.directory));
  return result;
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  Arguments arguments;
  ProcessOptions& process = arguments.parity.process;
  process.bytes = 16U << 20U;
  process.chunk = 4U << 20U;
  arguments.parity.members = {2, 4, 8};
  arguments.memory.sizes = {8, 64, 512, 4096, 32'768, 262'144, 1'048'576, 4'194'304};
  CLI::App app("A parity server: parities against distributed xor, put and get");
  app.add_option("--provider", process.provider, "of libfabric");
  app.add_option("--bind", process.bind_address, "name or address of the interface");
  app.add_option("--members", arguments.parity.members, "sizes of groups (parity)")->check(CLI::Range(2, 64));
  app.add_option("--bytes", process.bytes, "data of one member")->transform(CLI::AsSizeValue(false));
  app.add_option("--chunk", process.chunk, "bytes of one block")->transform(CLI::AsSizeValue(false));
  app.add_option("--lanes", process.lanes, "stripes that the server reads at once")->check(CLI::Range(1, 64));
  app.add_option("--repetitions", arguments.parity.repetitions, "counted ones")->check(CLI::Range(1, 100));
  app.add_option("--sizes", arguments.memory.sizes, "bytes per put and get (memory)")->check(CLI::PositiveNumber);
  app.add_flag("--wire", arguments.wire, "never through files, as between hosts");
  app.add_flag("--json", arguments.as_json, "one JSON object");
  app.fallthrough();
  app.require_subcommand(1);
  for (const char* kind : {"parity", "memory"}) app.add_subcommand(kind);
  CLI11_PARSE(app, argc, argv);
  if (app.count("--repetitions") > 0)
    arguments.memory.repetitions = static_cast<std::uint64_t>(arguments.parity.repetitions);
  const auto result = run(app.get_subcommands()[0]->get_name(), arguments);
  if (!result) {
    fmt::print(stderr, "parity_server_bench: {}\n", result.error().text());
    return 1;
  }
  if (arguments.as_json)
    fmt::print("{}\n", result->dump());
  else if ((*result)["benchmark"] == "memory")
    print_memory(*result);
  else
    print_parity(*result);
  return 0;
}
