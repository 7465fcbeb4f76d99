#include "client/close.hpp"

#include <array>
#include <span>

#include "base/field_codec.hpp"
#include "client/branch_to_write.hpp"
#include "client/drain.hpp"
#include "client/kept_redundancy.hpp"
#include "client/messages.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

base::Result<Left> ask_drain(Job& job, std::uint64_t timeout_ns) {
  PERDURE_TRY(auto drained, job.engine().channel().call(ipc::Drain{timeout_ns}));
  return Left{drained.done,    drained.remaining,        drained.bytes,
              drained.written, std::move(drained.which), std::move(drained.why)};
}

// [collective] Adds up two sums, and takes the report of the first node that waits.
base::Result<LeftByAll> meet(comm::Communicator& comm, const Left& mine, bool over) {
  std::array<std::uint64_t, 3> sums{mine.done ? 0U : 1U, mine.done ? 0 : mine.bytes, mine.done ? 0 : mine.written};
  PERDURE_CHECK(comm.allreduce(sums, comm::Reduce::sum));
  LeftByAll all{sums[0], sums[1], sums[2]};
  if (all.nodes == 0) return all;
  // Nodes with versions to store go before those whose versions are stored, and which only look after retention.
  const auto rank = static_cast<std::uint64_t>(comm.rank()), ranks = static_cast<std::uint64_t>(comm.size());
  std::array<std::uint64_t, 2> least{mine.done ? 2 * ranks : rank + (mine.versions > 0 ? 0 : ranks), over ? 0U : 1U};
  PERDURE_CHECK(comm.allreduce(least, comm::Reduce::minimum));
  all.over = least[1] == 0;
  const int first = static_cast<int>(least[0] % ranks);
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(comm, base::encode_fields(mine), first));
  PERDURE_TRY(all.first, base::decode_fields<Left>(bytes, "what is left"));
  return all;
}

enum class Company { all_ranks, nobody };

// Drains the embedded engines, and reports the data that is left when the time is over.
base::Status drain_engines(Job& job, Company company) {
  const DrainLimits limits{job.store().properties().location, job.config().real("engine.drain_timeout")};
  const auto meet_company = [&](const Left& mine, bool over) {
    return company == Company::all_ranks ? meet(job.comm(), mine, over)
                                         : base::Result<LeftByAll>(left_by_one(mine, over));
  };
  const DrainCalls calls{
      [&](std::uint64_t limit_ns) { return base::caught("close", [&] { return ask_drain(job, limit_ns); }); },
      meet_company, [&](const std::string& text) { Messages(job.config()).say(text); }, os::monotonic_ns};
  const bool asks = job.leads() && job.engine().connected();
  const bool retains = job.nodes().first() && (company == Company::all_ranks || job.ranks() == 1);
  PERDURE_TRY(const Left left, drain(calls, {asks, retains, job.rank() == 0}, limits));
  if (left.versions == 0) return {};
  return base::fail(left_behind(left, limits, job.engine().directory()));
}

// Tries once more to record what the last checkpoint could not, as the store was away.
void record_before_end(Job& job) {
  base::attempt([&] { record_what_is_left(job); });
}

bool embedded(const Job& job) { return job.config().text("engine.mode") != "daemon"; }

}  // namespace

base::Status close_job(Job& job, bool& met) {
  const base::Status committed = base::caught("close", [&] { return job.engine().take_commit(); });
  Opening opening;
  opening.operation = Operation::close;
  opening.engine_lost = job.engine().gone();
  const auto opened = job.exchange(opening, {});
  met = opened.has_value();
  if (!opened) return base::fail(opened.error());
  base::Status outcome;
  if (embedded(job)) outcome = drain_engines(job, Company::all_ranks);
  record_before_end(job);
  if (outcome) outcome = committed;
  base::Status agreed = agree(job.comm(), outcome);
  if (agreed && embedded(job) && job.group().network_open()) agreed = drop_redundancy(job);
  job.leave(Job::Names::release);
  (void)job.comm().barrier();
  return agreed;
}

base::Status close_job_alone(Job& job) {
  const base::Status committed = base::caught("close", [&] { return job.engine().take_commit(); });
  base::Status outcome;
  if (embedded(job)) outcome = drain_engines(job, Company::nobody);
  record_before_end(job);
  job.leave(job.ranks() == 1 ? Job::Names::release : Job::Names::keep);
  return outcome ? committed : outcome;
}

}  // namespace perdure::client
