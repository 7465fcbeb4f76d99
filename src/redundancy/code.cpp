#include "redundancy/code.hpp"

#include <algorithm>

#include "redundancy/decoding.hpp"

namespace perdure::redundancy {
namespace {

std::string name_of_code(unsigned k, unsigned m) { return "code " + std::to_string(k) + "+" + std::to_string(m); }

base::Status counts_are(std::size_t spans, std::size_t wanted, const char* what) {
  if (spans == wanted) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, what,
                    std::to_string(spans) + " were given, not " + std::to_string(wanted));
}

base::Status reaches(std::size_t parity_bytes, std::size_t data_bytes) {
  if (parity_bytes >= data_bytes) return {};
  return base::fail(
      PERDURE_MISMATCH, "parity",
      "has " + std::to_string(parity_bytes) + " bytes and stands for data of " + std::to_string(data_bytes));
}

base::Status room_for_parity(std::span<const base::ByteSpan> parities, std::size_t data_bytes) {
  for (const base::ByteSpan parity : parities)
    if (parity.size() < data_bytes)
      return base::fail(
          PERDURE_INVALID_ARGUMENT, "parity",
          "has room for " + std::to_string(parity.size()) + " bytes, and the data has " + std::to_string(data_bytes));
  return {};
}

}  // namespace

Code::Code(unsigned k, unsigned m, const Kernels& kernels)
    : k_(k), m_(m), kernels_(&kernels), parities_(m, k, parity_matrix(k, m).values, kernels) {}

base::Result<Code> Code::make(unsigned k, unsigned m, const Kernels* kernels) {
  if (k < 1 || m < 1 || m > kMaxParities || k + m > kMaxItems)
    return base::fail(PERDURE_INVALID_ARGUMENT, name_of_code(k, m),
                      "a stripe has at least 1 data item, 1 to " + std::to_string(kMaxParities) +
                          " parities, and at most " + std::to_string(kMaxItems) + " of both",
                      "choose a smaller group or fewer parities");
  // One parity is an exclusive or, which needs no library.
  if (kernels == nullptr) kernels = m == 1 ? &plain_kernels() : &fastest_kernels();
  return Code(k, m, *kernels);
}

base::Status Code::encode(std::span<const base::ConstByteSpan> data, std::span<const base::ByteSpan> parities) const {
  PERDURE_CHECK(counts_are(data.size(), k_, "data items"));
  PERDURE_CHECK(counts_are(parities.size(), m_, "parities"));
  std::size_t longest = 0;
  for (const base::ConstByteSpan item : data) longest = std::max(longest, item.size());
  PERDURE_CHECK(room_for_parity(parities, longest));
  parities_.apply(data, parities);
  return {};
}

base::Status Code::update(unsigned index, base::ConstByteSpan data, std::span<const base::ByteSpan> parities) const {
  PERDURE_CHECK(counts_are(parities.size(), m_, "parities"));
  if (index >= k_)
    return base::fail(PERDURE_INVALID_ARGUMENT, "data item " + std::to_string(index),
                      name_of_code(k_, m_) + " has no such item");
  PERDURE_CHECK(room_for_parity(parities, data.size()));
  parities_.add(index, data, parities);
  return {};
}

base::Result<Recovery> Code::recovery(const Items& available, std::span<const unsigned> wanted) const {
  for (const unsigned item : wanted)
    if (item >= k_ + m_ || wanted.size() > kMaxItems)
      return base::fail(PERDURE_INVALID_ARGUMENT, "item " + std::to_string(item),
                        name_of_code(k_, m_) + " has no such item");
  PERDURE_TRY(Decoding decoding, plan_decoding(k_, m_, available, wanted));
  const auto rows = static_cast<unsigned>(wanted.size());
  return Recovery{std::move(decoding.sources),
                  Combination(rows, k_, std::move(decoding.coefficients.values), *kernels_)};
}

base::Status Code::check_lengths(const Recovery& recovery, std::span<const base::ConstByteSpan> items,
                                 std::span<const unsigned> wanted, std::span<const base::ByteSpan> targets) const {
  std::size_t shortest_parity = SIZE_MAX, longest_data = 0;
  for (const unsigned source : recovery.sources)
    if (source < k_)
      longest_data = std::max(longest_data, items[source].size());
    else
      shortest_parity = std::min(shortest_parity, items[source].size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] < k_)
      longest_data = std::max(longest_data, targets[i].size());
    else
      shortest_parity = std::min(shortest_parity, targets[i].size());
  return reaches(shortest_parity, longest_data);
}

base::Status Code::decode(const Items& available, std::span<const base::ConstByteSpan> items,
                          std::span<const unsigned> wanted, std::span<const base::ByteSpan> targets) const {
  PERDURE_CHECK(counts_are(items.size(), k_ + m_, "items"));
  PERDURE_CHECK(counts_are(targets.size(), wanted.size(), "targets"));
  PERDURE_TRY(const Recovery how, recovery(available, wanted));
  PERDURE_CHECK(check_lengths(how, items, wanted, targets));
  std::vector<base::ConstByteSpan> sources;
  sources.reserve(how.sources.size());
  for (const unsigned source : how.sources) sources.push_back(items[source]);
  how.combination.apply(sources, targets);
  return {};
}

}  // namespace perdure::redundancy
