#pragma once
// What the fakes of bench/peers do with files.
#include <map>
#include <string>
#include <vector>

namespace perdure::peers_fakes {

/// A test wants to see that what comes back is looked at: the environment has PERDURE_FAKES_SPOIL.
bool is_to_spoil();
int rank_of_this_process();
/// What an INI file says, keys as "section.key", without a section "key"; all in lower case.
std::map<std::string, std::string> read_ini(const std::string& path);
bool is_directory(const std::string& path);
bool write_file(const std::string& path, const void* data, std::size_t bytes);
bool read_file(const std::string& path, void* data, std::size_t bytes);
bool copy_file(const std::string& from, const std::string& to);
void remove_file(const std::string& path);
/// False, and `what` on stderr: the back end did what the real library's documentation forbids.
bool refuse(const std::string& what);

}  // namespace perdure::peers_fakes
