// Runs VeloC: memory-based checkpoints, transferred by its active backend, a process that VELOC_Init starts. It
// outlives the program and keeps its first configuration, so bench/peers/run ends it after each run.
#include <veloc.h>

#include <cstdlib>

#include "systems.hpp"

namespace perdure::peers_bench {
namespace {

constexpr const char* kName = "peers";

class VelocBackEnd : public BackEnd {
 public:
  Outcome initialise(const Place& place) override {
#ifdef PERDURE_PEERS_VELOC_BIN
    ::setenv("VELOC_BIN", PERDURE_PEERS_VELOC_BIN, 0);  // where CMake found it; the user's setting has priority
#endif
    const std::string scratch = place.node + "/veloc", persistent = place.store + "/veloc", meta = persistent + "-meta";
    for (const std::string& path : {scratch, persistent, meta})
      if (Outcome made = make_directory(path); !made) return made;
    // `mode` is mandatory in older releases. Erasure coding needs several nodes; checksums of `chksum` are stored in
    // meta.
    std::string text = "scratch = " + scratch + "\npersistent = " + persistent + "\nmeta = " + meta +
                       "\nmode = async\nscratch_versions = 2\nmax_versions = 2\nec_interval = -1\n";
    for (const std::string& setting : settings_of(place.settings)) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) return failed("no value: " + setting);
      text += setting.substr(0, equals) + " = " + setting.substr(equals + 1) + "\n";
    }
    const std::string configuration = place.node + "/veloc.cfg";
    if (Outcome written = write_configuration(configuration, text); !written) return written;
    return called(VELOC_Init(MPI_COMM_WORLD, configuration.c_str()) == VELOC_SUCCESS, "VELOC_Init");
  }
  Outcome protect(std::vector<char>& memory) override {
    return called(VELOC_Mem_protect(0, memory.data(), memory.size(), 1) == VELOC_SUCCESS, "VELOC_Mem_protect");
  }
  Outcome checkpoint(int version) override {
    if (VELOC_Checkpoint_begin(kName, version) != VELOC_SUCCESS) return called(false, "VELOC_Checkpoint_begin");
    const bool written = VELOC_Checkpoint_mem() == VELOC_SUCCESS;
    const bool ended = VELOC_Checkpoint_end(written ? 1 : 0) == VELOC_SUCCESS;
    return called(written && ended, written ? "VELOC_Checkpoint_end" : "VELOC_Checkpoint_mem");
  }
  Outcome wait_for_store(int) override {
    return called(VELOC_Checkpoint_wait() == VELOC_SUCCESS, "VELOC_Checkpoint_wait");
  }
  bool syncs() const override { return false; }
  Outcome restore(int version) override {
    return called(VELOC_Restart(kName, version) == VELOC_SUCCESS, "VELOC_Restart");
  }
  Outcome finish() override { return called(VELOC_Finalize(0) == VELOC_SUCCESS, "VELOC_Finalize"); }
};

}  // namespace

std::unique_ptr<BackEnd> veloc_back_end() { return std::make_unique<VelocBackEnd>(); }

}  // namespace perdure::peers_bench
