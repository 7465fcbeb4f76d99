#include "inspect/words.hpp"

#include <algorithm>

#include "config/nearest.hpp"

namespace perdure::inspect {
namespace {

std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > 64) return {};
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view best = config::nearest(word, views);
  const std::size_t bearable = std::max<std::size_t>(2, best.size() / 3);
  return config::edit_distance(word, best) <= bearable ? std::string(best) : std::string();
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string enumerated(const std::vector<std::string>& words, std::size_t most) {
  std::string text;
  const std::size_t shown = std::min(words.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i > 0 && i + 1 == words.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + words[i];
  }
  if (words.size() > shown) text += " and " + std::to_string(words.size() - shown) + " more";
  return text;
}

}  // namespace perdure::inspect
