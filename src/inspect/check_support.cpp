#include <stdlib.h>

#include <cerrno>

#include "inspect/check.hpp"
#include "os/file.hpp"

namespace perdure::inspect {

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warning:
      return "warning";
    case Verdict::problem:
      return "problem";
  }
  return "unknown";
}

std::string bracketed(const std::string& setting) {
  const std::size_t open = setting.find('['), close = setting.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return setting.substr(open + 1, close - open - 1);
}

std::string nearest_existing(std::string path) {
  while (path.size() > 1 && !os::exists(path).value_or(false)) {
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos || slash == 0 ? 1 : slash);
  }
  return path;
}

base::Result<Scratch> Scratch::in(const std::string& wanted) {
  std::string pattern = nearest_existing(wanted) + "/.perdure-doctor-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return base::fail(base::errno_error(errno, "mkdtemp", pattern));
  return Scratch(pattern);
}

Scratch::~Scratch() {
  if (!path_.empty()) (void)os::remove_tree(path_);
}

}  // namespace perdure::inspect
