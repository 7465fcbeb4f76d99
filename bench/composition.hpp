#pragma once
// Composes the time of a checkpoint with a copy on another node from its parts (DEEP-ER D5.4, section 4.1.2). Pure.
#include "samples.hpp"

namespace perdure::bench {

/// The rates of a checkpoint's operations, with a copy on another node, each from its own fit.
struct Parts {
  double write_bytes_per_s = 0, read_bytes_per_s = 0, exchange_bytes_per_s = 0;
  double copy_bytes_per_s = 0;  ///< rate of writing the other node's data; the paper uses B_write here, too
};

/// Ways in which the parts are combined.
enum class Composition {
  partner,    ///< write, read again, exchange, write the partner's: one after the other (the formula of 4.1.2)
  buddy,      ///< write, exchange from memory, write the buddy's
  overlapped  ///< write beside exchange and the buddy's write: the longer of both
};
const char* formula(Composition composition);
/// Returns the time without overhead.
double composed_seconds(Composition composition, const Parts& parts, double bytes);

/// The overhead of the whole beyond its parts, fitted to the wholes, with errors relative to their times. Negative if
/// the whole takes less than its parts did alone.
struct WholeFit {
  double overhead_s = 0;
  Residuals residuals;
  std::size_t samples = 0;
};
Fitted<WholeFit> fit_whole(Composition composition, const Parts& parts, const std::vector<Sample>& wholes);

}  // namespace perdure::bench
