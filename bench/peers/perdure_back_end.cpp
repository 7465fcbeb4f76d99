// Runs Perdure with its defaults, except for the tiers: memory alone, as the other systems have it.
#include "perdure/perdure_mpi.h"
#include "systems.hpp"

namespace perdure::peers_bench {
namespace {

constexpr const char* kName = "peers";

class PerdureBackEnd : public BackEnd {
 public:
  Outcome initialise(const Place& place) override {
    char message[1024] = {};
    const std::string options = "job=" + place.run + ";store.path=" + place.store + ";node.path=" + place.node +
                                ";tier.order=memory;retention.keep_last=2;engine.idle_exit=1;" + place.settings;
    if (perdure_open_mpi(MPI_COMM_WORLD, options.c_str(), &handle_, message, sizeof message) == PERDURE_OK) return {};
    return failed(std::string("perdure_open_mpi: ") + message);
  }
  Outcome protect(std::vector<char>& memory) override {
    return done(perdure_protect(handle_, 1, memory.data(), 1, memory.size()), "perdure_protect");
  }
  Outcome checkpoint(int version) override {
    return done(perdure_checkpoint(handle_, kName, version), "perdure_checkpoint");
  }
  Outcome wait_for_store(int version) override {
    return done(perdure_wait(handle_, kName, version, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "perdure_wait");
  }
  bool syncs() const override { return true; }
  Outcome restore(int version) override { return done(perdure_restore(handle_, kName, version), "perdure_restore"); }
  Outcome finish() override { return called(perdure_close(&handle_) == PERDURE_OK, "perdure_close"); }

 private:
  Outcome done(perdure_status status, const char* call) const {
    if (status == PERDURE_OK) return {};
    return failed(std::string(call) + ": " + perdure_error_text(handle_));
  }
  perdure_t* handle_ = nullptr;
};

}  // namespace

std::unique_ptr<BackEnd> perdure_back_end() { return std::make_unique<PerdureBackEnd>(); }

}  // namespace perdure::peers_bench
