#pragma once
// Provides the benchmark's references: plain ways to move the same bytes. Each returns seconds of this rank, or a
// negative number with the reason in `why`.
#include <cstddef>
#include <string>
#include <vector>

namespace perdure::bench {

double now_s();
double copy_to_warm_memory(std::vector<char>& target, const std::vector<char>& source);
/// Writes blocks of 1 MiB to a new file; the caller removes it outside of the time. With `sync`, the time includes
/// fsync.
double write_fresh_file(const std::string& path, const std::vector<char>& source, bool sync, std::string& why);

/// Returns RssAnon of this process, in bytes.
std::size_t anonymous_memory_bytes();
/// Returns the minor page faults of the calling thread so far.
long minor_faults();
void fill_random(std::vector<char>& bytes, unsigned seed);

}  // namespace perdure::bench
