#pragma once
// Damages inputs by seed: flips, special numbers, truncations, repetitions, and splices of two inputs.
#include <algorithm>
#include <array>
#include <random>

#include "target.hpp"

namespace perdure::fuzz {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Makes one to six changes to one of `corpus`.
  Bytes next(const std::vector<Bytes>& corpus) {
    Bytes bytes = corpus[below(corpus.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(bytes, corpus[below(corpus.size())]);
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random_() % limit); }
  auto at(Bytes& bytes, std::size_t position) { return bytes.begin() + static_cast<std::ptrdiff_t>(position); }

  void change(Bytes& bytes, const Bytes& other) {
    static constexpr std::array kSpecial = {0x00, 0x01, 0x1b, 0x3b, 0x5b, 0x7b, 0x7f,
                                            0x80, 0x9b, 0x9f, 0xbb, 0xbf, 0xfb, 0xff};
    if (bytes.empty()) bytes.push_back(std::byte{0});
    const std::size_t where = below(bytes.size()), length = 1 + below(std::min<std::size_t>(bytes.size() - where, 16));
    switch (below(7)) {
      case 0:
        bytes[where] ^= static_cast<std::byte>(1U << below(8));
        break;
      case 1:
        bytes[where] = static_cast<std::byte>(kSpecial[below(kSpecial.size())]);
        break;
      case 2:  // a number that claims too much
        std::fill_n(at(bytes, where), length, std::byte{0xff});
        break;
      case 3:
        bytes.resize(where);
        break;
      case 4:
        bytes.erase(at(bytes, where), at(bytes, where + length));
        break;
      case 5: {
        const Bytes again(at(bytes, where), at(bytes, where + length));
        bytes.insert(at(bytes, where), again.begin(), again.end());
        break;
      }
      default:
        bytes.resize(where);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(std::min(where, other.size())),
                     other.end());
    }
  }

  std::mt19937_64 random_;
};

}  // namespace perdure::fuzz
