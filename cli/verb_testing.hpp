#pragma once
// Calls verbs as functions and catches their output, for tests; puts sample checkpoints into a store.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/verb.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_segment.hpp"

namespace perdure::cli {

struct Ran {
  int status = -1;
  std::string out, err;
  base::Json json() const { return base::Json::parse(out, nullptr, false); }
};

/// `live`: as on a terminal that redraws a line.
inline Ran run_verb(const std::vector<std::string>& arguments, bool live = false) {
  char *out = nullptr, *err = nullptr;
  std::size_t out_bytes = 0, err_bytes = 0;
  Terminal terminal{open_memstream(&out, &out_bytes), open_memstream(&err, &err_bytes), live, {}};
  Ran ran;
  ran.status = run_command_line(arguments, terminal);
  std::fclose(terminal.out);
  std::fclose(terminal.err);
  ran.out.assign(out, out_bytes);
  ran.err.assign(err, err_bytes);
  std::free(out);
  std::free(err);
  return ran;
}

/// Sets a variable of the environment while it lives.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// A store in a temporary directory.
class SampleStore {
 public:
  SampleStore() : store_(store::make_store(directory_ / "store").value()) { (void)store_->prepare(); }
  /// Writes `count` segments with one rank each, or only those of `which`; returns their paths.
  std::vector<std::string> add(const std::string& name, std::uint64_t version, std::uint32_t count = 2,
                               std::vector<std::uint32_t> which = {}, std::uint64_t bytes = 5000,
                               std::uint64_t created = 1'700'000'000'000'000'000) {
    return add(segment::VersionId{name, version, {created + version, 7}}, count, std::move(which), bytes);
  }
  /// Adds a version of a branch; one with a later `begun` is newer.
  std::vector<std::string> add_on(plan::Branch branch, const std::string& name, std::uint64_t version,
                                  std::uint64_t begun, std::vector<std::uint32_t> which = {}) {
    return add(segment::VersionId{name, version, {begun_ns(begun), plan::nonce_on(branch, 7)}}, 2, std::move(which));
  }
  static std::uint64_t begun_ns(std::uint64_t begun) { return 1'700'000'000'000'000'000 + begun; }
  std::vector<std::string> add(const segment::VersionId& id, std::uint32_t count = 2,
                               std::vector<std::uint32_t> which = {}, std::uint64_t bytes = 5000) {
    std::vector<std::string> paths;
    for (const auto& manifest : test_support::sample_version(id, count, bytes)) {
      if (!which.empty() && std::find(which.begin(), which.end(), manifest.segment_index) == which.end()) continue;
      if (!test_support::write_segment(*store_, manifest)) std::abort();
      paths.push_back(version_path(id.name, id.version) + "/" +
                      segment::file_name(manifest.segment_index, count, id.attempt));
    }
    return paths;
  }
  std::string version_path(const std::string& name, std::uint64_t version) const {
    return path() + "/" + name + "/" + std::to_string(version);
  }
  std::string path() const { return directory_ / "store"; }
  store::Store& store() { return *store_; }
  const test_support::TemporaryDirectory& directory() const { return directory_; }

 private:
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<store::Store> store_;
};

/// Flips bits of one byte of a file.
inline void flip_byte(const std::string& path, std::uint64_t offset, unsigned char mask = 0xFF) {
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  std::fseek(file, static_cast<long>(offset), SEEK_SET);
  const int byte = std::fgetc(file);
  std::fseek(file, static_cast<long>(offset), SEEK_SET);
  std::fputc(byte ^ mask, file);
  std::fclose(file);
}

}  // namespace perdure::cli
