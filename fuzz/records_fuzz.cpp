// Fuzzes the small records beside the versions of a name with any bytes. An understood one must survive encoding, and
// each fork must lead to a line that ends.

#include "store/forks.hpp"
#include "store/owner.hpp"
#include "target.hpp"

namespace perdure::fuzz {

void run_one(base::ConstByteSpan input) {
  const std::string text(text_of(input));
  if (const auto owner = store::decode_owner(text, "input")) {
    require(store::decode_owner(store::encode(*owner), "again") == *owner);
    require(!owner->text().empty());
  }
  const auto forks = store::decode_forks(text, "input");
  if (!forks) return;
  require(store::decode_forks(store::encode(*forks), "again") == *forks);
  for (const plan::Fork& fork : *forks) {
    const plan::Line line = plan::line_of(*forks, fork.branch);
    require(line.front().branch == fork.branch && line.size() <= forks->size() + 1);
  }
}

std::vector<Bytes> seeds() {
  const auto bytes = [](const std::string& text) {
    const auto span = base::as_bytes(text);
    return Bytes(span.begin(), span.end());
  };
  store::Owner owner;
  owner.job = "default";
  owner.host = "n1/boot/1";
  return {bytes(store::encode(owner)), bytes(store::encode(std::vector<plan::Fork>{{2, 1, 5, 50}, {3, 2, 7, 120}}))};
}

}  // namespace perdure::fuzz
