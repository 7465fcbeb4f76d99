#include "deck.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <variant>

namespace tealeaf {
namespace {

struct Whole {
  std::int64_t Deck::*field;
  std::int64_t least;
};
struct Number {
  double Deck::*field;
  bool positive;
};
struct Flag {
  std::function<void(Deck&)> set;
};
struct Unused {  // settings for other versions of the program
  bool has_value;
};
using Key = std::variant<Whole, Number, Flag, Unused>;

const std::map<std::string, Key, std::less<>>& keys() {
  const auto method = [](Method one) { return Flag{[one](Deck& deck) { deck.method = one; }}; };
  static const std::map<std::string, Key, std::less<>> all{
      {"x_cells", Whole{&Deck::x_cells, 1}},
      {"y_cells", Whole{&Deck::y_cells, 1}},
      {"xmin", Number{&Deck::xmin, false}},
      {"ymin", Number{&Deck::ymin, false}},
      {"xmax", Number{&Deck::xmax, false}},
      {"ymax", Number{&Deck::ymax, false}},
      {"initial_timestep", Number{&Deck::time_step, true}},
      {"end_time", Number{&Deck::end_time, true}},
      {"end_step", Whole{&Deck::end_step, 0}},
      {"summary_frequency", Whole{&Deck::summary_frequency, 1}},
      {"test_problem", Whole{&Deck::test_problem, 0}},
      {"tl_max_iters", Whole{&Deck::most_iterations, 1}},
      {"tl_eps", Number{&Deck::epsilon, true}},
      {"tl_use_jacobi", method(Method::jacobi)},
      {"tl_use_cg", method(Method::cg)},
      {"tl_use_chebyshev", method(Method::chebyshev)},
      {"tl_use_ppcg", method(Method::ppcg)},
      {"tl_ppcg_inner_steps", Whole{&Deck::ppcg_inner_steps, -1}},
      {"tl_ch_cg_presteps", Whole{&Deck::presteps, 2}},
      {"tl_ch_cg_epslim", Number{&Deck::presteps_error, true}},
      {"tl_check_result", Flag{[](Deck& deck) { deck.check_result = true; }}},
      {"tl_coefficient_density", Flag{[](Deck& deck) { deck.inverse_density = false; }}},
      {"tl_coefficient_inverse_density", Flag{[](Deck& deck) { deck.inverse_density = true; }}},
      {"reflective_boundary", Flag{[](Deck& deck) { deck.reflective_boundary = true; }}},
      {"halo_depth", Unused{true}},
      {"tiles_per_task", Unused{true}},
      {"sub_tiles_per_tile", Unused{true}},
      {"visit_frequency", Unused{true}},
      {"profiler_on", Unused{false}},
      {"use_fortran_kernels", Unused{false}},
      {"use_c_kernels", Unused{false}},
  };
  return all;
}

const std::map<std::string, double State::*, std::less<>> kStateKeys{
    {"density", &State::density}, {"energy", &State::energy}, {"xmin", &State::xmin},     {"ymin", &State::ymin},
    {"xmax", &State::xmax},       {"ymax", &State::ymax},     {"radius", &State::radius},
};

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_same_v<T, double>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

class Parser {
 public:
  tl::expected<Deck, std::string> parse(std::string_view text) {
    std::istringstream lines{std::string(text)};
    bool within = false, ended = false;
    for (std::string line; !ended && std::getline(lines, line);) {
      ++line_;
      words_ = words_of(line);
      if (words_.empty()) continue;
      if (words_.front() == "*tea")
        within = true;
      else if (words_.front() == "*endtea")
        ended = true;
      else if (within && !take_line())
        return tl::unexpected(error_);
    }
    if (!within || !ended) return tl::unexpected(std::string("there is no text between *tea and *endtea"));
    if (!is_whole()) return tl::unexpected(error_);
    return deck_;
  }

 private:
  static std::vector<std::string> words_of(std::string line) {
    line.resize(std::min(line.find_first_of("!#"), line.size()));
    for (char& letter : line)
      if (letter == '=' || letter == ',') letter = ' ';
    std::istringstream words(line);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    return all;
  }
  bool refuse(const std::string& key, const std::string& why) {
    error_ = (line_ > 0 ? "line " + std::to_string(line_) + ": " : "") + key + ": " + why;
    return false;
  }
  /// Reads the next word as a number of at least `least`.
  template <class T>
  std::optional<T> value(const std::string& key, T least) {
    if (at_ == words_.size()) return refuse(key, "it has no value"), std::nullopt;
    const std::string& word = words_[at_++];
    const auto value = number<T>(word);
    const char* kind = std::is_same_v<T, double> ? "number" : "whole number";
    if (!value) return refuse(key, "'" + word + "' is no " + kind), std::nullopt;
    if (*value < least) return refuse(key, word + " is too small"), std::nullopt;
    return value;
  }

  bool take_line() {
    at_ = 0;
    if (words_.front() == "state") return ++at_, take_state();
    while (at_ < words_.size()) {
      const std::string key = words_[at_++];
      if (key == "tl_preconditioner_type") {
        if (!take_preconditioner(key)) return false;
        continue;
      }
      const auto known = keys().find(key);
      if (known == keys().end()) return refuse(key, "there is no such key");
      if (!std::visit([&](const auto& kind) { return take(key, kind); }, known->second)) return false;
    }
    return true;
  }
  bool take(const std::string& key, const Whole& whole) {
    const auto value = this->value<std::int64_t>(key, whole.least);
    if (!value) return false;
    deck_.*whole.field = *value;
    return true;
  }
  bool take(const std::string& key, const Number& number) {
    const auto value = this->value<double>(
        key, number.positive ? std::numeric_limits<double>::min() : std::numeric_limits<double>::lowest());
    if (!value) return false;
    deck_.*number.field = *value;
    return true;
  }
  bool take(const std::string&, const Flag& flag) { return flag.set(deck_), true; }
  bool take(const std::string& key, const Unused& unused) {
    return !unused.has_value || value<std::int64_t>(key, 0).has_value();
  }
  bool take_preconditioner(const std::string& key) {
    const std::string type = at_ < words_.size() ? words_[at_++] : "";
    if (type == "none")
      deck_.preconditioner = Preconditioner::none;
    else if (type == "jac_diag")
      deck_.preconditioner = Preconditioner::diagonal;
    else if (type == "jac_block")
      deck_.preconditioner = Preconditioner::block;
    else
      return refuse(key, "'" + type + "' is none of none, jac_diag and jac_block");
    return true;
  }

  bool take_state() {
    const auto place = value<std::int64_t>("state", 1);
    if (!place) return false;
    if (*place != static_cast<std::int64_t>(deck_.states.size()) + 1)
      return refuse("state", "the next one has number " + std::to_string(deck_.states.size() + 1));
    State state;
    while (at_ < words_.size()) {
      const std::string key = words_[at_++];
      if (key == "geometry") {
        if (!take_geometry(state)) return false;
        continue;
      }
      const auto known = kStateKeys.find(key);
      if (known == kStateKeys.end()) return refuse(key, "a state has no such key");
      const auto value = this->value<double>(key, std::numeric_limits<double>::lowest());
      if (!value) return false;
      state.*known->second = *value;
    }
    if (!(state.density > 0)) return refuse("density", "it must be greater than 0");
    deck_.states.push_back(state);
    return true;
  }
  bool take_geometry(State& state) {
    const std::string name = at_ < words_.size() ? words_[at_++] : "";
    if (name == "rectangle")
      state.geometry = State::Geometry::rectangle;
    else if (name == "circle")
      state.geometry = State::Geometry::circle;
    else if (name == "point")
      state.geometry = State::Geometry::point;
    else
      return refuse("geometry", "'" + name + "' is none of rectangle, circle and point");
    return true;
  }

  bool is_whole() {
    line_ = 0;
    if (deck_.states.empty()) return refuse("state", "there must be one at least");
    if (!(deck_.xmax > deck_.xmin)) return refuse("xmax", "it must be greater than xmin");
    if (!(deck_.ymax > deck_.ymin)) return refuse("ymax", "it must be greater than ymin");
    return true;
  }

  Deck deck_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  int line_ = 0;
  std::string error_;
};

}  // namespace

tl::expected<Deck, std::string> parse_deck(std::string_view text) { return Parser().parse(text); }

}  // namespace tealeaf
