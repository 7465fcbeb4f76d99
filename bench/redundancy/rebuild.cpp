#include "rebuild.hpp"

#include <algorithm>
#include <filesystem>

#include "base/json.hpp"
#include "together.hpp"

namespace perdure::redundancy_bench {
namespace {

constexpr std::int64_t kVersion = 1;

/// Finds the directory of the engine in this process, by its open lock. Empty if there is none.
std::string engine_directory() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (!error && target.filename() == "engine.lock") return target.parent_path();
  }
  return {};
}

/// Gathers the texts of all ranks, in rank order, without empty ones. [collective]
Json all_texts(const std::vector<std::string>& mine, const micro::World& world) {
  Json all = Json::array();
  for (int rank = 0; rank < world.size(); ++rank) {
    const Json texts = Json::parse(bench::broadcast(Json(mine).dump(), rank));
    for (const Json& text : texts)
      if (!text.get<std::string>().empty()) all.push_back(text);
  }
  return all;
}

std::vector<char> contents(const Rebuild& settings, const micro::World& world) {
  std::vector<char> data(settings.bytes);
  bench::fill_random(data, static_cast<unsigned>(world.rank()) + 1);
  return data;
}

/// One rank copies while the others sleep, so that it has all memory bandwidth.
double memcpy_alone(const std::vector<char>& data, std::vector<char>& target, const micro::World& world) {
  double seconds = 0;
  if (world.rank() == 0) seconds = bench::copy_to_warm_memory(target, data);
  micro::wait_quietly();
  return bench::slowest(seconds);
}

}  // namespace

base::Result<Json> keep(const Rebuild& settings, const micro::World& world) {
  std::vector<char> data = contents(settings, world);
  PERDURE_TRY(auto job, ProtectedJob::open(settings.job));
  PERDURE_CHECK(job->protect(data));
  base::Status status;
  const double seconds = bench::timed_together([&] {
    status = job->checkpoint(kVersion);
    if (status) status = job->wait(kVersion, PERDURE_LEVEL_NODE);
  });
  PERDURE_CHECK(status);
  const Json directories = all_texts({engine_directory()}, world);
  // Closing it would wait for the store; this launch is to be killed.
  (void)job.release();  // NOLINT(bugprone-unused-return-value)
  return Json{{"level_node_s", seconds}, {"node_directories", directories}};
}

base::Result<Json> restore(const Rebuild& settings, const micro::World& world) {
  const std::vector<char> expected = contents(settings, world);
  std::vector<char> data(settings.bytes, 0);
  PERDURE_TRY(auto job, ProtectedJob::open(settings.job));
  PERDURE_CHECK(job->protect(data));
  base::Result<std::int64_t> version = 0;
  const double seconds = bench::timed_together([&] { version = job->restore(); });
  PERDURE_TRY(const std::int64_t restored, std::move(version));
  const std::string object = "version " + std::to_string(restored);
  PERDURE_CHECK(micro::agree(
      data == expected ? base::Status{} : base::fail(PERDURE_CORRUPT, object, "it is not what was checkpointed")));
  const Json reports = all_texts(job->reports(), world);
  const double copy = memcpy_alone(expected, data, world);
  return Json{{"restore_s", seconds}, {"version", restored}, {"memcpy_s", copy}, {"reports", reports}};
}

}  // namespace perdure::redundancy_bench
