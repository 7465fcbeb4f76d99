#pragma once
// Reads the input of TeaLeaf, in its users' format.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace tealeaf {

/// The initial state of a part of the domain; the first one fills all of it.
struct State {
  enum class Geometry { rectangle, circle, point };
  double density = 0, energy = 0;
  Geometry geometry = Geometry::rectangle;
  double xmin = 0, ymin = 0, xmax = 0, ymax = 0;  ///< a circle's centre and a point are at xmin, ymin
  double radius = 0;
};

enum class Method { jacobi, cg, chebyshev, ppcg };
enum class Preconditioner { none, diagonal, block };

struct Deck {
  std::int64_t x_cells = 10, y_cells = 10;
  double xmin = 0, ymin = 0, xmax = 100, ymax = 100;
  double time_step = 0.1, end_time = 10;
  std::int64_t end_step = std::numeric_limits<std::int32_t>::max();
  std::int64_t summary_frequency = 10;
  std::int64_t test_problem = 0;  ///< a problem with known U, or 0

  Method method = Method::jacobi;
  Preconditioner preconditioner = Preconditioner::none;
  std::int64_t most_iterations = 1000;
  double epsilon = 1e-10;
  std::int64_t ppcg_inner_steps = -1;  ///< -1: depends on the size of the mesh
  std::int64_t presteps = 25;          ///< of CG, before Chebyshev and PPCG know the eigenvalues
  double presteps_error = 1;           ///< and the largest error to switch at
  bool check_result = false;
  bool inverse_density = false;      ///< conductivity is 1 / density
  bool reflective_boundary = false;  ///< mirrored halos instead of coefficients of zero; both are equivalent

  std::vector<State> states;
  double dx() const { return (xmax - xmin) / static_cast<double>(x_cells); }
  double dy() const { return (ymax - ymin) / static_cast<double>(y_cells); }
};

/// Parses the text between `*tea` and `*endtea`. `=` and blanks are interchangeable; `!` and `#` begin comments. Error:
/// the line, the key, and the reason.
tl::expected<Deck, std::string> parse_deck(std::string_view text);

}  // namespace tealeaf
