#include "os/cpu_set.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

namespace perdure::os {
namespace {

constexpr unsigned kBits = 8 * sizeof(unsigned long);

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= CpuSet::kMost) return std::nullopt;
  return value;
}

base::Status bad(std::string_view text, const char* why) {
  constexpr std::size_t kShown = 64;
  return base::fail(PERDURE_INVALID_ARGUMENT, "processors " + std::string(text.substr(0, kShown)), why,
                    "write numbers and ranges, as in 0-3,8");
}

}  // namespace

CpuSet::CpuSet(std::initializer_list<unsigned> numbers) {
  for (const unsigned one : numbers) add(one, one);
}

CpuSet CpuSet::all() {
  CpuSet set;
  set.add(0, kMost - 1);
  return set;
}

base::Result<CpuSet> CpuSet::parse(std::string_view text) {
  CpuSet set;
  const std::string_view whole = text;
  if (without_blanks(text).empty()) return set;
  for (;;) {
    const auto comma = text.find(',');
    const std::string_view word = without_blanks(text.substr(0, comma));
    const auto dash = word.find('-');
    const auto first = number(word.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
    if (!first || !last) return base::fail(bad(whole, "they are no whole numbers below 65536").error());
    if (*last < *first) return base::fail(bad(whole, "a range ends before it begins").error());
    set.add(*first, *last);
    if (comma == std::string_view::npos) return set;
    text.remove_prefix(comma + 1);
  }
}

CpuSet CpuSet::from_words(std::span<const unsigned long> words) {
  CpuSet set;
  set.words_.assign(words.begin(),
                    words.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(words.size(), kMost / kBits)));
  set.trim();
  return set;
}

std::string CpuSet::text() const {
  std::string text;
  const auto bits = static_cast<unsigned>(words_.size() * kBits);
  for (unsigned first = 0; first < bits; ++first) {
    if (!contains(first)) continue;
    unsigned last = first;
    while (contains(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
    first = last;
  }
  return text;
}

std::size_t CpuSet::count() const {
  std::size_t count = 0;
  for (const unsigned long word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

bool CpuSet::contains(unsigned number) const {
  const std::size_t word = number / kBits;
  return word < words_.size() && (words_[word] >> (number % kBits) & 1) != 0;
}

CpuSet operator&(const CpuSet& a, const CpuSet& b) {
  CpuSet both = a;
  both.words_.resize(std::min(a.words_.size(), b.words_.size()));
  for (std::size_t i = 0; i < both.words_.size(); ++i) both.words_[i] &= b.words_[i];
  both.trim();
  return both;
}

CpuSet operator|(const CpuSet& a, const CpuSet& b) {
  CpuSet either = a;
  either.words_.resize(std::max(a.words_.size(), b.words_.size()));
  for (std::size_t i = 0; i < b.words_.size(); ++i) either.words_[i] |= b.words_[i];
  return either;
}

CpuSet operator-(const CpuSet& a, const CpuSet& b) {
  CpuSet rest = a;
  for (std::size_t i = 0; i < std::min(rest.words_.size(), b.words_.size()); ++i) rest.words_[i] &= ~b.words_[i];
  rest.trim();
  return rest;
}

void CpuSet::add(unsigned first, unsigned last) {
  if (last / kBits >= words_.size()) words_.resize(last / kBits + 1);
  for (unsigned word = first / kBits; word <= last / kBits; ++word) {
    unsigned long bits = ~0UL;
    if (word == first / kBits) bits &= ~0UL << (first % kBits);
    if (word == last / kBits) bits &= ~0UL >> (kBits - 1 - last % kBits);
    words_[word] |= bits;
  }
}

void CpuSet::trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace perdure::os
