// Implements a FAKE of FTI for tests, without separate processes.
#include "fake_files.hpp"
#include "fti.h"

#ifdef PERDURE_PEERS_OLD_FAKES
using ConfigurationPath = char*;
using Count = long;
using Kind = FTIT_type;
FTIT_type FTI_CHAR = {0, 1};
#else
using ConfigurationPath = const char*;
using Count = std::int32_t;
using Kind = fti_id_t;
fti_id_t FTI_CHAR = 0;
#endif

namespace {

using namespace perdure::peers_fakes;

struct FakeFti {
  bool ready = false;
  std::string directories[5];
  void* address = nullptr;
  std::size_t bytes = 0;
  int newest = 0, level = 0;

  std::string file(int at, int number) const {
    return directories[at] + "/Ckpt" + std::to_string(number) + "-Rank" + std::to_string(rank_of_this_process()) +
           ".fti";
  }
};

FakeFti fti;

int outcome(bool good, const char* what) { return good || refuse(what) ? FTI_SCES : FTI_NSCS; }

}  // namespace

int FTI_Init(ConfigurationPath configFile, MPI_Comm globalComm) {
  auto configuration = read_ini(configFile);
  int ranks = 0;
  MPI_Comm_size(globalComm, &ranks);
  fti.directories[1] = configuration["basic.ckpt_dir"];
  fti.directories[4] = configuration["basic.glbl_dir"];
  bool good = configuration["basic.head"] == "0" && configuration["basic.node_size"] == std::to_string(ranks);
  for (const char* level : {"2", "3", "4"})  // without a separate process everything happens in the call
    good = good && configuration[std::string("basic.inline_l") + level] == "1";
  for (const std::string& directory : {fti.directories[1], fti.directories[4], configuration["basic.meta_dir"]})
    good = good && is_directory(directory);
  good = good && configuration["restart.failure"] == "0" && configuration["advanced.block_size"] == "1024";
  fti.ready = good;
  return outcome(good, "FTI_Init: a bad configuration");
}

int FTI_Protect(int, void* ptr, Count count, Kind) {
  fti.address = ptr;
  fti.bytes = static_cast<std::size_t>(count);
  return outcome(fti.ready && count > 0, "FTI_Protect out of turn");
}

int FTI_Checkpoint(int id, int level) {
  const bool good = fti.ready && id > fti.newest && (level == 1 || level == 4);
  if (!good) return outcome(false, "FTI_Checkpoint: out of turn, or a bad level or number");
  if (!write_file(fti.file(level, id), fti.address, fti.bytes)) return FTI_NSCS;
  if (fti.level != 0) remove_file(fti.file(fti.level, fti.newest));  // one is kept
  fti.newest = id;
  fti.level = level;
  return FTI_DONE;
}

int FTI_Recover() {
  const bool good = fti.ready && fti.level == 1;  // only the node; the real FTI reads the store, too
  return outcome(good && read_file(fti.file(1, fti.newest), fti.address, fti.bytes), "FTI_Recover out of turn");
}

int FTI_Finalize() {
  const bool good = fti.ready;
  fti = {};
  return outcome(good, "FTI_Finalize out of turn");
}
