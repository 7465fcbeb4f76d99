#include "node/reclaim.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "node/give_up.hpp"

namespace perdure::node {

std::uint64_t Reclaimed::bytes() const {
  std::uint64_t bytes = 0;
  for (const Left& left : given_up) bytes += left.directory.bytes;
  return bytes;
}

std::string Reclaimed::lacking_text() const {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    bytes += kept[i].left.directory.bytes;
    if (i < kMost) text += (i == 0 ? "" : "; ") + node::lacking_text(kept[i].left, kept[i].judgement);
  }
  if (kept.empty()) return {};
  if (kept.size() > kMost) text += "; and " + std::to_string(kept.size() - kMost) + " other directories";
  return "dead engines left " + base::format_bytes(bytes) + " on this node that their stores lack: " + text;
}

bool may_be_reclaimed(const Left& left, const Reclaim& reclaim) {
  if (left.directory.alive || left.directory.path == reclaim.own) return false;
  return !left.job || !left.job->same_job(reclaim.job);
}

Reclaimed reclaim(const config::Config& config, const Reclaim& reclaim) {
  Reclaimed reclaimed;
  const auto directories = find_engine_directories(config);
  if (!directories) {
    reclaimed.failures.push_back(directories.error());
    return reclaimed;
  }
  StoreLook stores(reclaim.open);
  for (const EngineDirectory& directory : *directories) {
    if (reclaim.stop()) break;
    if (directory.alive || directory.path == reclaim.own) continue;
    Left left = look_at(directory);
    if (!may_be_reclaimed(left, reclaim)) continue;
    const Facts facts = stores.facts_of(left);
    Judgement judgement = judge(left, facts);
    if (!judgement.all_stored()) {
      reclaimed.kept.push_back({std::move(left), std::move(judgement)});
      continue;
    }
    base::Status gone = stores.make_lasting(left, facts);
    if (gone) gone = give_up(left);
    if (gone)
      reclaimed.given_up.push_back(std::move(left));
    else if (gone.error().code != PERDURE_BUSY)  // BUSY: an engine came meanwhile
      reclaimed.failures.push_back(gone.error());
  }
  return reclaimed;
}

}  // namespace perdure::node
