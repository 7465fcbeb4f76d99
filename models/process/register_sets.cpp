#include <algorithm>
#include <cstring>

#include "process/registers.hpp"

namespace perdure::process {

void add_register_set(std::vector<std::byte>& extended, std::span<const RegisterSet> sets, int set,
                      base::ConstByteSpan bytes) {
  if (sets.size() == 1) return extended.assign(bytes.begin(), bytes.end());
  const std::array<std::uint32_t, 2> head = {static_cast<std::uint32_t>(set), static_cast<std::uint32_t>(bytes.size())};
  const auto head_bytes = std::as_bytes(std::span(head));
  extended.insert(extended.end(), head_bytes.begin(), head_bytes.end());
  extended.insert(extended.end(), bytes.begin(), bytes.end());
}

bool each_register_set(base::ConstByteSpan extended, std::span<const RegisterSet> sets,
                       const std::function<void(int, base::ConstByteSpan)>& use) {
  if (sets.size() == 1) {
    use(sets.front().number, extended);
    return true;
  }
  while (!extended.empty()) {
    std::array<std::uint32_t, 2> head{};
    if (extended.size() < sizeof head) return false;
    std::memcpy(head.data(), extended.data(), sizeof head);
    extended = extended.subspan(sizeof head);
    const bool known = std::any_of(sets.begin(), sets.end(), [&](const RegisterSet& set) {
      return static_cast<std::uint32_t>(set.number) == head[0];
    });
    if (!known || head[1] > extended.size()) return false;
    use(static_cast<int>(head[0]), extended.first(head[1]));
    extended = extended.subspan(head[1]);
  }
  return true;
}

}  // namespace perdure::process
