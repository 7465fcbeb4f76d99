#include "engine/ledger/node_state.hpp"

#include <algorithm>

#include "engine/ledger/opened_tier.hpp"

namespace perdure::engine {

NodeState::NodeState(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports,
                     NodeStateOptions options)
    : node_(std::move(catalog), std::move(tiers), reports, std::move(options)) {}

base::Status NodeState::recover() {
  for (const auto& error : node_.catalog.replay_report().damage) node_.reports.add("catalog: " + error.text());
  std::vector<catalog::OpenedTier> opened;
  for (const auto& tier : node_.tiers) opened.push_back(opened_tier(*tier));
  const auto numbering = catalog::number_tiers(node_.catalog.state(), opened, boot_number());
  PERDURE_CHECK(node_.catalog.number(numbering));
  PERDURE_CHECK(held.recover());
  redundancy.adopt();
  flushes.give_up_unreachable();
  return {};
}

std::uint64_t NodeState::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, known] : versions())
    if (known.committed && !known.all_stored()) bytes += known.bytes();
  return bytes;
}

std::size_t NodeState::pending_versions() const {
  std::size_t count = 0;
  for (const auto& [id, known] : node_.versions)
    if (known.life == Life::delayed || (known.life == Life::committed && known.flush != FlushPhase::given_up)) ++count;
  return count;
}

std::size_t NodeState::given_up_versions() const {
  std::size_t count = 0;
  for (const auto& [id, known] : node_.versions)
    if (known.flush == FlushPhase::given_up) ++count;
  return count;
}

std::optional<base::Error> NodeState::last_flush_error() const {
  const Version* newest = nullptr;
  for (const auto& [id, known] : node_.versions) {
    const bool failed = known.life == Life::committed && known.error;
    if (failed && (newest == nullptr || known.order > newest->order)) newest = &known;
  }
  return newest == nullptr ? std::nullopt : newest->error;
}

bool NodeState::holds_unstored() const {
  return std::any_of(versions().begin(), versions().end(),
                     [](const auto& entry) { return !entry.second.all_stored(); });
}

std::uint64_t NodeState::slot_bytes() const {
  std::uint64_t smallest = ~0ULL;
  for (std::uint32_t t = 0; t < node_.usable_tiers; ++t)
    smallest = std::min(smallest, node_.tiers[t]->properties().slot_bytes);
  return smallest;
}

void NodeState::client_gone(ClientId client, std::optional<std::uint32_t> rank) {
  node_.observed.interference.client_gone(client);
  writes.release(client, nullptr);
  captures.leave(client, rank);
  node_.observed.expected.client_gone(client);
  for (auto& tier : node_.tiers) tier->disown(client);
  held.client_gone(client);
  guests.client_gone(client);
}

void NodeState::step(ClientId client, double seconds) {
  node_.observed.interference.step(client, node_.now_s(), seconds);
}

}  // namespace perdure::engine
