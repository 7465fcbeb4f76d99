#pragma once
// How verbs read regions: a version of a checkpoint, opened by what the user typed.
#include "cli/open_store.hpp"
#include "reader/stored_content.hpp"

namespace perdure::cli {

/// A version that is open for reading, and its store.
struct OpenContent {
  std::unique_ptr<store::Store> store;
  std::unique_ptr<reader::StoredContent> content;
};

/// `checkpoint`: NAME or NAME@VERSION; without a version the newest one that is whole.
base::Result<OpenContent> open_content(const std::string& checkpoint, const std::string& location,
                                       const Terminal& terminal);

/// "temperature[0:10, 5]": what stands before the bracket, and what is in it; nothing where there is none.
struct RegionSpec {
  std::string region;
  std::optional<std::string> box;
};
base::Result<RegionSpec> parse_region(const std::string& text);

/// A box as people write it: for each dimension nothing (all), an index, or begin:end, either of which may be left out;
/// negative ones count from the end. Dimensions that are not named are whole. PERDURE_INVALID_ARGUMENT about `object`.
base::Result<array::Box> parse_box(const std::string& text, const array::Box& whole, const std::string& object);

/// "[100, 60]": as many elements in each dimension.
std::string extents_text(const array::Box& whole);
/// "[3, 17]"
std::string index_text(const array::Index& at, unsigned dimensions);
/// "8 bytes" where nothing else is known of the elements.
std::string type_text(const array::ElementType& type);

}  // namespace perdure::cli
