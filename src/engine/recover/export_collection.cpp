#include "engine/recover/export_collection.hpp"

#include <algorithm>
#include <mutex>

#include "os/system.hpp"
#include "os/thread.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {
namespace {

base::Error wrong_export(const segment::VersionId& id, const char* cause) {
  return {PERDURE_CORRUPT, "what is exported of " + id.text(), cause, {}, false};
}

bool comes_and_goes(const base::Error& error) {
  return error.retryable && (error.code == PERDURE_PEER_FAILED || error.code == PERDURE_TIMEOUT);
}

}  // namespace

base::Result<ExportedPieces> ask_for_pieces(PieceLink& link, unsigned position, ExportQuestion question,
                                            const std::atomic<bool>& stopping, const CollectionLimits& limits) {
  std::vector<std::byte> bytes;
  std::uint64_t pause = limits.first_pause_ns;
  unsigned failures = 0;
  std::uint64_t whole = 0;  // bytes of the answer, as its first part announced
  const std::uint64_t begun = os::monotonic_ns();
  for (;;) {
    if (stopping) return base::fail(PERDURE_CLOSED, question.id.text(), "the engine ends");
    question.offset = bytes.size();
    const auto asked = link.ask(position, question);
    if (!asked) {
      if (!comes_and_goes(asked.error()) || failures++ == limits.failures) return base::fail(asked.error());
      bytes.clear();  // a lost connection ended that export
      continue;
    }
    const ExportAnswer& answer = *asked;
    if (!answer.ready) {
      if (os::monotonic_ns() - begun > limits.give_up_ns)
        return base::fail(PERDURE_TIMEOUT, "what is exported of " + question.id.text(), "it is never ready",
                          "see what that engine does", true);
      os::sleep_ns(pause);
      pause = std::min(2 * pause, limits.longest_pause_ns);
      continue;
    }
    if (!bytes.empty() && answer.bytes != whole) return base::fail(wrong_export(question.id, "its length has changed"));
    whole = answer.bytes;
    if (answer.bytes > limits.most_bytes)
      return base::fail(PERDURE_NO_SPACE, "what is exported of " + question.id.text(),
                        "its description has " + base::format_bytes(answer.bytes) + ", more than the " +
                            base::format_bytes(limits.most_bytes) + " that a recovery takes from one node",
                        "raise chunk_bytes, so that there are fewer chunks to describe");
    if (answer.bytes < bytes.size() + answer.part.size())
      return base::fail(wrong_export(question.id, "it is longer than was said"));
    bytes.insert(bytes.end(), answer.part.begin(), answer.part.end());
    if (bytes.size() == answer.bytes) return decode_exported_pieces(bytes);
    if (answer.part.empty()) return base::fail(wrong_export(question.id, "a part is missing"));
  }
}

std::optional<ExportedPieces::Part> part_at_server(ParityStore& server, catalog::RedundancySet redundancy_set) {
  ExportedPieces::Part part{std::move(redundancy_set), {}};
  part.redundancy_set.position = static_cast<std::uint32_t>(part.redundancy_set.members.size());
  part.redundancy_set.kept.clear();
  const auto found = server.find({part.redundancy_set.id, part.redundancy_set.group});
  for (std::uint64_t stripe = 0; found && stripe < found->size(); ++stripe) {
    part.redundancy_set.kept[{stripe, 0}] = {stripe, (*found)[stripe].bytes, (*found)[stripe].hash, 0};
    part.places[{stripe, 0}] = {{}, stripe};
  }
  if (part.places.empty()) return std::nullopt;
  return part;
}

std::vector<ExportedPieces> pieces_at_servers(ParityStore& server, const std::vector<ExportedPieces>& exported) {
  std::map<std::pair<catalog::RedundancyId, std::uint32_t>, const catalog::RedundancySet*> groups;
  for (const auto& node : exported)
    for (const auto& part : node.parts)
      if (redundancy::keeps_at_server(part.redundancy_set.scheme))
        groups.try_emplace({part.redundancy_set.id, part.redundancy_set.group}, &part.redundancy_set);
  std::vector<ExportedPieces> kept;
  for (const auto& [group, described] : groups)
    if (auto part = part_at_server(server, *described)) kept.push_back({{}, {}, {std::move(*part)}});
  return kept;
}

ExportCollection::ExportCollection(PieceLink& link, const segment::VersionId& id,
                                   const std::vector<ipc::NodeToAsk>& nodes)
    : link_(link), id_(id), nodes_(nodes), recovery_(os::random_u64()) {}

// Nodes that did not answer may still receive the question, so they are told, too.
ExportCollection::~ExportCollection() {
  (void)base::caught("recovery", [this]() -> base::Status {
    for (const unsigned position : asked_) link_.tell(position, {recovery_, suspects_[position]});
    return {};
  });
}

void ExportCollection::suspect(unsigned position, std::vector<BlockPlace> blocks) {
  // other recoveries will find the rest
  if (blocks.size() > ExportEnd::kMostSuspects) blocks.resize(ExportEnd::kMostSuspects);
  suspects_[position] = std::move(blocks);
}

ExportQuestion ExportCollection::question(unsigned position) const {
  return {recovery_, id_, nodes_[position].pieces, nodes_[position].redundancy, 0};
}

std::vector<ExportedPieces> ExportCollection::collect(
    std::optional<unsigned> own, unsigned threads, const std::atomic<bool>& stopping,
    const std::function<void(unsigned position, const base::Error&)>& failed) {
  std::vector<ExportedPieces> exported(nodes_.size());
  for (unsigned position = 0; position < nodes_.size(); ++position)
    if (own != position) asked_.push_back(position);
  std::mutex mutex;  // guards `next`, and serialises calls of `failed`
  std::size_t next = 0;
  const auto work = [&] {
    for (;;) {
      unsigned position = 0;
      {
        std::lock_guard guard(mutex);
        if (next == asked_.size()) return;
        position = asked_[next++];
      }
      auto answer = base::caught(id_, [&] { return ask_for_pieces(link_, position, question(position), stopping); });
      if (answer && answer->address != nodes_[position].address)
        answer = base::fail(wrong_export(id_, "it names another engine than the one that was asked"));
      if (answer) {
        exported[position] = std::move(*answer);
      } else {
        std::lock_guard guard(mutex);
        failed(position, answer.error());
      }
    }
  };
  os::Threads helpers;
  for (unsigned i = 1; i < std::min<std::size_t>(threads, asked_.size()); ++i) {
    // If a thread fails, the others go on. A question that it took and did not ask has an empty answer.
    if (!helpers.start("recovery helper", work, [](const base::Error&) { return false; })) break;
  }
  work();
  helpers.join();
  // A node that did not answer keeps its address, since only a parity server has none.
  for (unsigned position = 0; position < nodes_.size(); ++position)
    exported[position].address = nodes_[position].address;
  return exported;
}

}  // namespace perdure::engine
