// What the server answers to `metrics`: "labels", that say whose they are, and "families"
// (src/metrics/family_codec.hpp).
#include <algorithm>

#include "base/json.hpp"
#include "engine/janitor.hpp"
#include "engine/server.hpp"
#include "metrics/family_codec.hpp"
#include "os/system.hpp"

namespace perdure::engine {

base::Json Server::answer_metrics() {
  metrics::Collection out;
  const auto is_client = [](const auto& entry) { return entry.second.is_rank(); };
  const auto waits_for_slot = [](const Waiting& w) { return std::holds_alternative<ipc::Grant>(w.request); };
  out.add("perdure_clients", static_cast<double>(std::count_if(clients_.begin(), clients_.end(), is_client)));
  out.add("perdure_slot_requests_waiting",
          static_cast<double>(std::count_if(waiting_.begin(), waiting_.end(), waits_for_slot)));
  out.add("perdure_reports_total", reports_.added());
  out.add("perdure_versions_retired_total", janitor_.retired());
  {
    std::lock_guard guard(lock_);
    export_identity(core_, options_.identity, out);
    export_core(core_, out);
  }
  const metrics::Labels labels = {{"node", options_.identity.node}, {"perdure_job", options_.identity.job}};
  return {{"ok", true}, {"labels", metrics::to_json(labels)}, {"families", metrics::to_json(out.take())}};
}

void Server::note_wait(const Waiting& waiting) {
  if (!std::holds_alternative<ipc::Grant>(waiting.request)) return;
  std::lock_guard guard(lock_);
  core_.counters().slot_wait_s.observe(static_cast<double>(os::monotonic_ns() - waiting.since_ns) * 1e-9);
}

}  // namespace perdure::engine
