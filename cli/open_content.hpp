#pragma once
// Verbs that read regions open a version of a checkpoint here, from the words that the user typed.
#include "cli/open_store.hpp"
#include "reader/stored_content.hpp"

namespace perdure::cli {

/// A version that is open for reading, and its store.
struct OpenContent {
  std::unique_ptr<store::Store> store;
  std::unique_ptr<reader::StoredContent> content;
};

/// Opens it. `checkpoint`: NAME or NAME@VERSION; without a version, the newest complete one.
base::Result<OpenContent> open_content(const std::string& checkpoint, const std::string& location,
                                       const Terminal& terminal);

/// The parts of "temperature[0:10, 5]": the name before the bracket, and the text in it; empty without a bracket.
struct RegionSpec {
  std::string region;
  std::optional<std::string> box;
};
base::Result<RegionSpec> parse_region(const std::string& text);

/// Parses a box as people write it: for each dimension nothing (all), an index, or begin:end. Either end may be left
/// out; negative ones count from the end. Dimensions that are not named are whole. PERDURE_INVALID_ARGUMENT about
/// `object`.
base::Result<array::Box> parse_box(const std::string& text, const array::Box& whole, const std::string& object);

/// Writes "[100, 60]": the number of elements in each dimension.
std::string extents_text(const array::Box& whole);
/// Writes "[3, 17]".
std::string index_text(const array::Index& at, unsigned dimensions);
/// Writes the type; "8 bytes" if nothing else is known of the elements.
std::string type_text(const array::ElementType& type);

}  // namespace perdure::cli
