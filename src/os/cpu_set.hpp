#pragma once
// CpuSet is a set of processors by their numbers, written as the kernel writes it: "0-3,8".
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::os {

class CpuSet {
 public:
  static constexpr unsigned kMost = 65536;  ///< numbers are below this; today's kernels stop at 8,192

  CpuSet() = default;
  CpuSet(std::initializer_list<unsigned> numbers);
  static CpuSet all();  ///< every number below kMost
  /// Parses numbers and ranges, separated by commas, with or without blanks. Blank text is the empty set.
  static base::Result<CpuSet> parse(std::string_view text);
  /// Converts the kernel's form: bit n of the whole is processor n.
  static CpuSet from_words(std::span<const unsigned long> words);
  const std::vector<unsigned long>& words() const { return words_; }

  std::string text() const;  ///< the form that parse() reads; "" for the empty set
  std::size_t count() const;
  bool empty() const { return words_.empty(); }
  bool contains(unsigned number) const;
  bool operator==(const CpuSet&) const = default;
  friend CpuSet operator&(const CpuSet& a, const CpuSet& b);
  friend CpuSet operator|(const CpuSet& a, const CpuSet& b);
  friend CpuSet operator-(const CpuSet& a, const CpuSet& b);  ///< the processors in `a` only

 private:
  void add(unsigned first, unsigned last);
  void trim();
  std::vector<unsigned long> words_;  // the last one is not 0, so that equal sets have equal words
};

}  // namespace perdure::os
