#include "deck.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace clover {
namespace {

class Reader {
 public:
  Reader(std::istream& text, std::string name, unsigned dimensions) : text_(text), name_(std::move(name)) {
    deck_.dimensions = dimensions;
    if (dimensions == 3) deck_.timestep_rise = 1.05;
    for (unsigned axis = 0; axis < dimensions; ++axis) {
      const std::string x = kAxes[axis];
      whole_[x + "_cells"] = &deck_.cells[axis];
      real_[x + "min"] = &deck_.low[axis];
      real_[x + "max"] = &deck_.high[axis];
    }
  }

  Deck read() {
    bool inside = false, ended = false;
    std::string line;
    while (!ended && std::getline(text_, line)) {
      ++line_;
      begin_line(line);
      for (std::string word = next(); !word.empty() && !ended; word = next()) {
        if (!inside)
          inside = word == "*clover";
        else if (word == "*endclover")
          ended = true;
        else
          key(word);
      }
    }
    if (!inside) fail("there is no line *clover");
    if (!ended) fail("there is no line *endclover");
    finish();
    return deck_;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw DeckError(name_ + ": " + why); }
  [[noreturn]] void fail(const std::string& key, const std::string& why) const {
    fail("line " + std::to_string(line_) + ": " + key + ": " + why);
  }

  void begin_line(std::string line) {
    line.erase(std::min(line.find_first_of("!#"), line.size()));
    std::replace(line.begin(), line.end(), '=', ' ');
    words_ = std::istringstream(line);
  }
  std::string next() {
    std::string word;
    words_ >> word;
    return word;
  }

  void skip_number() {
    words_ >> std::ws;
    if (std::isdigit(words_.peek()) != 0) next();
  }

  template <class Number>
  Number number(const std::string& key) {
    const std::string word = next();
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty()) fail(key, "its value is missing");
    const bool whole = error == std::errc() && end == word.data() + word.size();
    if (!whole || !std::isfinite(static_cast<double>(value))) fail(key, "'" + word + "' is no number");
    return value;
  }

  void key(const std::string& word) {
    // Settings of the original programs for their machines, which the command line and the mesh determine here. Some
    // have a number after them, some do not.
    static const char* const ignored[] = {"profiler_on",      "use_c_kernels",   "use_fortran_kernels",
                                          "use_vector_loops", "tiles_per_chunk", "tiles_per_problem",
                                          "visit_frequency"};
    const auto is_word = [&](const char* other) { return word == other; };
    if (word == "state")
      state();
    else if (whole_.contains(word))
      *whole_[word] = number<std::int64_t>(word), line_of_[word] = line_;
    else if (real_.contains(word))
      *real_[word] = number<double>(word), line_of_[word] = line_;
    else if (std::any_of(std::begin(ignored), std::end(ignored), is_word))
      skip_number();
    else
      fail(word, "there is no such key");
  }

  // Reads to the end of the line.
  void state() {
    const auto at = number<std::int64_t>("state");
    if (at < 1 || at > 1000) fail("state", "the first one is 1, and the last one at most 1000");
    if (states_.contains(at)) fail("state", "there is a number " + std::to_string(at) + " already");
    State& state = states_[at];
    std::map<std::string, double*> numbers{
        {"density", &state.density}, {"energy", &state.energy}, {"radius", &state.radius}};
    for (unsigned axis = 0; axis < deck_.dimensions; ++axis) {
      const std::string x = kAxes[axis];
      numbers[x + "vel"] = &state.velocity[axis];
      numbers[x + "min"] = &state.low[axis];
      numbers[x + "max"] = &state.high[axis];
    }
    bool has_geometry = at == 1;
    for (std::string word = next(); !word.empty(); word = next()) {
      if (word == "geometry")
        state.geometry = geometry(), has_geometry = true;
      else if (numbers.contains(word))
        *numbers[word] = number<double>(word);
      else
        fail(word, "a state has no such key");
    }
    if (!has_geometry) fail("state", "its geometry is missing");
    if (!(state.density > 0)) fail("density", "a state has more than 0");
    if (!(state.energy > 0)) fail("energy", "a state has more than 0");
  }

  State::Geometry geometry() {
    const std::string word = next();
    const bool flat = deck_.dimensions == 2;
    if (word == (flat ? "rectangle" : "cuboid")) return State::Geometry::box;
    if (word == (flat ? "circle" : "sphere")) return State::Geometry::ball;
    if (word == "point") return State::Geometry::point;
    fail("geometry", "'" + word + "' is none of " + (flat ? "rectangle, circle" : "cuboid, sphere") + " and point");
  }

  void expect(bool good, const std::string& key, const std::string& why) {
    if (good) return;
    if (!line_of_.contains(key)) fail(key + ": " + why);
    line_ = line_of_[key];
    fail(key, why);
  }

  void finish() {
    for (unsigned axis = 0; axis < deck_.dimensions; ++axis) {
      const std::string x = kAxes[axis];
      expect(deck_.cells[axis] >= 1, x + "_cells", "there must be one at least");
      expect(deck_.high[axis] > deck_.low[axis], x + "max", "it must be greater than " + x + "min");
    }
    expect(deck_.initial_timestep > 0, "initial_timestep", "it must be greater than 0");
    expect(deck_.max_timestep > 0, "max_timestep", "it must be greater than 0");
    expect(deck_.timestep_rise > 0, "timestep_rise", "it must be greater than 0");
    expect(deck_.end_time > 0, "end_time", "it must be greater than 0");
    expect(deck_.end_step >= 1, "end_step", "it must be 1 at least");
    expect(deck_.summary_frequency >= 0, "summary_frequency", "it must be 0 at least");
    expect(deck_.test_problem >= 0 && deck_.test_problem <= 5, "test_problem", "0 is none, and the last one is 5");
    if (!states_.contains(1)) fail("there is no state 1, which fills what no other one does");
    for (auto& [at, state] : states_) {
      if (at != static_cast<std::int64_t>(deck_.states.size()) + 1)
        fail("there is a state " + std::to_string(at) + ", and none of the number before");
      if (at > 1) shrink(state);
      deck_.states.push_back(state);
    }
  }

  // Moves edges between cells slightly inwards, so that rounding cannot change their side.
  void shrink(State& state) const {
    for (unsigned axis = 0; axis < deck_.dimensions; ++axis) {
      state.low[axis] += deck_.width(axis) / 100;
      state.high[axis] -= deck_.width(axis) / 100;
    }
  }

  std::istream& text_;
  std::string name_;
  Deck deck_;
  std::int64_t line_ = 0;
  std::istringstream words_;
  std::map<std::int64_t, State> states_;
  std::map<std::string, std::int64_t> line_of_;
  std::map<std::string, std::int64_t*> whole_{{"end_step", &deck_.end_step},
                                              {"summary_frequency", &deck_.summary_frequency},
                                              {"test_problem", &deck_.test_problem}};
  std::map<std::string, double*> real_{{"initial_timestep", &deck_.initial_timestep},
                                       {"max_timestep", &deck_.max_timestep},
                                       {"timestep_rise", &deck_.timestep_rise},
                                       {"end_time", &deck_.end_time}};
};

}  // namespace

Deck read_deck(std::istream& text, const std::string& name, unsigned dimensions) {
  return Reader(text, name, dimensions).read();
}

Deck read_deck(const std::string& path, unsigned dimensions) {
  std::ifstream file(path);
  if (!file) throw DeckError(path + ": it cannot be read");
  return read_deck(file, path, dimensions);
}

}  // namespace clover
