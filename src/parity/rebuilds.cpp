#include "parity/rebuilds.hpp"

#include <algorithm>
#include <cstring>

namespace perdure::parity {
namespace {

tl::unexpected<base::Error> no_rebuild(const Rebuild& request, const std::string& cause) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "stripe " + std::to_string(request.stripe) + " of " + id_text(request.id),
                    cause);
}

const StripeBlock* block_at(const StripeParity& stripe, unsigned position) {
  for (const StripeBlock& block : stripe.blocks)
    if (block.position == position) return &block;
  return nullptr;
}

/// The survivors have to be all blocks of the stripe but the lost one, as they were encoded.
base::Status check_rebuild(const Rebuild& request, const Record& record) {
  const StripeParity* stripe = request.stripe < record.stripes.size() ? &record.stripes[request.stripe] : nullptr;
  const StripeBlock* lost = stripe == nullptr ? nullptr : block_at(*stripe, request.position);
  if (lost == nullptr)
    return base::fail(PERDURE_NOT_FOUND, "stripe " + std::to_string(request.stripe) + " of " + id_text(request.id),
                      "it has no block of member " + std::to_string(request.position));
  if (lost->bytes != request.bytes) return no_rebuild(request, "the lost block had another length");
  std::vector<unsigned> positions{request.position};
  for (const Rebuild::Source& source : request.survivors) {
    const StripeBlock* known = block_at(*stripe, source.position);
    if (known == nullptr || known->bytes != source.bytes || known->hash != source.hash)
      return no_rebuild(request, "member " + std::to_string(source.position) + " had another block in it, or none");
    if (source.offset > source.memory.wire.bytes || source.bytes > source.memory.wire.bytes - source.offset)
      if (!source.address.empty()) return no_rebuild(request, "a survivor is not within the memory that it names");
    positions.push_back(source.position);
  }
  std::sort(positions.begin(), positions.end());
  if (std::adjacent_find(positions.begin(), positions.end()) != positions.end())
    return no_rebuild(request, "a member is named twice");
  for (const StripeBlock& block : stripe->blocks)
    if (!std::binary_search(positions.begin(), positions.end(), block.position))
      return no_rebuild(request, "the block of member " + std::to_string(block.position) + " is missing, too");
  return {};
}

}  // namespace

base::Result<RebuildPointer> Rebuilds::add(network::PeerId owner, Rebuild request, RecordPointer record) {
  PERDURE_CHECK(check_rebuild(request, *record));
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= kMaxWaiting)
    return base::fail(PERDURE_BUSY, id_text(request.id), "1024 rebuilds are under way", {}, true);
  auto job = std::make_shared<RebuildJob>();
  job->ticket = next_ticket_++;
  job->owner = owner;
  job->request = std::move(request);
  job->record = std::move(record);
  jobs_[job->ticket] = job;
  return job;
}

void Rebuilds::run(network::Endpoint& endpoint, Reader& reader, const RebuildPointer& job) {
  base::Status outcome = put_together(reader, *job);
  std::optional<network::RemoteMemory> exposed;
  if (outcome) {
    auto memory = endpoint.expose(job->memory.span(), network::Access::read);
    if (memory) exposed = std::move(*memory);
    if (!memory) outcome = base::fail(memory.error());
  }
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    job->stage = outcome ? Stage::done : Stage::failed;
    if (!outcome) job->why = outcome.error();
    if (!outcome) job->memory = Pool::Piece{};
    ended = !jobs_.contains(job->ticket);
    if (!ended) job->exposed = exposed;
  }
  if (ended && exposed) endpoint.withdraw(*exposed);
}

base::Status Rebuilds::put_together(Reader& reader, RebuildJob& job) {
  const StripeParity& stripe = job.record->stripes[job.request.stripe];
  const std::string where = "stripe " + std::to_string(job.request.stripe) + " of " + id_text(job.request.id);
  auto memory = scratch_->take(stripe.parity.bytes);
  if (!memory) return base::fail(PERDURE_BUSY, where, "too much is being rebuilt at once", {}, true);
  job.memory = std::move(*memory);
  base::Hasher hasher;
  base::copy_and_hash(job.memory.span().data(), stripe.memory.span().data(), stripe.parity.bytes, hasher);
  if (hasher.digest() != stripe.parity.hash)
    return base::fail(PERDURE_CORRUPT, "parity of " + where, "its content is not what its hash says");
  std::vector<Block> blocks(job.request.survivors.size());
  std::vector<Source> sources;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Rebuild::Source& survivor = job.request.survivors[i];
    blocks[i] = {survivor.memory, survivor.offset, survivor.bytes, survivor.hash};
    if (!survivor.address.empty())
      sources.push_back(
          {"block of member " + std::to_string(survivor.position) + " in " + where, &survivor.address, &blocks[i]});
  }
  const auto combined = combine(reader, sources, job.memory.span(), Start::existing, job.progress);
  if (!combined) return base::fail(combined.error());
  return {};
}

Rebuilt Rebuilds::standing(network::PeerId owner, std::uint64_t ticket) const {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(ticket);
  if (it == jobs_.end() || it->second->owner != owner) return {};
  const RebuildJob& job = *it->second;
  return {job.stage, job.progress.pulled, job.why, job.exposed.value_or(network::RemoteMemory{})};
}

void Rebuilds::end(network::Endpoint& endpoint, network::PeerId owner, std::uint64_t ticket) {
  RebuildPointer job;
  {
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(ticket);
    if (it == jobs_.end() || it->second->owner != owner) return;
    job = std::move(it->second);
    jobs_.erase(it);
  }
  job->progress.given_up = true;
  if (job->exposed) endpoint.withdraw(*job->exposed);
}

void Rebuilds::end_all_of(network::Endpoint& endpoint, network::PeerId owner) {
  std::vector<std::uint64_t> tickets;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [ticket, job] : jobs_)
      if (job->owner == owner) tickets.push_back(ticket);
  }
  for (const std::uint64_t ticket : tickets) end(endpoint, owner, ticket);
}

void Rebuilds::give_up_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [ticket, job] : jobs_) job->progress.given_up = true;
}

std::size_t Rebuilds::size() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

}  // namespace perdure::parity
