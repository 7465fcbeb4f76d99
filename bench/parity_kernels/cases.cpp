#include "cases.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/hash.hpp"
#include "redundancy/code.hpp"

namespace perdure::parity_kernels {
namespace {

using redundancy::Code;
using redundancy::Items;
using redundancy::kBlockBytes;

/// Divides the data into stripes of k chunks, with their parities.
struct Stripes {
  const Buffers* buffers;
  Code code;
  std::string name;

  std::size_t count() const { return buffers->chunks() / code.k(); }
  std::size_t bytes() const { return count() * code.k() * buffers->data(0).size(); }
  std::vector<base::ConstByteSpan> data(std::size_t stripe) const {
    std::vector<base::ConstByteSpan> items;
    for (unsigned i = 0; i < code.k(); ++i) items.push_back(buffers->data(stripe * code.k() + i));
    return items;
  }
  std::vector<base::ByteSpan> parities(std::size_t stripe) const {
    std::vector<base::ByteSpan> items;
    for (unsigned j = 0; j < code.m(); ++j) items.push_back(buffers->parity(stripe * code.m() + j));
    return items;
  }
};

std::size_t encode(const Stripes& stripes) {
  for (std::size_t s = 0; s < stripes.count(); ++s)
    if (!stripes.code.encode(stripes.data(s), stripes.parities(s))) return 0;
  return stripes.bytes();
}

/// Adds one contributor after the other, as they arrive; each reads and writes the parity again.
std::size_t update(const Stripes& stripes) {
  for (std::size_t s = 0; s < stripes.count(); ++s) {
    const auto data = stripes.data(s);
    const auto parities = stripes.parities(s);
    for (const base::ByteSpan parity : parities) std::memset(parity.data(), 0, parity.size());
    for (unsigned i = 0; i < data.size(); ++i)
      if (!stripes.code.update(i, data[i], parities)) return 0;
  }
  return stripes.bytes();
}

/// Also hashes every data item and every parity, block by block while it is in the cache.
std::size_t encode_and_hash(const Stripes& stripes) {
  const unsigned k = stripes.code.k(), m = stripes.code.m();
  std::vector<base::Hasher> hashers(k + m);
  for (std::size_t s = 0; s < stripes.count(); ++s) {
    const auto data = stripes.data(s);
    const auto parities = stripes.parities(s);
    for (auto& hasher : hashers) hasher.reset();
    for (std::size_t at = 0; at < data[0].size(); at += kBlockBytes) {
      const std::size_t bytes = std::min(kBlockBytes, data[0].size() - at);
      std::vector<base::ConstByteSpan> sources;
      std::vector<base::ByteSpan> targets;
      for (const auto item : data) sources.push_back(item.subspan(at, bytes));
      for (const auto item : parities) targets.push_back(item.subspan(at, bytes));
      if (!stripes.code.encode(sources, targets)) return 0;
      for (unsigned i = 0; i < k; ++i) hashers[i].update(sources[i]);
      for (unsigned j = 0; j < m; ++j) hashers[k + j].update(targets[j]);
    }
  }
  return stripes.bytes();
}

/// Item 0 of every stripe is lost; the parities were encoded before.
struct Decoder {
  Stripes stripes;

  std::size_t run() const {
    Items available = Items().set();
    available.reset(0);
    const unsigned wanted[] = {0};
    for (std::size_t s = 0; s < stripes.count(); ++s) {
      auto items = stripes.data(s);
      for (const auto parity : stripes.parities(s)) items.emplace_back(parity);
      const base::ByteSpan targets[] = {stripes.buffers->rebuilt(s)};
      if (!stripes.code.decode(available, items, wanted, targets)) return 0;
    }
    return stripes.bytes();
  }
  bool good() const {
    for (std::size_t s = 0; s < stripes.count(); ++s)
      if (!std::ranges::equal(stripes.buffers->rebuilt(s), stripes.data(s)[0])) return false;
    return true;
  }
};

/// Checks that the parities of the last run rebuild an item.
bool rebuilds(const Stripes& stripes) {
  const Decoder decoder{stripes};
  return decoder.run() > 0 && decoder.good();
}

std::vector<Case> cases_of(const Stripes& stripes) {
  const unsigned k = stripes.code.k(), m = stripes.code.m();
  const auto checked = [=] { return rebuilds(stripes); };
  const Decoder decoder{stripes};
  return {{stripes.name + "_encode", k, m, [=] { return encode(stripes); }, checked},
          {stripes.name + "_decode_one", k, m, [=] { return decoder.run(); }, [=] { return decoder.good(); }},
          {stripes.name + "_update", k, m, [=] { return update(stripes); }, checked},
          {stripes.name + "_encode_and_hash", k, m, [=] { return encode_and_hash(stripes); }, checked}};
}

std::vector<Case> references(const Buffers& buffers) {
  const auto whole = [&buffers] {
    std::memcpy(buffers.all_parities().data(), buffers.all_data().data(), buffers.all_data().size());
    return buffers.all_data().size();
  };
  const auto chunks = [&buffers] {
    for (std::size_t i = 0; i < buffers.chunks(); ++i)
      std::memcpy(buffers.parity(i).data(), buffers.data(i).data(), buffers.data(i).size());
    return buffers.chunks() * buffers.data(0).size();
  };
  const auto good = [&buffers] { return std::ranges::equal(buffers.parity(0), buffers.data(0)); };
  return {{"memcpy", 1, 0, whole, good}, {"memcpy_of_chunks", 1, 0, chunks, good}};
}

}  // namespace

Buffers::Buffers(Size size) : size_(size), memory_(3 * size.bytes + 4096) {
  void* begin = memory_.data();
  std::size_t room = memory_.size();
  const base::ByteSpan all(static_cast<std::byte*>(std::align(4096, 3 * size.bytes, begin, room)), 3 * size.bytes);
  data_ = all.first(size.bytes);
  parities_ = all.subspan(size.bytes, size.bytes);
  rebuilt_ = all.last(size.bytes);
  std::uint64_t value = 1;
  for (std::byte& byte : data_) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    byte = std::byte(value >> 56U);
  }
}

base::Result<std::vector<Case>> cases(const Buffers& buffers) {
  std::vector<Case> all = references(buffers);
  const std::tuple<const char*, unsigned, unsigned> codes[] = {{"xor_2", 1, 1},   {"xor_4", 3, 1},  {"xor_8", 7, 1},
                                                               {"xor_16", 15, 1}, {"rs_8_2", 8, 2}, {"rs_10_4", 10, 4}};
  for (const auto& [name, k, m] : codes) {
    PERDURE_TRY(const Code code, Code::make(k, m));
    if (buffers.chunks() < k)
      return base::fail(PERDURE_INVALID_ARGUMENT, "--bytes", "are too few for a stripe of " + std::string(name),
                        "choose at least 16 times --chunk");
    for (Case& one : cases_of({&buffers, code, name})) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace perdure::parity_kernels
