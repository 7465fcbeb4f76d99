#include "pdrio.hpp"

#include <unistd.h>

#include <array>
#include <map>

#include "base/json.hpp"
#include "plain.hpp"
#include "run.hpp"
#include "statistics.hpp"
#include "together.hpp"

namespace perdure::redundancy_bench {
namespace {

using micro::Measured;
using micro::Series;

/// One handle and the times of its calls at one size.
struct Retained {
  std::string retention;
  std::unique_ptr<ProtectedJob> job;
  std::int64_t version = 0;
};

/// Groups series by what they measure, in the order of their first size.
class Collected {
 public:
  explicit Collected(int ranks) : ranks_(ranks) {}
  void add(const std::string& benchmark, const std::string& mode, const std::string& retention, double seconds) {
    Series& series = all_.try_emplace({benchmark, mode, retention}).first->second;
    series.benchmark = benchmark;
    series.mode = mode;
    if (!retention.empty()) series.more = {{"retention", retention}};
    if (series.sizes.empty() || series.sizes.back().bytes != bytes_)
      series.sizes.push_back({bytes_, static_cast<double>(bytes_) * ranks_, {}, micro::Json::object()});
    series.sizes.back().seconds.push_back(seconds);
  }
  void begin_size(std::uint64_t bytes) { bytes_ = bytes; }
  const std::map<std::array<std::string, 3>, Series>& all() const { return all_; }
  double rate(const std::string& benchmark, const std::string& mode) const {
    const auto at = all_.find({benchmark, mode, ""});
    if (at == all_.end()) return 0;
    const auto fitted = bench::fit_throughput(at->second.samples());
    return fitted ? fitted->bytes_per_s : 0;
  }

 private:
  int ranks_;
  std::uint64_t bytes_ = 0;
  std::map<std::array<std::string, 3>, Series> all_;
};

base::Status repeat(const Pdrio& settings, Retained& one, Plain& plain, Collected* kept) {
  const bool alone = settings.job.scheme == "single";
  PERDURE_CHECK(micro::agree(one.job->protect(plain.data())));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = bench::now_s();
  const auto passed = [&] { return bench::slowest(bench::now_s() - begin); };
  PERDURE_CHECK(one.job->checkpoint(++one.version));
  const double returned = passed();
  if (!alone) PERDURE_CHECK(one.job->wait(one.version, PERDURE_LEVEL_NODE));
  const double survives = passed();
  PERDURE_CHECK(one.job->wait(one.version, PERDURE_LEVEL_STORE));
  const double stored = passed();
  if (kept == nullptr) return {};
  kept->add("pdrio", "checkpoint", one.retention, returned);
  if (!alone) kept->add("pdrio", "until node", one.retention, survives);
  kept->add("pdrio", "until store", one.retention, stored);
  return {};
}

// Measures all jobs in turn in every repetition.
base::Status measure_size(const Pdrio& settings, std::vector<Retained>& jobs, Plain& plain, Collected& all,
                          micro::Progress& progress) {
  for (int repetition = 0; repetition <= settings.common.repetitions; ++repetition) {
    const bool counted = repetition > 0;
    PERDURE_TRY(const double write, plain.write());
    const double send = plain.send(), copy = plain.copy();
    if (counted) all.add("pario", "new", "", write);
    if (counted) all.add("parts", "send", "", send);
    if (counted) all.add("parts", "copy", "", copy);
    for (Retained& one : jobs) PERDURE_CHECK(repeat(settings, one, plain, counted ? &all : nullptr));
    progress.step();
  }
  return {};
}

base::Result<std::vector<Retained>> open_both(const Pdrio& settings, const std::string& directory) {
  std::vector<Retained> jobs;
  const std::string run = bench::broadcast("pdrio-" + std::to_string(::getpid()));
  for (const char* retention : {"on", "off"}) {
    JobOptions options = settings.job;
    options.name = run + "-" + retention;
    options.directory = directory;
    if (std::string(retention) == "off")
      options.more += std::string(options.more.empty() ? "" : ";") + "retention.keep_every=1";
    PERDURE_TRY(auto job, ProtectedJob::open(options));
    jobs.push_back({retention, std::move(job)});
  }
  return jobs;
}

// Composes the paper's models of partner and buddy (4.1.2) from the parts measured beside them; the paper uses B_write
// for the copy.
void compose(const Pdrio& settings, const Collected& all, micro::Results& results) {
  const bool partner = settings.job.scheme == "partner";
  if (!partner && settings.job.scheme != "buddy") return;
  const double write = all.rate("pario", "new");
  const bench::Parts parts{write, all.rate("parts", "copy"), all.rate("parts", "send"), write};
  const auto composition = partner ? bench::Composition::partner : bench::Composition::buddy;
  for (const auto& [key, series] : all.all())
    if (key[1] == "until node")
      results.add_fit(series.name() + ", composed",
                      bench::to_json(composition, bench::fit_whole(composition, parts, series.samples())));
}

}  // namespace

base::Status measure(const Pdrio& settings, const micro::World& world, const std::string& directory,
                     micro::Results& results) {
  PERDURE_TRY(auto jobs, open_both(settings, directory));
  Collected all(world.size());
  const auto sizes = settings.common.sizes();
  micro::Progress progress(world, sizes.size() * (settings.common.repetitions + 1U));
  std::unique_ptr<Plain> plain;
  for (const std::uint64_t bytes : sizes) {
    all.begin_size(bytes);
    // The old data must live until no handle protects it any more.
    auto next = std::make_unique<Plain>(world, settings.job.ranks_per_node, directory, bytes);
    for (Retained& one : jobs) PERDURE_CHECK(micro::agree(one.job->protect(next->data())));
    plain = std::move(next);
    PERDURE_CHECK(measure_size(settings, jobs, *plain, all, progress));
  }
  for (const auto& [key, series] : all.all()) results.add(series);
  compose(settings, all, results);
  for (Retained& one : jobs) PERDURE_CHECK(one.job->close());
  return {};
}

}  // namespace perdure::redundancy_bench
