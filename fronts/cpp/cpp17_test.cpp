// A C++17 program uses the veneer.
#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "perdure/perdure_track.hpp"

static_assert(__cplusplus == 201703L, "this file checks the veneer with the oldest standard it promises");
static_assert(std::is_nothrow_move_constructible_v<perdure::Handle>);
static_assert(!std::is_copy_constructible_v<perdure::Handle>);
static_assert(std::is_nothrow_move_constructible_v<perdure::Track>);
static_assert(!std::is_copy_constructible_v<perdure::Track>);

TEST(Cpp17, AHandleThatWasNeverOpenedGivesErrorsInBothStyles) {
  perdure::Handle handle;
  std::array<double, 4> numbers{};
  const auto done = handle.protect(1, numbers);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, PERDURE_CLOSED);
  double number = 0;
  EXPECT_EQ(handle.protect_all(1, numbers, number).error().code, PERDURE_CLOSED);
  std::unique_ptr<double[]> memory;
  int count = 0;
  EXPECT_EQ(handle.protect(1, memory, count).error().code, PERDURE_CLOSED);
  const auto where = [&]() -> std::array<double, 4>& { return numbers; };
  EXPECT_EQ(handle.protect_where(1, where).error().code, PERDURE_CLOSED);
  EXPECT_EQ(handle.restore_resizing("run").error().code, PERDURE_CLOSED);
  EXPECT_THROW(handle.checkpoint("run", 1).value(), perdure::Failure);
  EXPECT_TRUE(handle.close().ok());
}

struct Cell {
  double energy[2];
  std::int16_t material;
  bool active;
};
template <>
struct perdure::ElementType<Cell> {
  static constexpr const char* text = "{energy:2f8,material:i2,active:b1,v5}";
};
enum class Phase : std::uint8_t { solid, liquid };

/// Columns of a matrix of 3 rows that lie behind each other, as in std::mdspan with layout_left.
struct Columns {
  double* first;
  double* data_handle() const { return first; }
  int extent(std::size_t dimension) const { return dimension == 0 ? 3 : 4; }
  int stride(std::size_t dimension) const { return dimension == 0 ? 1 : 3; }
};

constexpr bool same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}
static_assert(same(perdure::type_of<double>(), "f8") && same(perdure::type_of<float>(), "f4"));
static_assert(same(perdure::type_of<int>(), "i4") && same(perdure::type_of<std::uint64_t>(), "u8"));
static_assert(same(perdure::type_of<signed char>(), "i1") && same(perdure::type_of<unsigned short>(), "u2"));
static_assert(same(perdure::type_of<long long>(), "i8") && same(perdure::type_of<Phase>(), "u1"));
static_assert(same(perdure::type_of<std::complex<float>>(), "c8") && same(perdure::type_of<bool>(), "b1"));
static_assert(same(perdure::type_of<std::complex<double>>(), "c16") && same(perdure::type_of<std::byte>(), "v1"));
static_assert(same(perdure::type_of<Cell>(), perdure::ElementType<Cell>::text));

TEST(Cpp17, DeclaresArrays) {
  perdure::Handle handle;
  double field[3][4] = {};
  const perdure::Array array{"field", perdure::indices(3, 4)};
  const perdure::View view(field);
  EXPECT_EQ(view.elements(), 12U);
  EXPECT_EQ(view.strides[0], 32);
  EXPECT_EQ(view.part({1, 2}, {2, 2}).data, &field[1][2]);
  EXPECT_EQ(view.part({1, 2}, {2, 3}).data, nullptr);
  const perdure::View<double, 2> columns(Columns{&field[0][0]});
  EXPECT_EQ(columns.extents, view.extents);
  EXPECT_EQ(columns.strides, (std::array<std::int64_t, 2>{8, 24}));
  const auto done = handle.protect_global(1, array, perdure::Box(perdure::indices(0, 0), view));
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, PERDURE_CLOSED);
}

TEST(Cpp17, DeclaresRegions) {
  using namespace perdure::tracked;
  perdure::Track track;
  double value = 0, values[2][3] = {};
  std::vector<int> numbers(4);
  EXPECT_EQ(gives(value).native.bytes, sizeof value);
  EXPECT_EQ(gives(values).native.bytes, sizeof values);
  EXPECT_EQ(gives(numbers).native.bytes, 4 * sizeof(int));
  EXPECT_EQ(gives(numbers).native.address, numbers.data());
  EXPECT_EQ(within(reads_writes(Data(3, 1, 8)), {1}, {2}).native.mode, PERDURE_READS_WRITES);
  EXPECT_EQ(RegionName("sum").function, std::string("TestBody"));
  const auto done = track.region("sum", {reads(Data()), gives(value)}, [&] { value = 1; });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, PERDURE_CLOSED);
  EXPECT_EQ(value, 0);
}
