#include "client/whereabouts.hpp"

#include <utility>

#include "client/job.hpp"

namespace perdure::client {

Whereabouts::Whereabouts(Job& job, const segment::VersionId& id, VersionPlan plan, JobInventory all, StoreView store)
    : job_(&job), id_(id), plan_(std::move(plan)), all_(std::move(all)), store_(std::move(store)) {
  for (const auto& [node, held] : all_.held) {
    if (held.id != id_) continue;
    spilled_ = spilled_ || !held.spilled.empty();
    if (node != job.nodes().mine) continue;
    for (const auto* ranks : {&held.held, &held.spilled})
      ranks->for_each([this](std::uint32_t rank) { here_.insert(rank); });
  }
  if (const auto* view = store_.find(id_); view != nullptr) stored_ = *view;
}

const std::vector<std::uint32_t>& Whereabouts::places() const {
  return plan_.node_of_rank.empty() ? job_->nodes().node_of_rank : plan_.node_of_rank;
}

std::uint32_t Whereabouts::node_that_knows(std::uint32_t rank) const {
  const auto nodes = static_cast<std::uint32_t>(job_->nodes().labels.size());
  const auto& sources = plan_.pieces.of_rank;
  if (rank < sources.size() && sources[rank] == plan::PieceSource::store) return rank % nodes;
  return rank < places().size() && places()[rank] < nodes ? places()[rank] : rank % nodes;
}

Whereabouts::Source Whereabouts::source_of(std::uint32_t rank) const {
  if (here(rank)) return Source::here;
  const auto& sources = plan_.pieces.of_rank;
  const bool on_nodes = plan_.on_nodes && rank < sources.size() && sources[rank] != plan::PieceSource::store;
  return on_nodes ? Source::nodes : Source::store;
}

std::vector<ipc::NodeToAsk> Whereabouts::nodes_to_ask(const std::vector<std::uint32_t>& ranks) const {
  std::vector<ipc::NodeToAsk> nodes;
  for (auto& question : client::nodes_to_ask(id_, all_, store_, places(), ranks))
    nodes.push_back({job_->nodes().labels[question.node], job_->group().address_of(question.node),
                     std::move(question.pieces), std::move(question.redundancy)});
  return nodes;
}

}  // namespace perdure::client
