#include "fourier.hpp"

#include <array>
#include <utility>

namespace kernels {
namespace {

std::vector<std::int64_t> prime_factors(std::int64_t number) {
  std::vector<std::int64_t> factors;
  for (const std::int64_t factor : {2, 3, 5})
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  if (number != 1) factors.clear();
  return factors;
}

}  // namespace

bool Fourier::can_have(std::int64_t edge) { return !prime_factors(edge).empty(); }

Fourier::Fourier(std::int64_t edge) : edge_(edge), factors_(prime_factors(edge)) {
  for (std::int64_t i = 0; i < edge; ++i) roots_.push_back(root_of_unity(i, edge));
}

// Makes `parts` transforms of `factor` points each, at a distance of parts * stride, and applies their twiddle factors.
void Fourier::pass(std::int64_t factor, std::int64_t parts, std::int64_t stride, Lines& lines,
                   Direction direction) const {
  const std::int64_t row = stride * kLines;  // these have the same twiddle factors
  const Complex* now = lines.now.data();
  for (std::int64_t part = 0; part < parts; ++part)
    for (std::int64_t k = 0; k < factor; ++k) {
      Complex* to = lines.next.data() + (part * factor + k) * row;
      std::array<Complex, 5> turns{};
      for (std::int64_t j = 0; j < factor; ++j)
        turns[static_cast<std::size_t>(j)] = root(edge_ / factor * (j * k) + part * k * stride, direction);
      const Complex* from = now + part * row;
      for (std::int64_t i = 0; i < row; ++i) {
        Complex all = turns[0] * from[i];
        for (std::int64_t j = 1; j < factor; ++j)
          all = all + turns[static_cast<std::size_t>(j)] * from[i + j * parts * row];
        to[i] = all;
      }
    }
  std::swap(lines.now, lines.next);
}

void Fourier::transform(const Place& place, Lines& lines, Direction direction) const {
  for (std::int64_t i = 0; i < edge_; ++i)
    for (std::int64_t line = 0; line < place.lines; ++line)
      lines.now[static_cast<std::size_t>(i * kLines + line)] =
          place.first[i * place.point_stride + line * place.line_stride];
  std::int64_t parts = edge_, stride = 1;
  for (const std::int64_t factor : factors_) {
    parts /= factor;
    pass(factor, parts, stride, lines, direction);
    stride *= factor;
  }
  const double scale = direction == Direction::forward ? 1 : 1 / static_cast<double>(edge_);
  for (std::int64_t i = 0; i < edge_; ++i)
    for (std::int64_t line = 0; line < place.lines; ++line)
      place.first[i * place.point_stride + line * place.line_stride] =
          scale * lines.now[static_cast<std::size_t>(i * kLines + line)];
}

// Lines along x and y are in planes of z; those along z are in planes of y.
void Fourier::transform_planes(Array<Complex>& cube, int dimension, Direction direction) const {
  const std::int64_t strides[] = {1, edge_, edge_ * edge_};
  const std::int64_t line_stride = dimension == 0 ? strides[1] : strides[0];
  const std::int64_t plane_stride = dimension == 2 ? strides[1] : strides[2];
  each(edge_, [&](std::int64_t plane) {
    Lines lines(edge_);
    for (std::int64_t line = 0; line < edge_; line += kLines)
      transform({&cube[plane * plane_stride + line * line_stride], strides[dimension], line_stride,
                 std::min(kLines, edge_ - line)},
                lines, direction);
  });
}

void Fourier::transform_cube(Array<Complex>& cube, Direction direction) const {
  for (int dimension = 0; dimension < 3; ++dimension) transform_planes(cube, dimension, direction);
}

}  // namespace kernels
