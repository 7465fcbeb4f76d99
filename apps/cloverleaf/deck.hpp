#pragma once
// Reads input decks of CloverLeaf, of both sizes: the text between *clover and *endclover. `=` and blanks are
// equivalent, and `!` or `#` begins a comment.
#include <array>
#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

namespace clover {

inline constexpr const char* kAxes[] = {"x", "y", "z"};
using Vector = std::array<double, 3>;  ///< x, y and z; z is 0 in two dimensions

/// Fills a part of the domain at the start; the first state fills the rest.
struct State {
  enum class Geometry { box, ball, point };  ///< rectangle, circle; cuboid, sphere
  double density = 0, energy = 0;
  Vector velocity{};
  Geometry geometry = Geometry::box;
  Vector low{}, high{};  ///< a ball's centre and a point are at `low`
  double radius = 0;
};

struct Deck {
  unsigned dimensions = 2;
  std::array<std::int64_t, 3> cells{10, 10, 10};
  Vector low{}, high{100, 100, 100};
  double initial_timestep = 0.1, max_timestep = 1, timestep_rise = 1.5;
  double end_time = 10;
  std::int64_t end_step = 640000;
  std::int64_t summary_frequency = 10;  ///< 0: at the end only
  std::int64_t test_problem = 0;        ///< 1 to 5: a problem with a known solution
  std::vector<State> states;
  double width(unsigned axis) const { return (high[axis] - low[axis]) / static_cast<double>(cells[axis]); }
};

/// An error in the deck; names file, line and key.
class DeckError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `name` is for messages. Throws DeckError.
Deck read_deck(std::istream& text, const std::string& name, unsigned dimensions);
Deck read_deck(const std::string& path, unsigned dimensions);

}  // namespace clover
