#include "inspect/rename_source.hpp"

#include <algorithm>

#include "store/renamed.hpp"

namespace perdure::inspect {
namespace {

/// Attempts have random numbers: a directory that shares one is a copy of the other.
bool is_copy_of(const NameContent& copy, const NameContent& source) {
  return std::any_of(copy.attempts.begin(), copy.attempts.end(),
                     [&](const StoredAttempt& one) { return source.attempts.contains(one); });
}

tl::unexpected<base::Error> taken(const std::string& name, const std::string& cause, const std::string& remedy) {
  return base::fail(PERDURE_EXISTS, "checkpoint " + name, cause, remedy);
}

std::uint64_t oldest_ns(const NameContent& content) {
  std::uint64_t oldest = UINT64_MAX;
  for (const auto& [version, attempt] : content.attempts) oldest = std::min(oldest, attempt.created_ns);
  return oldest;
}

base::Status check_free(const std::string& name, const NameContent& target, const NameContent& source) {
  if (target.attempts.empty() || (target.said == name && is_copy_of(target, source))) {
    if (oldest_ns(source) > target.forgotten_ns) return {};
    return taken(name, "it was forgotten, or renamed, after these versions were begun: none of them may have that name",
                 "take another name");
  }
  if (target.said != name && !target.said.empty())
    return taken(name, "its directory holds checkpoints of " + target.said + ": it was renamed by hand",
                 "perdure rename " + target.said + " " + name + " first, or take another name");
  return taken(name, "there are other checkpoints of that name",
               "take another name, or remove them: perdure forget " + name);
}

const NameContent& chosen_content(RenameSource source, const RenameContents& contents) {
  if (source == RenameSource::old_name) return contents.old_name;
  return source == RenameSource::new_name ? contents.new_name : contents.aside;
}

RenameSource source_of(const std::string& old_name, const RenameContents& contents) {
  const auto holds = [&](const NameContent& content) { return !content.attempts.empty() && content.said == old_name; };
  if (holds(contents.aside)) return RenameSource::aside;
  return holds(contents.new_name) ? RenameSource::new_name : RenameSource::old_name;
}

}  // namespace

base::Result<RenameSource> choose_rename_source(const std::string& old_name, const std::string& new_name,
                                                const RenameContents& contents) {
  if (old_name == new_name)
    return base::fail(PERDURE_INVALID_ARGUMENT, "checkpoint " + old_name, "both names are the same");
  const RenameSource source = source_of(old_name, contents);
  const NameContent& content = chosen_content(source, contents);
  if (content.attempts.empty())
    return base::fail(PERDURE_NOT_FOUND, "checkpoint " + old_name, "there is nothing of it in this store");
  if (content.said.empty())
    return base::fail(PERDURE_MISMATCH, "checkpoint " + old_name,
                      "its segments say several names, or none of them can be read",
                      "perdure verify says which; give each directory its own name back");
  const std::string aside = store::aside_name(new_name);
  if (source == RenameSource::new_name && !contents.aside.attempts.empty())
    return taken(aside, "the directory of " + new_name + " would be put aside there", "rename or remove it first");
  if (source != RenameSource::new_name) PERDURE_CHECK(check_free(new_name, contents.new_name, content));
  return source;
}

}  // namespace perdure::inspect
