#pragma once
// What a checkpoint with a copy on another node takes, composed of its parts (DEEP-ER D5.4, section 4.1.2). Pure.
#include "samples.hpp"

namespace perdure::bench {

/// The rates of the operations that a checkpoint with a copy on another node is made of, each from its own fit.
struct Parts {
  double write_bytes_per_s = 0, read_bytes_per_s = 0, exchange_bytes_per_s = 0;
  double copy_bytes_per_s = 0;  ///< writing what came from the other node; the paper takes B_write again
};

/// How the parts make a whole.
enum class Composition {
  partner,    ///< write, read again, exchange, write the partner's: one after the other (the formula of 4.1.2)
  buddy,      ///< write, exchange from memory, write the buddy's
  overlapped  ///< write beside exchange and the buddy's write: the longer of both
};
const char* formula(Composition composition);
/// Without overhead.
double composed_seconds(Composition composition, const Parts& parts, double bytes);

/// What the whole takes beyond its parts; fitted to the wholes, errors relative to their times. Negative where the
/// whole takes less than its parts did alone.
struct WholeFit {
  double overhead_s = 0;
  Residuals residuals;
  std::size_t samples = 0;
};
Fitted<WholeFit> fit_whole(Composition composition, const Parts& parts, const std::vector<Sample>& wholes);

}  // namespace perdure::bench
