// Runs FTI without separate processes ("head = 0"): each checkpoint has the level that its call asks for, inside the
// call. A checkpoint has level 1, in the node's memory; another call, of level 4, stores the data. FTI keeps only one
// checkpoint, so a restore from the node needs another one of level 1 before.
#include <fti.h>
#include <mpi.h>

#include "systems.hpp"

namespace perdure::peers_bench {
namespace {

constexpr int kNode = 1, kStore = 4;

class FtiBackEnd : public BackEnd {
 public:
  Outcome initialise(const Place& place) override {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string local = place.node + "/fti", global = place.store + "/fti", meta = place.store + "/fti-meta";
    for (const std::string& path : {local, global, meta})
      if (Outcome made = make_directory(path); !made) return made;
    const std::string configuration = place.node + "/config.fti";
    if (Outcome written = write_configuration(configuration, text(ranks, local, global, meta)); !written)
      return written;
    std::string path = configuration;  // older releases take constant text as char*
    return called(FTI_Init(path.data(), MPI_COMM_WORLD) == FTI_SCES, "FTI_Init");
  }
  Outcome protect(std::vector<char>& memory) override {
    // Some releases count in 32 bits.
    if (memory.size() > 0x7fffffffU) return failed("FTI takes less than 2 GiB in one region");
    const int bytes = static_cast<int>(memory.size());
    return called(FTI_Protect(0, memory.data(), bytes, FTI_CHAR) == FTI_SCES, "FTI_Protect");
  }
  Outcome checkpoint(int) override { return checkpoint_at(kNode); }
  Outcome wait_for_store(int) override { return checkpoint_at(kStore); }
  bool syncs() const override { return false; }  // newer releases do; it is documented for none
  Outcome prepare_restore(int) override { return checkpoint_at(kNode); }
  Outcome restore(int) override { return called(FTI_Recover() == FTI_SCES, "FTI_Recover"); }
  Outcome finish() override { return called(FTI_Finalize() == FTI_SCES, "FTI_Finalize"); }

 private:
  static std::string text(int ranks, const std::string& local, const std::string& global, const std::string& meta) {
    return "[Basic]\nhead = 0\nnode_size = " + std::to_string(ranks) + "\nckpt_dir = " + local +
           "\nglbl_dir = " + global + "\nmeta_dir = " + meta +
           // The program never calls FTI_Snapshot, which uses these intervals; levels 2 and 3 need several nodes.
           "\nckpt_l1 = 0\nckpt_l2 = 0\nckpt_l3 = 0\nckpt_l4 = 0\ninline_l2 = 1\ninline_l3 = 1\ninline_l4 = 1\n"
           "keep_last_ckpt = 0\ngroup_size = 1\nmax_sync_intv = 0\nckpt_io = 1\nverbosity = 3\n"
           "[Restart]\nfailure = 0\nexec_id = NULL\n"
           "[Injection]\nrank = 0\nnumber = 0\nposition = 0\nfrequency = 0\n"
           // Older releases have one tag, newer ones four.
           "[Advanced]\nblock_size = 1024\ntransfer_size = 16\nmpi_tag = 2612\ngeneral_tag = 2612\nckpt_tag = 711\n"
           "stage_tag = 406\nfinal_tag = 3107\nlocal_test = 1\n";
  }
  Outcome checkpoint_at(int level) { return called(FTI_Checkpoint(++number_, level) == FTI_DONE, "FTI_Checkpoint"); }
  int number_ = 0;
};

}  // namespace

std::unique_ptr<BackEnd> fti_back_end() { return std::make_unique<FtiBackEnd>(); }

}  // namespace perdure::peers_bench
