#pragma once
// Defines the interface of the computational kernels. They are ordinary programs that know nothing of Perdure, which
// captures and resumes them from outside.
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace kernels {

/// Constructors throw this for a size that a kernel cannot have.
struct WrongSize : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Called from one thread. A constructor allocates memory and fills it, with the threads that will use it.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  /// Makes one iteration, from the memory that the one before has left.
  virtual void step() = 0;
  /// Returns a number to which all values of the last step contribute: the same bits mean the same state.
  virtual double norm() const = 0;
  /// Call it after at least one step: returns the error in the result, or an empty text. Changes nothing that step()
  /// reads.
  virtual std::string verify() = 0;
  /// For tests, between step() and verify(): changes one value of the state, as a memory fault would.
  virtual void spoil() = 0;
};

/// Sets the number of threads for later loops, and returns the actual one: 1 without OpenMP.
int use_threads(int count);

/// A row of the table of kernels.
struct Description {
  const char *name, *what, *size;  ///< `size` describes the meaning of --size
  std::int64_t usual_size, least_size, most_size, usual_iterations;
  double (*bytes)(double size);
  std::unique_ptr<Kernel> (*make)(std::int64_t size);  ///< throws WrongSize
};
std::span<const Description> all_kernels();

}  // namespace kernels
