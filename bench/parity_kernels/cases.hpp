#pragma once
// Defines the measured cases: each reads the same number of bytes, in stripes of chunks.
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::parity_kernels {

struct Size {
  std::size_t bytes = 0, chunk_bytes = 0;
};

/// Touched memory that exceeds the caches. All cases share it, because they run one after the other.
class Buffers {
 public:
  explicit Buffers(Size size);
  std::size_t chunks() const { return size_.bytes / size_.chunk_bytes; }
  base::ByteSpan data(std::size_t chunk) const { return part(data_, chunk); }
  base::ByteSpan parity(std::size_t chunk) const { return part(parities_, chunk); }
  base::ByteSpan rebuilt(std::size_t chunk) const { return part(rebuilt_, chunk); }
  base::ByteSpan all_data() const { return data_; }
  base::ByteSpan all_parities() const { return parities_; }

 private:
  base::ByteSpan part(base::ByteSpan of, std::size_t chunk) const {
    return of.subspan(chunk * size_.chunk_bytes, size_.chunk_bytes);
  }
  Size size_;
  std::vector<std::byte> memory_;
  base::ByteSpan data_, parities_, rebuilt_;
};

struct Case {
  std::string name;                  ///< for example "xor_8_encode"
  unsigned k = 1, m = 0;             ///< of its stripes
  std::function<std::size_t()> run;  ///< returns the bytes of data that it has read
  std::function<bool()> good;        ///< returns whether the last run's result is right
};

/// The first two are the references, memcpy as one call and chunk by chunk. Error: a size too small for one stripe.
base::Result<std::vector<Case>> cases(const Buffers& buffers);

}  // namespace perdure::parity_kernels
