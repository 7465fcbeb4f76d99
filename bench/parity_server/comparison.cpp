#include "comparison.hpp"

#include <algorithm>
#include <thread>

#include "os/system.hpp"
#include "parity/client.hpp"
#include "statistics.hpp"

namespace perdure::bench {
namespace {

using base::Result;
using network::Bytes;

struct Sample {
  double seconds = 0, cpu_seconds = 0;
};

class Comparison {
 public:
  explicit Comparison(const ComparisonOptions& options) : options_(options) {}

  base::Status start() {
    const unsigned most = *std::max_element(options_.members.begin(), options_.members.end());
    for (unsigned i = 0; i < most; ++i) {
      PERDURE_TRY(Process node, Process::start_node(options_.process, i));
      nodes_.push_back(std::move(node));
    }
    PERDURE_TRY(Process server, Process::start_server(options_.process));
    server_.emplace(std::move(server));
    PERDURE_TRY(self_, open_endpoint(options_.process, {}));
    for (const Process& node : nodes_) {
      PERDURE_TRY(const network::PeerId peer, self_->connect(node.address(), kLimitNs));
      PERDURE_TRY(parity::Member member, describe(*self_, peer));
      peers_.push_back(peer);
      members_.push_back(std::move(member));
    }
    client_ = std::make_unique<parity::Client>(*self_, server_->address());
    return {};
  }

  Result<nlohmann::json> run(unsigned members) {
    std::vector<Sample> server, distributed, around;
    for (int i = 0; i <= options_.repetitions; ++i) {  // the first is a warm-up, and makes the connections
      PERDURE_TRY(const Sample a, by_server(members, i));
      PERDURE_TRY(const Sample b, by_members(members, compute_parities));
      PERDURE_TRY(const Sample c, by_members(members, go_around));
      if (i == 0) PERDURE_CHECK(check_server(members));
      if (i > 0) server.push_back(a), distributed.push_back(b), around.push_back(c);
      PERDURE_CHECK(client_->drop(id_of(i)));
    }
    return row(members, server, distributed, around);
  }

 private:
  static Bytes id_of(int number) { return Bytes(1, static_cast<std::byte>(number)); }

  parity::Order order(unsigned members, int number) const {
    return {id_of(number), {}, {members_.begin(), members_.begin() + members}};
  }

  Result<double> cpu(unsigned members) {
    double sum = 0;
    for (unsigned i = 0; i < members; ++i) {
      PERDURE_TRY(const double one, cpu_seconds(*self_, peers_[i]));
      sum += one;
    }
    return sum;
  }

  template <class Work>
  Result<Sample> measured(unsigned members, const Work& work) {
    PERDURE_TRY(const double before, cpu(members));
    const std::uint64_t begin = os::monotonic_ns();
    PERDURE_CHECK(work());
    const double seconds = static_cast<double>(os::monotonic_ns() - begin) * 1e-9;
    PERDURE_TRY(const double after, cpu(members));
    return Sample{seconds, after - before};
  }

  Result<Sample> by_server(unsigned members, int number) {
    const parity::Order wanted = order(members, number);
    return measured(members, [&]() -> base::Status {
      PERDURE_TRY([[maybe_unused]] const auto ordered, client_->encode(wanted));
      PERDURE_TRY(const parity::Standing standing, client_->wait(wanted.id, kLimitNs));
      if (standing.stage == parity::Stage::done) return {};
      return base::fail(standing.why);
    });
  }

  using Part = base::Status (*)(network::Endpoint&, network::PeerId, const parity::Order&, unsigned);
  Result<Sample> by_members(unsigned members, Part part) {
    const parity::Order group = order(members, 0);
    return measured(members, [&]() -> base::Status {
      std::vector<base::Status> outcomes(members);
      std::vector<std::thread> threads;
      for (unsigned i = 0; i < members; ++i)
        threads.emplace_back([&, i] { outcomes[i] = part(*self_, peers_[i], group, i); });
      for (auto& thread : threads) thread.join();
      for (base::Status& outcome : outcomes) PERDURE_CHECK(std::move(outcome));
      return {};
    });
  }

  /// Checks that the encoded parities can rebuild data.
  base::Status check_server(unsigned members) {
    PERDURE_TRY(const parity::Kept kept, client_->find(id_of(0)));
    const std::size_t stripe = members_[0].blocks.size() - 1;
    std::vector<parity::Survivor> survivors;
    for (unsigned i = 1; i < members; ++i)
      survivors.push_back({i, {}, members_[i].address, members_[i].blocks[stripe]});
    const parity::Block& lost = members_[0].blocks[stripe];
    Bytes target(lost.bytes);
    return client_->rebuild(kept, {0, stripe, lost.hash}, survivors, target);
  }

  nlohmann::json row(unsigned members, const std::vector<Sample>& server, const std::vector<Sample>& distributed,
                     const std::vector<Sample>& around) const {
    const auto median_of = [](const std::vector<Sample>& samples, double Sample::*what) {
      std::vector<double> values;
      for (const Sample& sample : samples) values.push_back(sample.*what);
      return median(values);
    };
    const double bytes = static_cast<double>(options_.process.bytes) * members;
    const double server_s = median_of(server, &Sample::seconds);
    const double server_cpu = median_of(server, &Sample::cpu_seconds);
    nlohmann::json row{{"members", members},
                       {"server_s", server_s},
                       {"server_bytes_per_s", bytes / server_s},
                       {"server_members_cpu_s", server_cpu}};
    for (const auto& [name, samples] : {std::pair("xor", &distributed), std::pair("ring", &around)}) {
      const double seconds = median_of(*samples, &Sample::seconds), cpu = median_of(*samples, &Sample::cpu_seconds);
      const std::string kind = name;
      row[kind + "_s"] = seconds;
      row[kind + "_bytes_per_s"] = bytes / seconds;
      row[kind + "_members_cpu_s"] = cpu;
      row["server_over_" + kind + "_bandwidth"] = seconds / server_s;
      row["server_over_" + kind + "_members_cpu"] = cpu > 0 ? server_cpu / cpu : 0;
    }
    return row;
  }

  const ComparisonOptions options_;
  std::vector<Process> nodes_;
  std::optional<Process> server_;
  std::unique_ptr<network::Endpoint> self_;
  std::vector<network::PeerId> peers_;
  std::vector<parity::Member> members_;
  std::unique_ptr<parity::Client> client_;
};

}  // namespace

Result<nlohmann::json> compare(const ComparisonOptions& options) {
  Comparison comparison(options);
  PERDURE_CHECK(comparison.start());
  nlohmann::json rows = nlohmann::json::array();
  for (const unsigned members : options.members) {
    PERDURE_TRY(nlohmann::json row, comparison.run(members));
    rows.push_back(std::move(row));
  }
  const auto over_all = [&](const char* what, bool least) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(row[what]);
    return least ? *std::min_element(values.begin(), values.end()) : *std::max_element(values.begin(), values.end());
  };
  return nlohmann::json{{"benchmark", "parity"},
                        {"provider", options.process.provider},
                        {"path", options.process.local ? "files on this host" : "wire"},
                        {"bytes_per_member", options.process.bytes},
                        {"chunk_bytes", options.process.chunk},
                        {"repetitions", options.repetitions},
                        {"groups", rows},
                        {"parity_server_over_xor_bandwidth", over_all("server_over_xor_bandwidth", true)},
                        {"parity_server_over_xor_members_cpu", over_all("server_over_xor_members_cpu", false)},
                        {"parity_server_over_ring_bandwidth", over_all("server_over_ring_bandwidth", true)},
                        {"parity_server_over_ring_members_cpu", over_all("server_over_ring_members_cpu", false)}};
}

}  // namespace perdure::bench
