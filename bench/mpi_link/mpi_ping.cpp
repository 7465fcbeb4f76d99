// mpi_ping pingpong|pingping|linktest measures latency and bandwidth of MPI messages, and fits the linear model of
// D5.4, 3.2.1.1.
#include <limits>

#include "link_sweep.hpp"

namespace {

using namespace perdure;
using namespace perdure::mpi_link;

struct Arguments {
  LinkSweep sweep;
  int peer = 0;  ///< of rank 0; 0: the last rank
  bool serial = false;
};

CLI::App* add_benchmark(CLI::App& app, Arguments& arguments, const char* name, const char* what) {
  LinkSweep& sweep = arguments.sweep;
  CLI::App* one = app.add_subcommand(name, what);
  micro::add_common_options(*one, sweep.common);
  one->add_option("--iterations", sweep.iterations, "messages of one repetition, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  one->add_option("--volume", sweep.volume_bytes, "bytes of one repetition, at most; at least one message")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  one->add_option("--mtu", sweep.mtu_bytes, "bytes that the latency covers, as in the paper's model")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  return one;
}

void add_benchmarks(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(1);
  for (const auto& [name, what] : {std::pair{"pingpong", "one way, then the other, between rank 0 and a peer"},
                                   std::pair{"pingping", "both ways at the same time, between rank 0 and a peer"}})
    add_benchmark(app, arguments, name, what)
        ->add_option("--peer", arguments.peer, "a rank; default: the last one")
        ->check(CLI::PositiveNumber);
  add_benchmark(app, arguments, "linktest", "ping-pong of all pairs, as many at a time as can be")
      ->add_flag("--serial", arguments.serial, "one pair at a time");
}

// Derives the remaining settings from the command line.
base::Status complete(Arguments& arguments, const std::string& benchmark, int ranks) {
  LinkSweep& sweep = arguments.sweep;
  if (ranks < 2)
    return base::fail(PERDURE_INVALID_ARGUMENT, benchmark, "a rank alone has no link",
                      "start more ranks (mpirun -n 2)");
  if (sweep.common.max_bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    return base::fail(PERDURE_INVALID_ARGUMENT, "--max " + std::to_string(sweep.common.max_bytes),
                      "an MPI message holds less than 2 GiB", "choose a smaller one");
  if (arguments.peer >= ranks)
    return base::fail(PERDURE_INVALID_ARGUMENT, "--peer " + std::to_string(arguments.peer),
                      "there are only " + std::to_string(ranks) + " ranks, counted from 0", "choose one of them");
  sweep.benchmark = benchmark;
  sweep.pattern = benchmark == "pingping" ? Pattern::pingping : Pattern::pingpong;
  sweep.mode = "mpi";
  if (benchmark == "linktest") {
    sweep.mode = arguments.serial ? "mpi serial" : "mpi parallel";
    sweep.rounds = arguments.serial ? serial_rounds(ranks) : parallel_rounds(ranks);
  } else {
    sweep.rounds = {{{0, arguments.peer > 0 ? arguments.peer : ranks - 1}}};
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const micro::World world(argc, argv);
  Arguments arguments;
  LinkSweep& sweep = arguments.sweep;
  sweep.common.max_bytes = 4U << 20;
  CLI::App app{"Latency and bandwidth of messages over MPI"};
  add_benchmarks(app, arguments);
  if (const auto code = micro::parse(app, argc, argv, world.rank(), sweep.common)) return *code;
  const std::string benchmark = app.get_subcommands().front()->get_name();
  base::Status status = complete(arguments, benchmark, world.size());
  micro::Results results(benchmark, {{"ranks", world.size()},
                                     {"repetitions", sweep.common.repetitions},
                                     {"iterations", sweep.iterations},
                                     {"mtu_bytes", sweep.mtu_bytes}});
  if (status) status = measure(sweep, world, results);
  return micro::finish(world, sweep.common, status, results);
}
