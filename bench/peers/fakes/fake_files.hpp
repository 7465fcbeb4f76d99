#pragma once
// Implements file operations for the fakes of bench/peers.
#include <map>
#include <string>
#include <vector>

namespace perdure::peers_fakes {

/// Whether restored data is to be damaged (PERDURE_FAKES_SPOIL is set), so that a test can check that it is compared.
bool is_to_spoil();
int rank_of_this_process();
/// Parses an INI file: keys are "section.key", or "key" outside of sections; all in lower case.
std::map<std::string, std::string> read_ini(const std::string& path);
bool is_directory(const std::string& path);
bool write_file(const std::string& path, const void* data, std::size_t bytes);
bool read_file(const std::string& path, void* data, std::size_t bytes);
bool copy_file(const std::string& from, const std::string& to);
void remove_file(const std::string& path);
/// Returns false and prints `what` to stderr: the back end violated the real library's documentation.
bool refuse(const std::string& what);

}  // namespace perdure::peers_fakes
