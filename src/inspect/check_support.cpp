// Helps the checks with directories and settings of the system.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "config/directories.hpp"
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

std::optional<Check> wrong_root(const config::Config& config, const std::string& name, const std::string& tier) {
  const std::string root = tier.empty() ? config::node_root(config) : config::tier_root(config, tier);
  const std::string setting = config::root_setting(config, tier), above = root.substr(0, root.rfind('/'));
  const std::string where = root + ", where " + setting + " leads to";
  const std::string elsewhere = "set " + (setting == "TMPDIR" ? config::root_option(tier) : setting) +
                                " to a directory that only you can enter, or that can be made";
  struct stat facts {};
  if (::lstat(root.c_str(), &facts) != 0) {
    if (above.empty() || os::exists(above).value_or(true)) return std::nullopt;
    return Check{name, Verdict::problem, where + ": there is no directory " + above,
                 "make it, " + (setting == "TMPDIR" ? "correct TMPDIR, " : std::string()) + "or " + elsewhere};
  }
  if (facts.st_uid != ::geteuid())
    return Check{name, Verdict::problem, where + ", belongs to another user",
                 elsewhere + "; only its owner or an administrator can remove it"};
  if (!S_ISDIR(facts.st_mode))
    return Check{name, Verdict::problem, where + ", is no directory", "remove it, or " + elsewhere};
  if ((facts.st_mode & 077) != 0)
    return Check{name, Verdict::problem, where + ", is open to other users", "chmod 700 " + root + ", or " + elsewhere};
  return std::nullopt;
}

base::Result<Scratch> Scratch::in(const std::string& wanted) {
  std::string pattern = nearest_existing(wanted) + "/.perdure-doctor-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return base::fail(base::errno_error(errno, "mkdtemp", pattern));
  return Scratch(pattern);
}

Scratch::~Scratch() {
  if (!path_.empty()) base::attempt([this] { (void)os::remove_tree(path_); });
}

}  // namespace perdure::inspect
