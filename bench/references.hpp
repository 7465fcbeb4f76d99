#pragma once
// What the benchmark compares with: the plain ways to move the same bytes. Each returns seconds of this rank, or a
// negative number with the reason in `why`.
#include <cstddef>
#include <string>
#include <vector>

namespace perdure::bench {

double now_s();
double copy_to_warm_memory(std::vector<char>& target, const std::vector<char>& source);
/// write() in blocks of 1 MiB to a file that did not exist before; the caller removes it, outside the time. With
/// `sync`, fsync is part of it.
double write_fresh_file(const std::string& path, const std::vector<char>& source, bool sync, std::string& why);

/// RssAnon of this process, bytes.
std::size_t anonymous_memory_bytes();
/// Minor page faults of the calling thread so far.
long minor_faults();
void fill_random(std::vector<char>& bytes, unsigned seed);

}  // namespace perdure::bench
