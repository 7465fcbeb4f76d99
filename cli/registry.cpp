// This table lists the verbs, in the order of the help page. A new one is a source file, and here its declaration and
// its row.
#include "cli/verb.hpp"

namespace perdure::cli {

Enrol enrol_run, enrol_ls, enrol_show, enrol_verify, enrol_prune, enrol_forget, enrol_halt, enrol_config, enrol_doctor;
Enrol enrol_rename, enrol_top;
Enrol enrol_metrics, enrol_calibrate, enrol_simulate;
#ifdef PERDURE_PROCESSES
Enrol enrol_capture, enrol_inspect, enrol_launch, enrol_resume;
#endif
Enrol enrol_cat, enrol_diff, enrol_export, enrol_import, enrol_plot, enrol_track;

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      {"run", "Launch a program, watch it, and launch it again after a failure", enrol_run},
      {"ls", "List the checkpoints in a store", enrol_ls},
      {"show", "Show everything about a checkpoint: segments, ranks, regions, chunks", enrol_show},
      {"cat", "Print or write the elements of a region of a checkpoint, or a part of them", enrol_cat},
      {"diff", "Compare the regions of two checkpoints element by element", enrol_diff},
      {"verify", "Read and verify every byte of a store or of one checkpoint", enrol_verify},
      {"export", "Write the arrays of a checkpoint as HDF5 or Zarr, for other programs", enrol_export},
      {"import", "Bring an HDF5 file into a store, as a version of a checkpoint", enrol_import},
      {"plot", "Show a plane of an array as a picture, or in the terminal", enrol_plot},
      {"track", "Show where a checkpoint of a program on a mesh is smallest, and what it has", enrol_track},
#ifdef PERDURE_PROCESSES
      {"launch", "Start a program so that it can be captured, and capture it on schedule", enrol_launch},
      {"capture", "Make a checkpoint of a running program from outside, with its threads", enrol_capture},
      {"resume", "Bring a captured program back: it goes on where it was", enrol_resume},
      {"inspect", "Show what a program, running or captured, consists of, and what is in the way", enrol_inspect},
#endif
      {"prune", "Retire old versions and remove what killed jobs left", enrol_prune},
      {"forget", "Make a checkpoint's name a first start again, on purpose", enrol_forget},
      {"rename", "Give a checkpoint another name, or mend one whose directory was renamed", enrol_rename},
      {"halt", "Ask the programs that write a checkpoint to make a last one and to end", enrol_halt},
      {"config", "Show the effective configuration and where each value came from", enrol_config},
      {"doctor", "Check whether this machine is fit for Perdure, and what to do if not", enrol_doctor},
      {"top", "Show what the engines on this machine hold, flush, decide and wait for", enrol_top},
      {"metrics", "Print or serve what the engines on this machine count, for Prometheus", enrol_metrics},
      {"calibrate", "Measure how fast this node's tiers take chunks, and store the model", enrol_calibrate},
      {"simulate", "Predict checkpoints of many nodes in virtual time, policies side by side", enrol_simulate},
  };
  return kVerbs;
}

}  // namespace perdure::cli
