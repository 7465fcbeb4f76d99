#include "fake_files.hpp"

#include <mpi.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace perdure::peers_fakes {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

bool is_to_spoil() { return std::getenv("PERDURE_FAKES_SPOIL") != nullptr; }

int rank_of_this_process() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::map<std::string, std::string> read_ini(const std::string& path) {
  std::map<std::string, std::string> all;
  std::ifstream in(path);
  std::string section;
  for (std::string line; std::getline(in, line);) {
    line = trimmed(line);
    const std::size_t equals = line.find('=');
    if (!line.empty() && line.front() == '[')
      section = lower(line.substr(1, line.find(']') - 1)) + ".";
    else if (equals != std::string::npos)
      all[section + lower(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
  }
  return all;
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

bool write_file(const std::string& path, const void* data, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  out.close();
  return static_cast<bool>(out);
}

bool read_file(const std::string& path, void* data, std::size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  in.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
  if (is_to_spoil()) static_cast<char*>(data)[bytes / 2] ^= 1;
  return static_cast<bool>(in);
}

bool copy_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(to).parent_path(), error);
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  return !error;
}

void remove_file(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

bool refuse(const std::string& what) {
  std::fprintf(stderr, "fake: %s\n", what.c_str());
  return false;
}

}  // namespace perdure::peers_fakes
