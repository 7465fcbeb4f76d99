// Runs SCR: the program writes one file per rank where SCR says. The copies are SINGLE, cached on the node, and threads
// flush them.
#include <mpi.h>
#include <scr.h>
#include <unistd.h>

#include <cstdlib>

#include "references.hpp"
#include "store_files.hpp"
#include "systems.hpp"

#ifndef PERDURE_PEERS_SCR_FLUSHING
// Releases without SCR_Flushing have no public call that tells when a flush is over. These two are internal to the
// library.
extern "C" {
int scr_flush_async_waitall(void* index);
extern void* scr_cindex;
}
#endif

namespace perdure::peers_bench {
namespace {

std::string name_of(int version) { return "peers." + std::to_string(version); }

// Caches two versions in the node's memory, as the other systems do; every version is flushed in the background.
constexpr const char* kSettings =
    "SCR_USER_NAME=peers;SCR_CACHE_SIZE=2;SCR_CACHE_BYPASS=0;SCR_COPY_TYPE=SINGLE;SCR_FLUSH=1;SCR_FLUSH_ASYNC=1;"
    "SCR_FLUSH_TYPE=PTHREAD;SCR_PREFIX_SIZE=2;SCR_FETCH=0;";

class ScrBackEnd : public BackEnd {
 public:
  Outcome initialise(const Place& place) override {
    prefix_ = place.store + "/scr";
    if (Outcome made = make_directory(prefix_); !made) return made;
    if (Outcome made = make_directory(place.node + "/scr"); !made) return made;
    const std::string places = "SCR_JOB_ID=" + place.run + ";SCR_PREFIX=" + prefix_ + ";SCR_CNTL_BASE=" + place.node +
                               "/scr;SCR_CACHE_BASE=" + place.node + "/scr;";
    // SCR reads its parameters from the environment first.
    for (const std::string& setting : settings_of(kSettings + places + place.settings)) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) return failed("no value: " + setting);
      ::setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    return called(SCR_Init() == SCR_SUCCESS, "SCR_Init");
  }
  Outcome protect(std::vector<char>& memory) override {
    memory_ = &memory;
    return {};
  }
  Outcome checkpoint(int version) override {
    std::string name = name_of(version);
    if (SCR_Start_output(name.data(), SCR_FLAG_CHECKPOINT) != SCR_SUCCESS) return called(false, "SCR_Start_output");
    char routed[SCR_MAX_FILENAME];
    std::string why = "SCR_Route_file failed";
    const bool written = SCR_Route_file(file_of(version).c_str(), routed) == SCR_SUCCESS &&
                         bench::write_fresh_file(routed, *memory_, false, why) >= 0;
    const bool complete = SCR_Complete_output(written ? 1 : 0) == SCR_SUCCESS;
    if (!written) return failed(why);
    return called(complete, "SCR_Complete_output");
  }
  Outcome wait_for_store(int version) override {
#ifdef PERDURE_PEERS_SCR_FLUSHING
    const std::string name = name_of(version);
    for (int flushing = 1;;) {
      if (SCR_Flushing(name.c_str(), &flushing) != SCR_SUCCESS) return called(false, "SCR_Flushing");
      if (flushing == 0) return {};
      ::usleep(1000);  // as SCR itself waits
    }
#else
    static_cast<void>(version);
    return called(scr_flush_async_waitall(scr_cindex) == SCR_SUCCESS, "scr_flush_async_waitall");
#endif
  }
  bool syncs() const override { return true; }
  // SCR finds restorable checkpoints when it is initialised.
  Outcome prepare_restore(int version) override {
    if (SCR_Finalize() != SCR_SUCCESS) return called(false, "SCR_Finalize");
    if (SCR_Init() != SCR_SUCCESS) return called(false, "SCR_Init");
    int there = 0;
    char name[SCR_MAX_FILENAME] = {};
    if (SCR_Have_restart(&there, name) != SCR_SUCCESS) return called(false, "SCR_Have_restart");
    if (there == 1 && name == name_of(version)) return {};
    return failed("SCR would restart from \"" + std::string(name) + "\", not from " + name_of(version));
  }
  Outcome restore(int version) override {
    char name[SCR_MAX_FILENAME] = {}, routed[SCR_MAX_FILENAME];
    if (SCR_Start_restart(name) != SCR_SUCCESS) return called(false, "SCR_Start_restart");
    std::string why = "SCR_Route_file failed";
    const bool was_read =
        SCR_Route_file(file_of(version).c_str(), routed) == SCR_SUCCESS && read_file(routed, *memory_, why);
    const bool complete = SCR_Complete_restart(was_read ? 1 : 0) == SCR_SUCCESS;
    if (!was_read) return failed(why);
    return called(complete, "SCR_Complete_restart");
  }
  Outcome finish() override { return called(SCR_Finalize() == SCR_SUCCESS, "SCR_Finalize"); }

 private:
  std::string file_of(int version) const { return prefix_ + "/" + name_of(version) + "/rank." + std::to_string(rank_); }
  std::string prefix_;
  int rank_ = 0;
  std::vector<char>* memory_ = nullptr;
};

}  // namespace

std::unique_ptr<BackEnd> scr_back_end() { return std::make_unique<ScrBackEnd>(); }

}  // namespace perdure::peers_bench
