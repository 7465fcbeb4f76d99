#include "engine_run.hpp"

#include "engine_writer.hpp"
#include "os/file.hpp"
#include "scaled.hpp"
#include "support/thread_group.hpp"

namespace perdure::studies {
namespace {

base::Status check(const EngineRun& run) {
  PERDURE_CHECK(simulate::check(run.scenario));
  if (run.scenario.node.tiers.size() > 2)
    return base::fail(PERDURE_UNSUPPORTED, "description", "the engine has two tiers only, memory and file");
  return {};
}

}  // namespace

base::Result<simulate::Outcome> run_in_engine(const EngineRun& run) {
  PERDURE_CHECK(check(run));
  device::Node node = run.scenario.node;
  node.time_scale = run.time_scale;
  PERDURE_CHECK(os::write_file_atomically(run.directory + "/node.toml", base::as_bytes(description_of(node))));
  Findings findings;
  test_support::ThreadGroup ranks(static_cast<int>(run.scenario.writers));
  ranks.run([&](const perdure_communicator& rank) { write_as_rank(run, rank, findings); });
  return findings.outcome(run.time_scale);
}

}  // namespace perdure::studies
