#include "engine/peers/parity_servers.hpp"

#include <algorithm>

#include "parity/server_file.hpp"

namespace perdure::engine {
namespace {

using network::Bytes;

constexpr std::uint64_t kPoll_ns = 500'000'000;

// A server that does not answer must not delay a restart for long, nor one version after another.
parity::ClientOptions patience() {
  parity::ClientOptions options;
  options.connect_ns = 5'000'000'000;
  options.request_ns = 10'000'000'000;
  options.pause_ns = 5'000'000'000;
  return options;
}

void add_text(Bytes& id, const std::string& text) {
  for (const char c : text) id.push_back(static_cast<std::byte>(c));
  id.push_back(std::byte{0});
}

// Appends big-endian bytes, which sort like the number.
void add_number(Bytes& id, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) id.push_back(static_cast<std::byte>(number >> shift));
}

std::uint64_t number_at(const Bytes& id, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = at; i < std::min(at + 8, id.size()); ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(id[i]);
  return number;
}

void add_attempt(Bytes& id, const segment::VersionId& version) {
  add_number(id, version.attempt.created_ns);
  add_number(id, version.attempt.nonce);
  add_number(id, version.version);
}

base::Result<parity::Block> block_of(const EncodingTask::Source& source) {
  PERDURE_TRY(auto memory, network::decode_remote_memory(source.place.memory));
  return parity::Block{std::move(memory), source.place.offset, source.length, source.hash};
}

base::Result<std::vector<parity::ServerFile>> read_files(const std::vector<std::string>& paths) {
  if (paths.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "redundancy.parity_servers", "the scheme parity-server needs a server",
                      "start perdure-parityd, and name the file that it writes");
  return parity::read_server_files(paths);
}

}  // namespace

base::Result<std::vector<std::byte>> parity_server_key(const std::vector<std::string>& paths) {
  PERDURE_TRY(const auto files, read_files(paths));
  const auto& key = files.front().key;
  const auto* first = reinterpret_cast<const std::byte*>(key.data());
  return std::vector<std::byte>(first, first + sizeof key);
}

base::Result<std::shared_ptr<ParityServers>> ParityServers::open(std::shared_ptr<PeerNetwork> network,
                                                                 const std::vector<std::string>& paths,
                                                                 std::string job) {
  PERDURE_TRY(const auto files, read_files(paths));
  if (files.front().key != network->key)
    return base::fail(PERDURE_MISMATCH, "redundancy.parity_servers", "the servers have another key than this job",
                      "name the same servers on all nodes, and start the job again after they were started again");
  std::vector<std::unique_ptr<parity::Client>> clients;
  for (const std::string& path : paths) {
    // The file is read for every connection, so that a restarted server is found.
    const auto address = [path]() -> base::Result<Bytes> {
      PERDURE_TRY(auto file, parity::read_server_file(path));
      return std::move(file.address);
    };
    clients.push_back(std::make_unique<parity::Client>(*network->endpoint, address, patience()));
  }
  return std::shared_ptr<ParityServers>(
      new ParityServers(std::move(network), parity::Servers(std::move(clients)), std::move(job)));
}

Bytes ParityServers::prefix(const std::string& name) const {
  Bytes id;
  add_text(id, job_);
  add_text(id, name);
  return id;
}

Bytes ParityServers::id_of(const Group& group) const {
  Bytes id = prefix(group.id.version.name);
  add_attempt(id, group.id.version);
  add_number(id, group.id.epoch);
  add_number(id, group.number);
  return id;
}

base::Result<bool> ParityServers::order(const Group& group, const std::vector<std::vector<std::byte>>& addresses,
                                        const std::vector<std::vector<EncodingTask::Source>>& blocks) {
  parity::Order order{id_of(group), {}, {}};
  for (std::size_t position = 0; position < blocks.size(); ++position) {
    auto& member = order.members.emplace_back(parity::Member{addresses.at(position), {}});
    for (const auto& source : blocks[position]) {
      PERDURE_TRY(auto block, block_of(source));
      member.blocks.push_back(std::move(block));
    }
  }
  parity::Client& client = servers_.of(order.id);
  PERDURE_TRY(auto standing, client.encode(order));
  if (standing.stage != parity::Stage::done) {
    PERDURE_TRY(standing, client.wait(order.id, kPoll_ns));
  }
  if (standing.stage == parity::Stage::failed) return base::fail(standing.why);
  return standing.stage == parity::Stage::done;
}

std::optional<std::vector<ParityStore::Parity>> ParityServers::find(const Group& group) {
  const Bytes id = id_of(group);
  const auto kept = servers_.of(id).find(id);
  if (!kept) return std::nullopt;
  std::vector<Parity> parities;
  for (const auto& parity : kept->parities) parities.push_back({parity.bytes, parity.hash});
  return parities;
}

base::Status ParityServers::rebuild(const Group& group, const Lost& lost, const std::vector<Survivor>& survivors,
                                    base::ByteSpan target) {
  const Bytes id = id_of(group);
  parity::Client& client = servers_.of(id);
  PERDURE_TRY(const auto kept, client.find(id));
  std::vector<parity::Survivor> others;
  for (const auto& survivor : survivors) {
    PERDURE_TRY(auto block, block_of(survivor.source));
    others.push_back({survivor.source.block.position, survivor.here, survivor.address, std::move(block)});
  }
  return client.rebuild(kept, {lost.position, lost.stripe, lost.hash}, others, target);
}

void ParityServers::drop_if(const Bytes& prefix, const std::function<bool(const Bytes&)>& which) {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const auto listed = servers_.at(i).list(prefix);
    if (!listed) continue;  // it is gone, with all that it kept
    for (const auto& entry : *listed)
      if (!entry.memory && which(entry.id)) (void)servers_.at(i).drop(entry.id);
  }
}

void ParityServers::drop(const Group& group) {
  const Bytes id = id_of(group);
  (void)servers_.of(id).drop(id);
}

void ParityServers::drop(const segment::VersionId& id) {
  Bytes begin = prefix(id.name);
  add_attempt(begin, id);
  drop_if(begin, [](const Bytes&) { return true; });
}

void ParityServers::drop_older(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) {
  const Bytes begin = prefix(name);
  drop_if(begin, [&](const Bytes& id) {
    const std::uint64_t of_ns = number_at(id, begin.size());
    return of_ns < attempt_ns && !keep.contains(of_ns);
  });
}

}  // namespace perdure::engine
