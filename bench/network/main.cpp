// Benchmarks the network between engines: measures t(n) = latency + n / bandwidth between processes of this machine.
//
//   network_bench pingpong | send | read | view   two engines, sizes swept, model fitted
//   network_bench pingping                        both at the same time
//   network_bench linktest --workers 4            all pairs, one size
//   network_bench guard                           pingpong with and without the connection guard, in turns
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <future>

#include "base/json.hpp"
#include "fit_report.hpp"
#include "measurements.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "workers.hpp"

namespace perdure::bench {
namespace {

using base::Json;
using base::Result;

struct Settings {
  WorkerOptions worker;
  std::vector<std::uint64_t> sizes{1, 64, 1024, 8192, 65536, 524288, 4194304};
  std::uint64_t repetitions = 0;  ///< 0: depends on the size
  unsigned workers = 2;
  unsigned rounds = 10;
  bool json = false;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::uint64_t repetitions(const Settings& settings, std::uint64_t bytes) {
  if (settings.repetitions > 0) return settings.repetitions;
  return std::clamp<std::uint64_t>((256U << 20) / std::max<std::uint64_t>(bytes, 1), 20, 1000);
}

/// The workers, and a driver in this process that tells them what to measure.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> make(const Settings& settings, const WorkerOptions& options) {
    auto bench = std::make_unique<Bench>();
    for (unsigned i = 0; i < settings.workers; ++i) {  // all are forked before this process has threads
      PERDURE_TRY(Worker worker, Worker::start(options));
      bench->workers_.push_back(std::move(worker));
    }
    return bench;
  }
  base::Status connect(const WorkerOptions& options) {
    PERDURE_TRY(driver_, open_endpoint(options, {}));
    for (const Worker& worker : workers_) {
      PERDURE_TRY(const network::PeerId peer, driver_->connect(worker.address(), kLimitNs));
      peers_.push_back(peer);
    }
    return {};
  }
  Result<double> run(std::size_t from, std::size_t to, const std::string& kind, std::uint64_t bytes,
                     std::uint64_t count) {
    const Task task{kind, workers_[to].address(), bytes, count};
    PERDURE_TRY(const network::Bytes reply, driver_->call(peers_[from], encode(task), kLimitNs));
    PERDURE_TRY(std::vector<double> times, decode_times(reply));
    return median(std::move(times));
  }

 private:
  std::vector<Worker> workers_;
  std::unique_ptr<network::Endpoint> driver_;
  std::vector<network::PeerId> peers_;
};

Result<double> measure(Bench& bench, const std::string& kind, std::uint64_t bytes, std::uint64_t count) {
  if (kind != "pingping") return bench.run(0, 1, kind, bytes, count);
  auto back = std::async(std::launch::async, [&] { return bench.run(1, 0, kind, bytes, count); });
  auto there = bench.run(0, 1, kind, bytes, count);
  PERDURE_TRY(const double other, back.get());
  PERDURE_TRY(const double one, std::move(there));
  return (one + other) / 2;
}

Result<Json> sweep(const Settings& settings, const std::string& kind) {
  PERDURE_TRY(auto bench, Bench::make(settings, settings.worker));
  PERDURE_CHECK(bench->connect(settings.worker));
  std::vector<Sample> samples;
  for (const std::uint64_t bytes : settings.sizes) {
    // The first measurement also connects, allocates and maps, so it is repeated.
    if (const auto warm = measure(*bench, kind, bytes, 5); !warm) return base::fail(warm.error());
    PERDURE_TRY(const double seconds, measure(*bench, kind, bytes, repetitions(settings, bytes)));
    samples.push_back({static_cast<double>(bytes), seconds});
  }
  const auto model = fit(Model::time, samples);
  Json rows = Json::array();
  for (std::size_t i = 0; i < samples.size(); ++i)
    rows.push_back({{"bytes", settings.sizes[i]},
                    {"seconds", samples[i].seconds},
                    {"bytes_per_s", samples[i].bytes / samples[i].seconds}});
  return Json{{"benchmark", kind},
              {"provider", settings.worker.provider},
              {"fit", to_json(Model::time, model)},
              {"samples", rows}};
}

Result<Json> linktest(const Settings& settings) {
  PERDURE_TRY(auto bench, Bench::make(settings, settings.worker));
  PERDURE_CHECK(bench->connect(settings.worker));
  const std::uint64_t bytes = settings.sizes.back();
  Json links = Json::array();
  for (std::size_t from = 0; from < settings.workers; ++from)
    for (std::size_t to = 0; to < settings.workers; ++to) {
      if (from == to) continue;
      PERDURE_TRY(const double seconds, bench->run(from, to, "pingpong", bytes, repetitions(settings, bytes)));
      links.push_back({{"from", from}, {"to", to}, {"bytes", bytes}, {"seconds", seconds}});
    }
  return Json{{"benchmark", "linktest"}, {"provider", settings.worker.provider}, {"links", links}};
}

/// Alternates, so that other load on the machine affects both.
Result<Json> guard(const Settings& settings) {
  WorkerOptions without = settings.worker, with = settings.worker;
  without.guard_interval_ns = 0;
  if (with.guard_interval_ns == 0) with.guard_interval_ns = 100'000'000;
  PERDURE_TRY(auto bare, Bench::make(settings, without));
  PERDURE_TRY(auto guarded, Bench::make(settings, with));
  PERDURE_CHECK(bare->connect(without));
  PERDURE_CHECK(guarded->connect(with));
  const std::uint64_t bytes = settings.sizes.front(), count = repetitions(settings, bytes);
  std::vector<double> ratios, off, on;
  for (unsigned round = 0; round < settings.rounds; ++round) {
    const bool first = round % 2 == 0;  // the order alternates
    PERDURE_TRY(const double a, (first ? bare : guarded)->run(0, 1, "pingpong", bytes, count));
    PERDURE_TRY(const double b, (first ? guarded : bare)->run(0, 1, "pingpong", bytes, count));
    off.push_back(first ? a : b);
    on.push_back(first ? b : a);
    ratios.push_back(on.back() / off.back());
  }
  return Json{{"benchmark", "guard"},
              {"provider", settings.worker.provider},
              {"guard_interval_s", static_cast<double>(with.guard_interval_ns) * 1e-9},
              {"bytes", bytes},
              {"without_s", median(off)},
              {"with_s", median(on)},
              {"ratio", median(on) / median(off)},
              {"median_of_ratios", median(ratios)}};
}

void print(const Json& result) {
  const std::string kind = result["benchmark"];
  fmt::print("{} over {}\n", kind, result["provider"].get<std::string>());
  if (kind == "guard")
    fmt::print("  without {:.2f} us, with {:.2f} us, ratio {:.4f} (median of {:.4f} per round)\n",
               result["without_s"].get<double>() * 1e6, result["with_s"].get<double>() * 1e6,
               result["ratio"].get<double>(), result["median_of_ratios"].get<double>());
  for (const Json& link : result.value("links", Json::array()))
    fmt::print("  {} -> {}: {:10.2f} us\n", link["from"].get<int>(), link["to"].get<int>(),
               link["seconds"].get<double>() * 1e6);
  for (const Json& row : result.value("samples", Json::array()))
    fmt::print("  {:>10} bytes {:12.2f} us {:10.1f} MB/s\n", row["bytes"].get<std::uint64_t>(),
               row["seconds"].get<double>() * 1e6, row["bytes_per_s"].get<double>() * 1e-6);
  if (result.contains("fit")) fmt::print("  {}\n", fit_text(result["fit"]));
}

Result<Json> run(const std::string& kind, Settings settings) {
  settings.worker.directory = (std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp") +
                              std::string("/perdure-network-bench-") + std::to_string(os::process_id());
  PERDURE_CHECK(os::make_private_directory(settings.worker.directory));
  auto result = kind == "linktest" ? linktest(settings) : kind == "guard" ? guard(settings) : sweep(settings, kind);
  PERDURE_CHECK(os::remove_tree(settings.worker.directory));
  return result;
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  Settings settings;
  std::uint64_t guard_ms = 0;
  CLI::App app("Latency and bandwidth of the network between engines");
  app.add_option("--provider", settings.worker.provider, "of libfabric");
  app.add_option("--bind", settings.worker.bind_address, "name or address of the interface");
  app.add_option("--sizes", settings.sizes, "bytes per message, ascending")->check(CLI::PositiveNumber);
  app.add_option("--repetitions", settings.repetitions, "per size; 0: by size");
  app.add_option("--workers", settings.workers, "processes (linktest)")->check(CLI::Range(2, 64));
  app.add_option("--rounds", settings.rounds, "guard: turns")->check(CLI::Range(1, 1000));
  app.add_option("--guard-interval-ms", guard_ms, "0: no guard (guard: 100)");
  app.add_flag("--json", settings.json, "one JSON object");
  app.fallthrough();
  app.require_subcommand(1);
  for (const char* kind : {"pingpong", "pingping", "send", "read", "view", "linktest", "guard"})
    app.add_subcommand(kind);
  CLI11_PARSE(app, argc, argv);
  settings.worker.guard_interval_ns = guard_ms * 1'000'000;
  const auto result = run(app.get_subcommands()[0]->get_name(), settings);
  if (!result) {
    fmt::print(stderr, "network_bench: {}\n", result.error().text());
    return 1;
  }
  if (settings.json)
    fmt::print("{}\n", result->dump());
  else
    print(*result);
  return 0;
}
