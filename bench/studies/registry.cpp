#include "base/bytes.hpp"
#include "study.hpp"

namespace perdure::studies {
namespace {

// Selects cells that one machine runs in some minutes of real time.
bool many_writers(const simulate::Scenario& cell) { return cell.writers == 64 || cell.writers == 256; }
bool some_writers(const simulate::Scenario& cell) { return cell.writers == 16 || cell.writers == 64; }
bool least_or_most_cache(const simulate::Scenario& cell) {
  const std::uint64_t cache = cell.node.tiers.front().capacity_bytes;
  return cache == 2 * base::GiB || cache == 8 * base::GiB;
}

}  // namespace

const std::vector<Study>& studies() {
  static const std::vector<Study> kStudies = {
      {"model", "accuracy of the device models (Fig. 3)", run_model, nullptr},
      {"weak", "more writers with 4 chunks each on one node (Fig. 4)", run_weak, many_writers},
      {"strong", "64 GiB of one node divided among more writers (Fig. 5)", run_strong, some_writers},
      {"cache", "larger caches with 16 and 64 writers (Fig. 6)", run_cache, least_or_most_cache},
      {"horizontal", "more nodes that share the store (Fig. 7)", run_horizontal, nullptr},
      {"application", "increase in run time against a synchronous writer (Fig. 8)", run_application, nullptr},
  };
  return kStudies;
}

base::Result<const Study*> find_study(const std::string& name) {
  std::string known;
  for (const Study& study : studies()) {
    if (study.name == name) return &study;
    known += std::string(known.empty() ? "" : ", ") + study.name;
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, "study '" + name.substr(0, 100) + "'", "there are " + known);
}

}  // namespace perdure::studies
