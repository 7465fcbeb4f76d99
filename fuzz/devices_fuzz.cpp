// Fuzzes the description of emulated devices with any text.
#include <cmath>

#include "device/description.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

/// Accepted devices can be simulated: speeds are positive and finite for any number of streams or nodes.
void check_curve(const device::Curve& curve) {
  for (double count : {0.0, 1.0, 1.5, 256.0, 1e12}) require(std::isfinite(curve.at(count)) && curve.at(count) > 0);
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  const auto node = device::parse_description(text_of(input), "input.toml");
  if (!node) return;
  require(!node->tiers.empty() && node->time_scale > 0);
  for (const auto& tier : node->tiers) check_curve(tier.throughput);
  check_curve(node->store.throughput);
  check_curve(node->store_shared);
  require(device::share_of_store(*node, 16384) > 0);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  for (std::string_view text :
       {"tiers = ['a']\n[tier.a]\nstreams = [1]\nbytes_per_s = ['1GB']\n[store]\nstreams = [1]\nbytes_per_s = "
        "['1MB']\n",
        "name = 'x'\ntime_scale = 0.5\ntiers = ['a', 'b']\n[tier.a]\nstreams = [1, 8]\nbytes_per_s = ['4GB', '20GB']\n"
        "capacity = '2GiB'\n[tier.b]\nstreams = [1, 16]\nbytes_per_s = ['100MB', '700MB']\nlatency_s = 1e-3\n"
        "variability = 0.05\nvariability_period_s = 2\n[store]\nstreams = [1]\nbytes_per_s = ['2GB']\n"
        "nodes = [1, 64]\ntotal_bytes_per_s = ['2GB', '96GB']\n"}) {
    const auto bytes = base::as_bytes(text);
    list.emplace_back(bytes.begin(), bytes.end());
  }
  return list;
}

}  // namespace perdure::fuzz
