#include "redundancy/kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "redundancy/reference_testing.hpp"

namespace perdure::redundancy {
namespace {

using reference::Bytes;
using reference::random_bytes;

TEST(Field, IsThatOfTheReference) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b)
      ASSERT_EQ(multiply(static_cast<Symbol>(a), static_cast<Symbol>(b)), reference::product(a, b));
    if (a > 0) {
      ASSERT_EQ(reference::product(a, inverse(static_cast<Symbol>(a))), 1u);
    }
  }
}

TEST(Field, CoefficientsAreThoseOfTheReferenceNoneIsZeroAndParity0IsExclusiveOr) {
  for (unsigned parity = 0; parity < kMaxParities; ++parity)
    for (unsigned data = 0; data < kMaxItems - 1; ++data) {
      ASSERT_EQ(coefficient(parity, data), reference::coefficient(parity, data));
      ASSERT_NE(coefficient(parity, data), 0);
      if (parity == 0) {
        ASSERT_EQ(coefficient(parity, data), 1);
      }
    }
}

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all = {&plain_kernels()};
  if (isal_kernels()) all.push_back(*isal_kernels());
  return all;
}

constexpr std::array<std::size_t, 14> kSizes = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000, 4097};

// Has sources and targets at unaligned addresses.
struct Case {
  unsigned columns, rows;
  std::size_t bytes;
  std::vector<Symbol> coefficients;
  std::vector<Bytes> data, buffers;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;

  Case(unsigned c, unsigned r, std::size_t size, std::mt19937_64& random) : columns(c), rows(r), bytes(size) {
    for (unsigned i = 0; i < c * r; ++i) coefficients.push_back(static_cast<Symbol>(random()));
    for (unsigned i = 0; i < c; ++i) data.push_back(random_bytes(size + i % 7, random));
    for (unsigned i = 0; i < r; ++i) buffers.push_back(random_bytes(size + i % 5 + 1, random));
    for (unsigned i = 0; i < c; ++i) sources.push_back(data[i].data() + i % 7);
    for (unsigned i = 0; i < r; ++i) targets.push_back(buffers[i].data() + i % 5);
  }
  Bytes expected(unsigned row, Bytes sum) const {
    for (unsigned c = 0; c < columns; ++c)
      reference::add_product(sum, coefficients[row * columns + c], Bytes(sources[c], sources[c] + bytes));
    return sum;
  }
};

TEST(Kernels, CombineAsTheReferenceDoes) {
  std::mt19937_64 random(1);
  for (const Kernels* kernels : all_kernels())
    for (const std::size_t bytes : kSizes)
      for (const unsigned rows : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u})
        for (const unsigned columns : {1u, 2u, 5u, 10u}) {
          Case c(columns, rows, bytes, random);
          std::vector<Symbol> tables(std::size_t{columns} * rows * kTableBytes);
          kernels->prepare(columns, rows, c.coefficients.data(), tables.data());
          std::vector<std::byte> after;
          for (unsigned r = 0; r < rows; ++r) after.push_back(c.targets[r][bytes]);
          kernels->combine(bytes, columns, rows, tables.data(), c.sources.data(), c.targets.data());
          for (unsigned r = 0; r < rows; ++r) {
            ASSERT_EQ(Bytes(c.targets[r], c.targets[r] + bytes), c.expected(r, Bytes(bytes))) << kernels->name;
            ASSERT_EQ(c.targets[r][bytes], after[r]) << kernels->name << " wrote beyond " << bytes;
          }
        }
}

TEST(Kernels, AddAsTheReferenceDoes) {
  std::mt19937_64 random(2);
  for (const Kernels* kernels : all_kernels())
    for (const std::size_t bytes : kSizes)
      for (const unsigned rows : {1u, 2u, 3u, 5u, 8u}) {
        Case c(1, rows, bytes, random);
        std::vector<Symbol> tables(rows * kTableBytes);
        kernels->prepare(1, rows, c.coefficients.data(), tables.data());
        std::vector<Bytes> expected;
        for (unsigned r = 0; r < rows; ++r)
          expected.push_back(c.expected(r, Bytes(c.targets[r], c.targets[r] + bytes)));
        kernels->add(bytes, rows, tables.data(), c.sources[0], c.targets.data());
        for (unsigned r = 0; r < rows; ++r)
          ASSERT_EQ(Bytes(c.targets[r], c.targets[r] + bytes), expected[r]) << kernels->name << bytes;
      }
}

TEST(Kernels, ExclusiveOrIsCombiningWithOnes) {
  std::mt19937_64 random(3);
  for (const std::size_t bytes : kSizes)
    for (const unsigned columns : {1u, 2u, 3u, 9u, 63u}) {
      Case c(columns, 2, bytes, random);
      c.coefficients.assign(c.coefficients.size(), 1);
      exclusive_or(c.targets[0], c.sources, bytes);
      const Bytes expected = c.expected(0, Bytes(bytes));
      ASSERT_EQ(Bytes(c.targets[0], c.targets[0] + bytes), expected);
      std::fill_n(c.targets[1], bytes, std::byte{});
      for (const std::byte* source : c.sources) exclusive_or_into(c.targets[1], source, bytes);
      ASSERT_EQ(Bytes(c.targets[1], c.targets[1] + bytes), expected);
    }
}

TEST(Kernels, OfIsalAreUsedWhereItIsThere) {
  const auto isal = isal_kernels();
  if (!isal) {
    EXPECT_THAT(isal.error().text(), testing::HasSubstr("libisal.so.2"));
    EXPECT_STREQ(fastest_kernels().name, "plain");
    GTEST_SKIP() << isal.error().text();
  }
  EXPECT_EQ(&fastest_kernels(), *isal);
}

}  // namespace
}  // namespace perdure::redundancy
