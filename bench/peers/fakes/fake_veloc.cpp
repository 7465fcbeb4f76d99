// Implements a FAKE of VeloC for tests. Its active backend transfers data; here the transfer happens in the wait.
#include <regex>

#include "fake_files.hpp"
#include "veloc.h"

namespace {

using namespace perdure::peers_fakes;

struct Region {
  void* address = nullptr;
  std::size_t bytes = 0;
};

struct FakeVeloc {
  std::string scratch, persistent;
  std::map<int, Region> regions;
  std::string name;
  int version = -1;
  bool ready = false, open = false, waited = true;

  std::string file(const std::string& directory, int which) const {
    return directory + "/" + name + "-" + std::to_string(rank_of_this_process()) + "-" + std::to_string(which) + ".dat";
  }
  bool good(bool condition, const char* what) const { return (ready && condition) || refuse(what); }
};

FakeVeloc veloc;

int outcome(bool good) { return good ? VELOC_SUCCESS : VELOC_FAILURE; }

}  // namespace

int VELOC_Init(MPI_Comm, const char* cfg_file) {
  auto configuration = read_ini(cfg_file);
  const bool mode = configuration["mode"] == "async" || configuration["mode"] == "sync";
  const bool sums = configuration["chksum"].empty() || is_directory(configuration["meta"]);
  veloc.scratch = configuration["scratch"];
  veloc.persistent = configuration["persistent"];
  veloc.ready = is_directory(veloc.scratch) && is_directory(veloc.persistent) && mode && sums;
  return outcome(veloc.good(configuration["scratch_versions"] == "2", "VELOC_Init: a bad configuration"));
}

int VELOC_Mem_protect(int id, void* ptr, std::size_t count, std::size_t base_size) {
  veloc.regions[id] = {ptr, count * base_size};
  return outcome(veloc.good(true, "VELOC_Mem_protect before VELOC_Init"));
}

int VELOC_Checkpoint_begin(const char* name, int version) {
  static const std::regex allowed("[a-zA-Z0-9_.]+");
  const bool good = !veloc.open && veloc.waited && version > veloc.version && std::regex_match(name, allowed);
  if (!veloc.good(good, "VELOC_Checkpoint_begin: out of turn, or a bad name or version")) return VELOC_FAILURE;
  veloc.name = name;
  veloc.version = version;
  veloc.open = true;
  return VELOC_SUCCESS;
}

int VELOC_Checkpoint_mem() {
  if (!veloc.good(veloc.open && veloc.regions.size() == 1, "VELOC_Checkpoint_mem out of turn")) return VELOC_FAILURE;
  const Region& region = veloc.regions.begin()->second;
  return outcome(write_file(veloc.file(veloc.scratch, veloc.version), region.address, region.bytes));
}

int VELOC_Checkpoint_end(int success) {
  const bool good = veloc.open && success == 1;
  veloc.open = veloc.waited = false;
  return outcome(veloc.good(good, "VELOC_Checkpoint_end out of turn"));
}

int VELOC_Checkpoint_wait() {
  if (!veloc.good(!veloc.open, "VELOC_Checkpoint_wait out of turn")) return VELOC_FAILURE;
  veloc.waited = true;
  for (const std::string& directory : {veloc.scratch, veloc.persistent})
    remove_file(veloc.file(directory, veloc.version - 2));
  return outcome(copy_file(veloc.file(veloc.scratch, veloc.version), veloc.file(veloc.persistent, veloc.version)));
}

int VELOC_Restart(const char* name, int version) {
  if (!veloc.good(!veloc.open && veloc.name == name, "VELOC_Restart out of turn")) return VELOC_FAILURE;
  const Region& region = veloc.regions.begin()->second;
  return outcome(read_file(veloc.file(veloc.scratch, version), region.address, region.bytes));
}

int VELOC_Finalize(int) {
  const bool good = veloc.good(!veloc.open, "VELOC_Finalize out of turn");
  veloc = {};
  return outcome(good);
}
