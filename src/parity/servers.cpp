#include <algorithm>

#include "parity/client.hpp"

namespace perdure::parity {

Servers::Servers(std::vector<std::unique_ptr<Client>> clients) : clients_(std::move(clients)) {}

Client& Servers::of(ConstByteSpan id) const { return *clients_[base::hash64(id) % clients_.size()]; }

base::Result<std::vector<Listed>> Servers::list(ConstByteSpan prefix) const {
  std::vector<Listed> all;
  for (const auto& client : clients_) {
    PERDURE_TRY(const std::vector<Listed> some, client->list(prefix));
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) { return a.id < b.id; });
  return all;
}

}  // namespace perdure::parity
