#include "kernel.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kernels {

#ifdef _OPENMP
int use_threads(int count) {
  omp_set_dynamic(0);  // else the system's load would say how many there are
  omp_set_num_threads(count);
  return count;
}
#else
int use_threads(int) { return 1; }
#endif

}  // namespace kernels
