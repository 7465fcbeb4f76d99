#include "mesh/transfer.hpp"

#include <algorithm>

#include "mesh/rows.hpp"

namespace perdure::mesh {
namespace {

Box shifted(Box box, const Index& offset, std::int64_t times) {
  for (unsigned d = 0; d < box.dimensions; ++d) {
    box.begin[d] += times * offset[d];
    box.end[d] += times * offset[d];
  }
  return box;
}

// Returns the part of the target's range that one rank sends to another.
Box between(const Transfer& one, int source, int target) {
  const Box wanted = intersection(one.to_range, one.to->block().division.part(target));
  return intersection(wanted, shifted(one.from->block().division.part(source), one.offset, -1));
}

std::string pair_of(const Transfer& one) {
  return "from data set '" + one.from->name() + "' to data set '" + one.to->name() + "'";
}

}  // namespace

Box Transfer::from_range() const { return shifted(to_range, offset, 1); }

std::string defect_of(std::span<const Transfer> transfers) {
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& one = transfers[i];
    if (one.to->type() != one.from->type()) return pair_of(one) + ": their elements are of other types";
    if (one.to_range.dimensions != one.to->block().dimensions() ||
        one.to_range.dimensions != one.from->block().dimensions())
      return pair_of(one) + ": its range has other dimensions than their blocks";
    if (one.to_range.empty()) continue;
    if (!one.to->whole().contains(one.to_range))
      return pair_of(one) + ": it writes " + one.to_range.text() + " of " + one.to->whole().text();
    if (!one.from->whole().contains(one.from_range()))
      return pair_of(one) + ": it reads " + one.from_range().text() + " of " + one.from->whole().text();
    for (const Transfer& other : transfers.first(i))
      if (other.to == one.to && !intersection(other.to_range, one.to_range).empty())
        return pair_of(one) + ": " + intersection(other.to_range, one.to_range).text() + " is written twice";
  }
  return {};
}

std::size_t TransferExchange::packed_to(std::span<const Transfer> transfers, int peer,
                                        std::vector<std::byte>& out) const {
  std::size_t bytes = 0;
  for (const Transfer& one : transfers) bytes += packed_bytes(*one.from, between(one, ranks_.rank(), peer));
  out.resize(std::max(out.size(), bytes));
  std::byte* packed = out.data();
  for (const Transfer& one : transfers)
    packed = pack(*one.from, shifted(between(one, ranks_.rank(), peer), one.offset, 1), packed);
  return bytes;
}

std::size_t TransferExchange::bytes_from(std::span<const Transfer> transfers, int peer) const {
  std::size_t bytes = 0;
  for (const Transfer& one : transfers) bytes += packed_bytes(*one.to, between(one, peer, ranks_.rank()));
  return bytes;
}

void TransferExchange::run(std::span<const Transfer> transfers) {
  const auto peers = static_cast<std::size_t>(ranks_.size()), self = static_cast<std::size_t>(ranks_.rank());
  out_.resize(peers);
  in_.resize(peers);
  sends_.clear();
  receives_.clear();
  for (std::size_t peer = 0; peer < peers; ++peer) {
    const int rank = static_cast<int>(peer);
    const std::size_t out = packed_to(transfers, rank, out_[peer]);
    const std::size_t in = bytes_from(transfers, rank);
    if (peer == self) continue;  // data that stays on this rank is unpacked from the send buffer
    in_[peer].resize(std::max(in_[peer].size(), in));
    if (out > 0) sends_.push_back({rank, std::span(out_[peer]).first(out)});
    if (in > 0) receives_.push_back({rank, std::span(in_[peer]).first(in)});
  }
  ranks_.exchange(receives_, sends_);
  messages_sent_ += sends_.size();
  for (std::size_t peer = 0; peer < peers; ++peer) {
    const std::byte* packed = peer == self ? out_[peer].data() : in_[peer].data();
    for (const Transfer& one : transfers)
      packed = unpack(*one.to, between(one, static_cast<int>(peer), ranks_.rank()), packed);
  }
  for (const Transfer& one : transfers)
    if (!one.to_range.empty()) one.to->ghosts_are_stale(one.to_range);
}

}  // namespace perdure::mesh
