#include "cli/ls_target.hpp"

#include "segment/manifest_codec.hpp"

namespace perdure::cli {

base::Result<LsTarget> ls_target(const std::string& word, const std::string& option, bool is_directory) {
  if (word.empty()) return LsTarget{option, {}};
  const bool path = word.find('/') != std::string::npos;
  if (option.empty() && (is_directory || path)) return LsTarget{word, {}};
  if (path) return base::fail(PERDURE_INVALID_ARGUMENT, "--store", "the store is given twice", "name it once");
  PERDURE_CHECK(segment::check_name(word));
  return LsTarget{option, word};
}

}  // namespace perdure::cli
