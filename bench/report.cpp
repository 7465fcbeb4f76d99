#include "report.hpp"

#include <cstdio>
#include <numeric>

#include "statistics.hpp"

namespace perdure::bench {
namespace {

double ratio(double above, double below) { return below > 0 ? above / below : 0; }

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void row(const char* what, double seconds, double gigabytes) {
  std::printf("  %-34s %10.2f ms %8.2f GB/s\n", what, seconds * 1e3, seconds > 0 ? gigabytes / seconds : 0);
}

Goal at_least(const char* what, double value, double wanted) { return {what, ">=", value, wanted, value >= wanted}; }

}  // namespace

nlohmann::json to_json(const Context& context, const Samples& s) {
  nlohmann::json j;
  j["ranks"] = context.ranks;
  j["bytes_per_rank"] = context.bytes_per_rank;
  j["mode"] = context.mode;
  j["tiers"] = context.tiers;
  j["capture"] = context.capture;
  j["store"] = context.store;
  j["repetitions"] = s.blocking.size();
  j["memcpy_s"] = median(s.memcpy);
  j["fresh_write_s"] = median(s.fresh_write);
  j["store_write_s"] = median(s.store_write);
  j["blocking_s"] = median(s.blocking);
  j["first_blocking_s"] = context.first_blocking_s;
  j["first_minor_faults"] = context.first_faults;
  j["first_level"] = context.first_level;
  j["around_nothing_s"] = median(s.around_nothing);
  j["flush_s"] = median(s.flush);
  j["total_s"] = median(s.total);
  j["restore_s"] = median(s.restore);
  j["empty_checkpoint_s"] = median(s.empty_checkpoint);
  j["barrier_s"] = median(s.barrier);
  j["store_write_sum_s"] = sum(s.store_write);
  j["total_sum_s"] = sum(s.total);
  j["own_memory_bytes"] = context.own_memory_bytes;
  j["ratios"] = {{"blocking_rate_to_memcpy", ratio(j["memcpy_s"], j["blocking_s"])},
                 {"blocking_speed_to_fresh_write", ratio(j["fresh_write_s"], j["blocking_s"])},
                 {"restore_rate_to_memcpy", ratio(j["memcpy_s"], j["restore_s"])},
                 {"flush_rate_to_store_write", ratio(j["store_write_s"], j["flush_s"])}};
  return j;
}

std::vector<Goal> goals(const nlohmann::json& j) {
  const auto& r = j["ratios"];
  const double over_ms = (j["empty_checkpoint_s"].get<double>() - j["barrier_s"].get<double>()) * 1e3;
  const double own_mib = j["own_memory_bytes"].get<double>() / 1048576;
  return {at_least("checkpoint rate / memcpy rate", r["blocking_rate_to_memcpy"], 0.6),
          at_least("checkpoint speed / fresh tmpfs files", r["blocking_speed_to_fresh_write"], 3),
          at_least("restore rate / memcpy rate", r["restore_rate_to_memcpy"], 0.5),
          at_least("flush rate / write+fsync rate", r["flush_rate_to_store_write"], 0.8),
          {"empty checkpoint beyond its barriers, ms", "<=", over_ms, 2, over_ms <= 2},
          {"memory of the library itself, MiB per rank", "<", own_mib, 16, own_mib < 16}};
}

void print_table(const nlohmann::json& j) {
  const double gigabytes = j["ranks"].get<double>() * j["bytes_per_rank"].get<double>() * 1e-9;
  std::printf(
      "Asynchronous checkpointing: %d ranks of %.1f MB, %s engine, tiers %s, capture %s, %d repetitions, medians "
      "of the slowest rank\n",
      j["ranks"].get<int>(), j["bytes_per_rank"].get<double>() * 1e-6, j["mode"].get<std::string>().c_str(),
      j["tiers"].get<std::string>().c_str(), j["capture"].get<std::string>().c_str(), j["repetitions"].get<int>());
  row("memcpy to warm memory", j["memcpy_s"], gigabytes);
  row("write() to fresh files in /dev/shm", j["fresh_write_s"], gigabytes);
  row("write() and fsync at the store", j["store_write_s"], gigabytes);
  row("checkpoint, blocking", j["blocking_s"], gigabytes);
  row("barriers around nothing", j["around_nothing_s"], 0);
  row("first checkpoint, blocking", j["first_blocking_s"], gigabytes);
  row("flush to the store, background", j["flush_s"], gigabytes);
  row("checkpoint until at the store", j["total_s"], gigabytes);
  row("restore from the tier, verified", j["restore_s"], gigabytes);
  std::printf("  %-34s %10.3f ms (two barriers: %.3f ms)\n", "empty checkpoint",
              j["empty_checkpoint_s"].get<double>() * 1e3, j["barrier_s"].get<double>() * 1e3);
  std::printf("  %-34s %10.1f MiB of anonymous memory in the worst rank; %ld page faults in the first checkpoint\n",
              "the library itself", j["own_memory_bytes"].get<double>() / 1048576, j["first_minor_faults"].get<long>());
  for (const auto& [what, comparison, value, wanted, met] : goals(j)) {
    std::printf("  %-52s %8.2f   goal %s %.2f   %s\n", what.c_str(), value, comparison.c_str(), wanted,
                met ? "met" : "NOT MET");
  }
}

}  // namespace perdure::bench
