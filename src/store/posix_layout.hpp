#pragma once
// Parses and makes the names of files and directories in a posix store. Pure.
#include <optional>
#include <string>
#include <string_view>

#include "segment/borrowed.hpp"

namespace perdure::store {

/// Parses a version's directory; empty for any other spelling.
std::optional<std::uint64_t> parse_version(std::string_view name);

/// The marker that hides an attempt while it is being removed: ".retired-<version>-<attempt hex>".
struct RetiredMark {
  std::uint64_t version = 0;
  segment::Attempt attempt;
  friend auto operator<=>(const RetiredMark&, const RetiredMark&) = default;
};
std::string retired_mark(const segment::VersionId& id);
std::optional<RetiredMark> parse_retired_mark(std::string_view name);

/// A segment being written: ".tmp-<8 hex digits of its writer><8 random ones>-<file name>". Without the digits: by an
/// older Perdure.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";
std::string temporary_name(std::uint32_t writer, std::uint32_t random, const std::string& file);
/// Gives the segment that a temporary one is to become; empty for any other name.
std::optional<segment::FileName> parse_temporary(std::string_view name);
/// Tells whether it is this writer's, or one whose writer is not known.
bool is_temporary_of(std::uint32_t writer, std::string_view name);
/// A segment of another version that an attempt borrowed: ".borrowed-<attempt hex>-<version>-<file name>".
struct BorrowedName {
  segment::Attempt borrower;
  segment::Borrowed segment;
};
std::string borrowed_name(const segment::Attempt& borrower, const segment::Borrowed& segment);
std::optional<BorrowedName> parse_borrowed(std::string_view name);
/// Makes the marker that a name was forgotten: ".forgotten-<time, 16 hex digits>". If there are several, the latest
/// counts.
std::string forgotten_mark(std::uint64_t until_ns);
std::optional<std::uint64_t> parse_forgotten_mark(std::string_view name);

inline constexpr std::string_view kQuarantine = ".quarantine";
/// Gives one user's quarantine, if the other one belongs to another user: ".quarantine-<number of the user>".
std::string quarantine_of(std::uint32_t user);
bool is_quarantine(std::string_view name);

/// Makes <root>/<name>/<version>/<file name of the segment>.
class PosixLayout {
 public:
  explicit PosixLayout(std::string root, std::uint32_t writer = 0) : root_(std::move(root)), writer_(writer) {}
  const std::string& root() const { return root_; }
  std::uint32_t writer() const { return writer_; }  ///< the number in the names of its temporary segments
  std::string name_directory(const std::string& name) const { return root_ + "/" + name; }
  std::string version_directory(const segment::VersionId& id) const {
    return name_directory(id.name) + "/" + std::to_string(id.version);
  }

 private:
  std::string root_;
  std::uint32_t writer_;
};

}  // namespace perdure::store
