#pragma once
// Reads contiguous data of a device into scattered memory, in blocks, however short the runs are.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/bytes.hpp"

namespace perdure::base {

/// Calls `read(offset, target)` for blocks that cover the spans in order. Long runs are read straight into memory,
/// others through a buffer. The first error of `read` ends the call and is returned.
template <class Read>
Status scatter_blocks(std::span<const MemorySpan> spans, Read&& read) {
  constexpr std::uint64_t kLong = 64 * KiB, kBlock = 256 * KiB;
  std::vector<std::byte> buffer;
  std::uint64_t offset = 0;
  const auto read_long = [&](const MemorySpan& span) -> Status {
    for (std::uint64_t done = 0; done < span.length; done += MiB) {
      const std::uint64_t bytes = std::min(MiB, span.length - done);
      PERDURE_CHECK(read(offset + done, ByteSpan(span.address + done, bytes)));
    }
    return {};
  };
  for (std::size_t i = 0; i < spans.size();) {
    if (spans[i].address != nullptr && spans[i].length >= kLong) {
      PERDURE_CHECK(read_long(spans[i]));
      offset += spans[i++].length;
      continue;
    }
    std::uint64_t together = 0;  // bytes of the following short runs, up to the next long one
    std::size_t end = i;
    for (; end < spans.size() && (spans[end].address == nullptr || spans[end].length < kLong); ++end)
      together += spans[end].length;
    buffer.resize(std::min(kBlock, std::max<std::uint64_t>(together, buffer.size())));
    std::uint64_t into = 0;  // offset in spans[i]
    for (std::uint64_t done = 0; done < together;) {
      const std::uint64_t bytes = std::min<std::uint64_t>(kBlock, together - done);
      PERDURE_CHECK(read(offset + done, ByteSpan(buffer.data(), bytes)));
      for (std::uint64_t at = 0; at < bytes;) {
        const std::uint64_t run = std::min(bytes - at, spans[i].length - into);
        if (spans[i].address != nullptr) std::memcpy(spans[i].address + into, buffer.data() + at, run);
        at += run;
        into += run;
        if (into == spans[i].length) ++i, into = 0;
      }
      done += bytes;
    }
    i = end;
    offset += together;
  }
  return {};
}

}  // namespace perdure::base
