// Brings a version's data, after nodes were lost, to where its ranks run now. All ranks decide alike, over the same
// inventories. (docs/adr/0014)
#include <algorithm>

#include "client/version_reader.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

std::string described(const ipc::Recovered& recovered, double seconds) {
  std::string text;
  for (const auto& rank : recovered.ranks)
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank.rank) + ": " +
            base::format_bytes(rank.bytes_rebuilt) + " rebuilt, " + base::format_bytes(rank.bytes_moved) + " moved";
  return text + ", in " + std::to_string(static_cast<std::uint64_t>(seconds * 1e3)) + " ms";
}

}  // namespace

base::Status VersionReader::fetch() {
  // An interrupted recovery may have brought data that nobody committed.
  const bool complete = !segments_ || segments_->empty();
  fetching_.needed = !complete || std::any_of(sources_.begin(), sources_.end(), to_fetch);
  if (!fetching_.needed) return {};
  where_.bring_here(fetching_.wanted);
  const bool asks = job_.leads() && !fetching_.wanted.empty();
  auto fetched = agree(job_.comm(), asks ? base::caught("recovery", [this] { return recover(); }) : base::Status());
  fetching_.failed = !fetched;
  return fetched;
}

bool VersionReader::leave_to_store(const base::Error& why) {
  if (!fetching_.failed || !where_.stored()) return false;
  std::vector<bool> there(sources_.size());
  for (const auto& segment : where_.stored()->segments)
    segment.ranks.for_each([&](std::uint32_t rank) {
      if (rank < there.size()) there[rank] = true;
    });
  for (std::uint32_t rank = 0; rank < sources_.size(); ++rank)
    if (sources_[rank] != plan::PieceSource::in_place && !there[rank]) return false;
  if (!not_fetched_.insert(id_).second) return false;
  if (why.code != PERDURE_PEER_FAILED)  // another rank says it
    note(id_.text() + " cannot be had from other nodes: " + why.text() + "; it is read from the store");
  return true;
}

// The engine asks the others for the data.
base::Status VersionReader::recover() {
  const ipc::Recover recover{id_, job_.ranks(), fetching_.wanted, std::move(fetching_.nodes)};
  const std::uint64_t begun = os::monotonic_ns();
  PERDURE_TRY(const auto reply, job_.engine().channel().call(recover));
  (void)job_.engine().channel().call(ipc::Note{
      id_.text() + " recovered: " + described(reply, static_cast<double>(os::monotonic_ns() - begun) * 1e-9)});
  return {};
}

// Gives the ranks that run here, and those that share a segment with them, which one node has to write.
std::vector<std::uint32_t> VersionReader::ranks_to_fetch() const {
  const Nodes& nodes = job_.nodes();
  std::set<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < sources_.size(); ++r)
    if (nodes.node_of_rank[r] == nodes.mine && to_fetch(sources_[r])) ranks.insert(r);
  if (segments_)
    for (const auto& segment : *segments_)
      for (const std::uint32_t r : segment.ranks)
        if (segment.node == nodes.mine && nodes.node_of_rank[r] != nodes.mine) ranks.insert(r);
  return {ranks.begin(), ranks.end()};
}

// Rebuilt pieces have to go to the store with the rest of their version. Intact pieces on another node go there from
// that one.
base::Status VersionReader::commit_fetched() {
  if (!fetching_.needed || !job_.leads()) return {};
  ipc::Channel& channel = job_.engine().channel();
  if (!segments_) {
    if (job_.nodes().first())
      (void)channel.call(ipc::Note{id_.text() +
                                   ": the store cannot be read, or its segments contradict those of engines; it is"
                                   " restored, but not completed there"});
    return {};
  }
  const auto done = channel.call(ipc::Commit{id_, job_.my_segments(*segments_), true});
  // The restore goes on all the same. The missing parts are looked for again when engines are attached.
  if (!done && done.error().code == PERDURE_INCOMPLETE) {
    (void)channel.call(ipc::Note{id_.text() + " is not completed at the store: " + done.error().text()});
    return {};
  }
  // PERDURE_NOT_FOUND: nothing of it is here. PERDURE_MISMATCH: begun with other ranks; it stays as it is until that
  // segment can be finished.
  if (!done && done.error().code != PERDURE_NOT_FOUND && done.error().code != PERDURE_MISMATCH)
    return base::fail(done.error());
  return {};
}

// If some rank's data came from the store, this version is safe there.
base::Status VersionReader::replicate_again() {
  const bool on_nodes = std::all_of(sources_.begin(), sources_.end(), [](plan::PieceSource source) {
    return source == plan::PieceSource::in_place || to_fetch(source);
  });
  if (sources_.empty() || !on_nodes || where_.spilled()) return {};  // data that has left its slots is not replicated
  return job_.group().replicate_again(id_);
}

bool VersionReader::fetched() const { return job_.rank() < sources_.size() && to_fetch(sources_[job_.rank()]); }

}  // namespace perdure::client
