#include "transfers.hpp"

#include <algorithm>
#include <deque>

#include "os/system.hpp"
#include "parity/channel.hpp"
#include "statistics.hpp"

namespace perdure::bench {
namespace {

using base::Result;
using network::Bytes;
using parity::Channel;

double seconds_since(std::uint64_t begin) { return static_cast<double>(os::monotonic_ns() - begin) * 1e-9; }

class Transfers {
 public:
  explicit Transfers(Channel& channel, parity::PoolMemory memory) : channel_(channel), memory_(std::move(memory)) {}

  Result<nlohmann::json> at(std::uint64_t bytes, std::uint64_t repetitions) {
    const Bytes data(bytes, std::byte{42});
    nlohmann::json row{{"bytes", bytes}, {"repetitions", repetitions}};
    for (const bool put : {true, false}) {
      PERDURE_TRY([[maybe_unused]] const double warm_up, run(put, data, 1, 1));
      std::vector<double> alone;
      for (std::uint64_t i = 0; i < repetitions; ++i) {
        PERDURE_TRY(const double seconds, run(put, data, 1, 1));
        alone.push_back(seconds);
      }
      PERDURE_TRY(const double together, run(put, data, repetitions, kUnderWay));
      const std::string kind = put ? "put" : "get";
      row[kind + "_s"] = median(alone);
      row[kind + "_bytes_per_s"] = static_cast<double>(bytes * repetitions) / together;
    }
    return row;
  }

  static constexpr unsigned kUnderWay = 8;

 private:
  Result<double> run(bool put, const Bytes& data, std::uint64_t count, unsigned under_way) {
    const std::uint64_t begin = os::monotonic_ns();
    std::deque<std::uint64_t> tickets;
    for (std::uint64_t i = 0; i < count || !tickets.empty();) {
      if (i < count && tickets.size() < under_way) {
        PERDURE_TRY(const std::uint64_t ticket,
                    put ? channel_.put(memory_, 0, data, kLimitNs) : channel_.get(memory_, 0, data.size(), kLimitNs));
        tickets.push_back(ticket);
        ++i;
        continue;
      }
      PERDURE_TRY(const parity::Notification over, channel_.wait(tickets.front(), kLimitNs));
      PERDURE_CHECK(base::Status(over.status));
      channel_.free(tickets.front());
      tickets.pop_front();
    }
    return seconds_since(begin);
  }

  Channel& channel_;
  const parity::PoolMemory memory_;
};

}  // namespace

Result<nlohmann::json> measure_transfers(const TransferOptions& options) {
  PERDURE_TRY(const Process server, Process::start_server(options.process));
  PERDURE_TRY(const auto self, open_endpoint(options.process, {}));
  parity::Client client(*self, server.address());
  const std::uint64_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
  const Bytes name(1, std::byte{'m'});
  PERDURE_TRY(const parity::PoolMemory memory, client.allocate(name, most));
  parity::ChannelOptions rings;
  rings.slots = Transfers::kUnderWay;
  rings.slot_bytes = most;
  PERDURE_TRY(const auto channel, Channel::open(client, rings));
  Transfers transfers(*channel, memory);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::uint64_t bytes : options.sizes) {
    const std::uint64_t by_size = std::clamp<std::uint64_t>((64U << 20U) / bytes, 10, 500);
    PERDURE_TRY(nlohmann::json row, transfers.at(bytes, options.repetitions > 0 ? options.repetitions : by_size));
    rows.push_back(std::move(row));
  }
  return nlohmann::json{{"benchmark", "memory"}, {"provider", options.process.provider}, {"samples", rows}};
}

}  // namespace perdure::bench
