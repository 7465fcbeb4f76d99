#include "bt.hpp"
#include "cg.hpp"
#include "ep.hpp"
#include "ft.hpp"
#include "is.hpp"
#include "mg.hpp"
#include "sedov.hpp"

namespace kernels {
namespace {

template <class One>
std::unique_ptr<Kernel> make_kernel(std::int64_t size) {
  return std::make_unique<One>(size);
}

template <class One>
constexpr Description row(const char* name, const char* what, const char* size, std::int64_t usual, std::int64_t least,
                          std::int64_t most, std::int64_t iterations) {
  return {name, what, size, usual, least, most, iterations, One::bytes, make_kernel<One>};
}

constexpr std::int64_t kMillion = 1000000;
constexpr Description kKernels[] = {
    row<ConjugateGradients>("cg", "Conjugate gradients with a random sparse matrix", "rows of the matrix", 100000, 100,
                            2000 * kMillion, 75),
    row<Multigrid>("mg", "Multigrid cycles for Poisson's equation in a periodic cube", "edge in points", 128, 8, 4096,
                   20),
    row<RandomPairs>("ep", "Pairs of normal random numbers", "pairs of an iteration", 4 * kMillion, 1000,
                     100000 * kMillion, 20),
    row<IntegerSort>("is", "Integers sorted by buckets", "number of keys", 8 * kMillion, 1000, 100000 * kMillion, 20),
    row<FourierWave>("ft", "A wave in a periodic cube, by Fourier transforms", "edge in points", 128, 4, 4096, 20),
    row<BlockTridiagonal>("bt", "Block tri-diagonal solutions along the lines of a cube", "edge in points", 64, 4, 4096,
                          60),
    row<SedovBlast>("sedov", "Sedov's explosion on triangles", "edge in squares, of two triangles each", 300, 8, 20000,
                    200),
};

}  // namespace

std::span<const Description> all_kernels() { return kKernels; }

}  // namespace kernels
