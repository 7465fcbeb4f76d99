// perdure calibrate measures how fast this node's tiers take chunks, as a function of the number of concurrent writers.
// It writes into directories of its own beside the tiers' slots, and removes them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "calibration/measure.hpp"
#include "calibration/storage.hpp"
#include "cli/arguments.hpp"
#include "cli/calibrate_report.hpp"
#include "cli/configuration.hpp"
#include "cli/progress.hpp"
#include "cli/simulate_rows.hpp"
#include "cli/verb.hpp"
#include "config/directories.hpp"
#include "config/toml.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

using base::Result;

struct CalibrateArguments {
  std::vector<std::string> tiers;
  std::string emulated, directory, chunk_bytes, spacing = "doubling";
  unsigned max_writers = 0, repetitions = 3;
  std::uint64_t seed = 1;
  bool check = false, json = false;
};

/// One tier to measure.
struct Subject {
  std::string name;
  std::string place;  ///< path of its slots, or the description's file
  std::unique_ptr<calibration::Bench> bench;
};

Result<std::vector<Subject>> real_tiers(const config::Config& config) {
  std::vector<Subject> subjects;
  for (const std::string& name : config.list("tier.order")) {
    const std::string place = config::tier_root(config, name);
    calibration::TierToMeasure tier{name, place, config::tier_max_bytes(config, name)};
    subjects.push_back({name, place, calibration::tier_bench(tier)});
  }
  return subjects;
}

Result<std::vector<Subject>> emulated_tiers(const CalibrateArguments& arguments) {
  PERDURE_TRY(const std::string path, description_path(arguments.emulated));
  PERDURE_TRY(const auto content, os::read_file(path, config::kMaxFileBytes));
  PERDURE_TRY(const auto node,
              device::parse_description({reinterpret_cast<const char*>(content.data()), content.size()}, path));
  std::vector<Subject> subjects;
  for (const auto& tier : node.tiers)
    subjects.push_back({tier.name, path, calibration::emulated_bench(tier, arguments.seed)});
  return subjects;
}

base::Status keep_chosen(std::vector<Subject>& subjects, const std::vector<std::string>& chosen) {
  std::string known;
  for (const Subject& subject : subjects) known += (known.empty() ? "" : ", ") + subject.name;
  for (const std::string& name : chosen)
    if (std::none_of(subjects.begin(), subjects.end(), [&](const Subject& s) { return s.name == name; }))
      return base::fail(PERDURE_INVALID_ARGUMENT, "--tier " + name, "there is no such tier; there are " + known);
  if (!chosen.empty())
    std::erase_if(subjects,
                  [&](const Subject& s) { return std::find(chosen.begin(), chosen.end(), s.name) == chosen.end(); });
  return {};
}

// Ranks per node are as many as its processors, or a small multiple of them.
unsigned range_of(const CalibrateArguments& arguments) {
  if (arguments.max_writers > 0) return arguments.max_writers;
  return arguments.emulated.empty() ? std::clamp(4 * os::cpu_count(), 16U, 256U) : 256;
}

Result<calibration::Measured> measure(const Subject& subject, calibration::Plan plan, Terminal& terminal) {
  Progress progress(terminal, "measuring " + subject.name, calibration::bytes_to_write(plan));
  plan.progress = [&](std::uint64_t bytes) { progress.add(bytes); };
  return calibration::measure(*subject.bench, plan);
}

Result<Calibrated> calibrate(const CalibrateArguments& arguments, const Subject& subject, std::uint64_t chunk_bytes,
                             Terminal& terminal) {
  Calibrated result;
  result.emulated = !arguments.emulated.empty();
  calibration::Calibration& c = result.calibration;
  c = {subject.name,
       calibration::this_machine(),
       {},
       os::wall_clock_ns(),
       chunk_bytes,
       range_of(arguments),
       arguments.repetitions,
       {},
       {}};
  PERDURE_TRY(c.device, calibration::device_at(subject.place));
  const auto stage = [&](const std::vector<unsigned>& counts) {
    return measure(subject, {counts, chunk_bytes, arguments.repetitions, {}}, terminal);
  };
  PERDURE_TRY(auto measured, arguments.spacing == "equal" ? stage(placement::counts_to_measure(c.max_writers))
                                                          : calibration::measure_where_it_bends(c.max_writers, stage));
  c.recycled = std::move(measured.recycled);
  c.fresh = std::move(measured.fresh);
  PERDURE_TRY(const auto model, calibration::model_of(c));
  if (!arguments.check) return result;
  std::vector<unsigned> all(c.max_writers);
  std::iota(all.begin(), all.end(), 1U);
  PERDURE_TRY(auto every, stage(all));
  result.measured = std::move(every.recycled);
  result.accuracy = placement::accuracy(model, result.measured);
  result.repeatability = placement::repeatability(c.recycled, result.measured);
  return result;
}

/// Models of this machine are kept; models of emulated devices only when a directory is named.
base::Status store(const CalibrateArguments& arguments, const config::Config& config,
                   const placement::DeviceModel& model, Calibrated& result) {
  std::string directory = arguments.directory;
  if (directory.empty() && result.emulated) return {};
  if (directory.empty()) {
    PERDURE_TRY(directory, config::model_root(config));
  }
  result.model_file = calibration::model_path(directory, result.calibration.tier);
  PERDURE_CHECK(calibration::save(result.calibration, result.model_file));
  result.plot_file = directory + "/" + result.calibration.tier + ".svg";
  return os::write_file_atomically(result.plot_file, base::as_bytes(calibrated_svg(result, model)),
                                   os::Open::create_shared);
}

Result<std::uint64_t> chunk_bytes_of(const CalibrateArguments& arguments, const config::Config& config) {
  if (arguments.chunk_bytes.empty()) return config.bytes("chunk_bytes");
  auto bytes = base::parse_bytes(arguments.chunk_bytes);
  if (bytes && *bytes > 0 && *bytes <= 16 * base::GiB) return *bytes;
  return base::fail(PERDURE_INVALID_ARGUMENT, "--chunk-bytes",
                    "'" + arguments.chunk_bytes + "' is no size up to 16 GiB");
}

Result<bool> calibrate_all(const CalibrateArguments& arguments, Terminal& terminal) {
  PERDURE_TRY(const auto config, configuration(terminal));
  PERDURE_TRY(const std::uint64_t chunk_bytes, chunk_bytes_of(arguments, config));
  PERDURE_TRY(auto subjects, arguments.emulated.empty() ? real_tiers(config) : emulated_tiers(arguments));
  PERDURE_CHECK(keep_chosen(subjects, arguments.tiers));
  bool good = true;
  base::Json list = base::Json::array();
  for (const Subject& subject : subjects) {
    PERDURE_TRY(auto result, calibrate(arguments, subject, chunk_bytes, terminal));
    PERDURE_TRY(const auto model, calibration::model_of(result.calibration));
    PERDURE_CHECK(store(arguments, config, model, result));
    if (result.accuracy) good = good && good_enough(*result.accuracy);
    list.push_back(calibrated_json(result, model));
    if (!arguments.json) print(terminal.out, calibrated_text(result, model));
  }
  if (arguments.json) print_json(terminal, {{"tiers", list}, {"good", good}});
  return good;
}

int run(const CalibrateArguments& arguments, Terminal& terminal) {
  const auto good = calibrate_all(arguments, terminal);
  if (!good) return report(terminal, good.error());
  return *good ? kGood : kBad;
}

}  // namespace

Action enrol_calibrate(CLI::App& app) {
  auto arguments = std::make_shared<CalibrateArguments>();
  app.add_option("--tier", arguments->tiers, "only this one; several with commas")->delimiter(',');
  app.add_option("--max-writers", arguments->max_writers,
                 "range of the model; by default 4 for each processor (16 to 256), 256 for emulated devices")
      ->check(within(1, 65536));
  app.add_option("--repetitions", arguments->repetitions, "of every count; medians are kept")
      ->check(within(1, 1000))
      ->capture_default_str();
  app.add_option("--spacing", arguments->spacing,
                 "which writer counts: those that double, then where the curve bends; or equal steps")
      ->check(CLI::IsMember({"doubling", "equal"}))
      ->capture_default_str();
  app.add_option("--chunk-bytes", arguments->chunk_bytes, "size of a chunk, instead of the configured one");
  app.add_option("--directory", arguments->directory,
                 "where models and plots go; by default placement.models, or perdure-models beside the configuration");
  app.add_option("--emulated", arguments->emulated,
                 "the tiers of a device description (file or name) in virtual time; kept only with --directory");
  app.add_option("--seed", arguments->seed, "of an emulated device's load")->check(whole_number)->capture_default_str();
  app.add_flag("--check", arguments->check, "measure every writer count too and compare with the predictions");
  app.add_flag("--json", arguments->json, "for programs");
  return [arguments](Terminal& terminal) { return run(*arguments, terminal); };
}

}  // namespace perdure::cli
