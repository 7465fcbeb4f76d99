#include "reader/examine.hpp"

#include <algorithm>

namespace perdure::reader {
namespace {

using base::ConstByteSpan;
using base::Result;
using base::Status;

void tell(const Advance& advance, std::uint64_t bytes) {
  if (advance) advance(bytes);
}

bool has_numbers(const array::ElementType& type) {
  return std::any_of(type.members().begin(), type.members().end(),
                     [](const auto& member) { return member.scalar.kind != array::ScalarKind::bytes; });
}

}  // namespace

array::ElementType type_of(const StoredRegion& region, const LocalRegion& local) {
  return region.type.bytes() == local.element_bytes ? region.type : array::ElementType::of_bytes(local.element_bytes);
}

array::Box box_of(const LocalRegion& local) {
  array::Box box;
  box.dimensions = 1;
  box.end[0] = local.count;
  return box;
}

Result<std::vector<MemberStatistics>> statistics(StoredContent& content, const StoredRegion& region,
                                                 const Advance& advance) {
  Statistics sum(region.type);
  const auto take = [&](const auto&, ConstByteSpan elements) -> Status {
    sum.add(elements);
    tell(advance, elements.size());
    return {};
  };
  if (!has_numbers(region.type)) return sum.members();
  if (const StoredArray* array = content.array(region.id)) {
    PERDURE_CHECK(content.for_each_slab(*array, kSlabBytes, take));
  } else {
    for (const LocalRegion& local : content.locals())
      if (local.id == region.id && local.element_bytes == region.type.bytes())
        PERDURE_CHECK(content.for_each_slab(local, kSlabBytes, take));
  }
  return sum.members();
}

Result<Difference> difference(StoredContent& a, const StoredArray& of_a, StoredContent& b, const StoredArray& of_b,
                              const Advance& advance) {
  const auto mismatch = [&](const std::string& mine, const std::string& other) {
    return base::fail(PERDURE_MISMATCH, of_a.text(),
                      mine + " in " + a.id().text() + ", " + other + " in " + b.id().text());
  };
  if (of_a.type != of_b.type) return mismatch("type " + of_a.type.text(), of_b.type.text());
  if (of_a.whole != of_b.whole) return mismatch("extents " + of_a.whole.text(), of_b.whole.text());
  Comparison comparison(of_a.type);
  std::vector<std::byte> other;
  PERDURE_CHECK(a.for_each_slab(of_a, kSlabBytes, [&](const array::Box& box, ConstByteSpan elements) -> Status {
    other.resize(elements.size());
    if (auto read = b.read(of_b, box, other); !read) return read;
    comparison.add(box, elements, other);
    tell(advance, elements.size());
    return {};
  }));
  return comparison.result();
}

Result<Difference> difference(StoredContent& a, const LocalRegion& of_a, StoredContent& b, const LocalRegion& of_b,
                              const array::ElementType& type, const Advance& advance) {
  if (of_a.element_bytes != of_b.element_bytes || of_a.count != of_b.count || type.bytes() != of_a.element_bytes)
    return base::fail(PERDURE_MISMATCH, "rank " + std::to_string(of_a.rank) + ", region " + std::to_string(of_a.id),
                      std::to_string(of_a.count) + " elements of " + std::to_string(of_a.element_bytes) + " bytes in " +
                          a.id().text() + ", " + std::to_string(of_b.count) + " of " +
                          std::to_string(of_b.element_bytes) + " in " + b.id().text());
  Comparison comparison(type);
  std::vector<std::byte> other;
  PERDURE_CHECK(a.for_each_slab(of_a, kSlabBytes, [&](std::uint64_t first, ConstByteSpan elements) -> Status {
    other.resize(elements.size());
    if (auto read = b.read_local(of_b, first, other); !read) return read;
    array::Box box = box_of(of_a);
    box.begin[0] = first;
    box.end[0] = first + elements.size() / type.bytes();
    comparison.add(box, elements, other);
    tell(advance, elements.size());
    return {};
  }));
  return comparison.result();
}

}  // namespace perdure::reader
