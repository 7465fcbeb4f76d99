#pragma once
// The directories of a posix store, opened so that nobody else decides where they are: each through its parent's
// descriptor, never through a link, and only when it belongs to somebody whom this user trusts with the store. The root
// itself is where the user's path leads. Inside this module only.
#include "os/directory.hpp"
#include "store/posix_layout.hpp"
#include "store/store.hpp"

namespace perdure::store {

class PosixPlace {
 public:
  PosixPlace(std::string root, Whose whose, std::uint32_t writer = 0)
      : layout_(std::move(root), writer), whose_(whose) {}
  const PosixLayout& layout() const { return layout_; }

  /// PERDURE_NOT_FOUND, with a remedy, when it is not there; PERDURE_UNAVAILABLE when what it is in is not, either:
  /// then that is not where a store was or is to be.
  base::Result<os::Directory> root() const;
  /// Makes it, but nothing above it.
  base::Status make_root() const;
  /// PERDURE_NOT_FOUND when it, or one above it, is not there; PERDURE_PERMISSION when it is not to be trusted.
  base::Result<os::Directory> name(const std::string& name) const;
  base::Result<os::Directory> version(const segment::VersionId& id) const;
  /// The same, made when missing; synced into its parent in any case: whoever made it may have died before.
  base::Result<os::Directory> make_name(const std::string& name) const;
  base::Result<os::Directory> make_version(const segment::VersionId& id) const;
  /// What is in an open one.
  base::Result<os::Directory> below(const os::Directory& parent, const std::string& name) const;
  /// A file at a path within the store, as in SegmentRef.
  base::Result<os::File> file(const std::string& path) const;

  /// The directories in which segments of `name` may have been set aside. Those of others are passed over.
  base::Result<std::vector<os::Directory>> quarantines(const std::string& name) const;
  /// The one in which they are to be set aside, made when missing.
  base::Result<os::Directory> make_quarantine(const std::string& name) const;

 private:
  base::Result<os::Directory> descend(const std::vector<std::string>& names, Missing missing) const;
  bool is_trusted(std::uint32_t user, std::uint32_t user_above) const;
  bool is_trusted_anywhere(std::uint32_t user) const;
  base::Status check(const os::FileIdentity& found, const os::Directory& above, const std::string& path) const;
  base::Result<std::uint32_t> user_of(const std::string& name) const;

  PosixLayout layout_;
  Whose whose_;
};

}  // namespace perdure::store
