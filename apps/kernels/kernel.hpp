#pragma once
// What the computational kernels have in common. They are ordinary programs that know nothing of Perdure: it captures
// them from outside, and brings them back.
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace kernels {

/// A size that a kernel cannot have; thrown by constructors.
struct WrongSize : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Called from one thread. A constructor takes memory and fills it, by the threads that will use it.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  /// One iteration. It goes on from the memory that the one before has left.
  virtual void step() = 0;
  /// A number that all values of the last step have a part in: the same bits mean the same state.
  virtual double norm() const = 0;
  /// After one step at least: what is wrong with the result, empty where nothing is. Changes nothing that step() reads.
  virtual std::string verify() = 0;
  /// For tests, between step() and verify(): changes one value of the state, as a fault of the memory would.
  virtual void spoil() = 0;
};

/// Of the loops that begin from now on. What there is: without OpenMP one thread, whatever was asked for.
int use_threads(int count);

/// A row of the table of kernels.
struct Description {
  const char *name, *what, *size;  ///< what --size is
  std::int64_t usual_size, least_size, most_size, usual_iterations;
  double (*bytes)(double size);
  std::unique_ptr<Kernel> (*make)(std::int64_t size);  ///< throws WrongSize
};
std::span<const Description> all_kernels();

}  // namespace kernels
