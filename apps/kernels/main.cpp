// Runs computational kernels in the spirit of the NAS Parallel Benchmarks, and a blast as in LULESH, to test Perdure's
// capture from outside. README.md describes each.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <new>
#include <sstream>

#include "run.hpp"

namespace {

using namespace kernels;

struct Arguments {
  const Description* kernel = nullptr;
  std::int64_t size = 0, iterations = 0;
  int threads = 1;
  std::string output;
  bool quiet = false, times = false;
};

double megabytes(const Description& kernel, std::int64_t size) { return kernel.bytes(static_cast<double>(size)) / 1e6; }

void add_kernel(CLI::App& app, const Description& kernel, Arguments& arguments) {
  CLI::App* sub = app.add_subcommand(kernel.name, kernel.what);
  const std::string usual = text("; %lld without this, which take %.1f MB", static_cast<long long>(kernel.usual_size),
                                 megabytes(kernel, kernel.usual_size));
  sub->add_option("--size", arguments.size, kernel.size + usual)
      ->check(CLI::Range(kernel.least_size, kernel.most_size));
  sub->add_option("--iterations", arguments.iterations,
                  "How many; " + std::to_string(kernel.usual_iterations) + " without this")
      ->check(CLI::PositiveNumber);
  sub->add_option("--threads", arguments.threads, "Threads; results are the same bits on any number of them")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sub->add_option("--output", arguments.output, "A file that all lines are written to as well");
  sub->add_flag("--quiet", arguments.quiet, "Standard output has only what was verified");
  sub->add_flag("--times", arguments.times, "Seconds of each iteration, which differ from run to run");
  sub->callback([&kernel, &arguments] {
    arguments.kernel = &kernel;
    if (arguments.size == 0) arguments.size = kernel.usual_size;
    if (arguments.iterations == 0) arguments.iterations = kernel.usual_iterations;
  });
}

// Returns -1 if the program goes on.
int parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app{"Computational kernels that know nothing of Perdure, and verify themselves.", "kernels"};
  app.require_subcommand(0, 1);
  for (const Description& kernel : all_kernels()) add_kernel(app, kernel, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream said, complained;
    const int status = app.exit(error, said, complained) == 0 ? 0 : 2;
    tell(stdout, said.str());
    tell(stderr, complained.str());
    return status;
  }
  if (arguments.kernel != nullptr) return -1;
  std::string names;
  for (const Description& kernel : all_kernels()) names += std::string(" ") + kernel.name;
  tell(stderr, "kernels: a kernel must be named, one of" + names + "\n");
  return 2;
}

int run_with(const Arguments& arguments, std::FILE* file) {
  const int threads = use_threads(arguments.threads);
  const Description& kernel = *arguments.kernel;
  const std::string begin = text("# %s: size %lld, %lld iterations, %d thread(s), %.1f MB\n", kernel.name,
                                 static_cast<long long>(arguments.size), static_cast<long long>(arguments.iterations),
                                 threads, megabytes(kernel, arguments.size));
  if (!arguments.quiet) tell(stdout, begin);
  tell(file, begin);
  const auto made = kernel.make(arguments.size);
  bool good = run_kernel(*made, {arguments.iterations, arguments.quiet, arguments.times, stdout, file});
  if (file != nullptr && std::ferror(file) != 0) {
    tell(stderr, "kernels: " + arguments.output + ": lines are missing in it\n");
    good = false;
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const int status = parse(argc, argv, arguments); status >= 0) return status;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  if (!arguments.output.empty()) file.reset(std::fopen(arguments.output.c_str(), "w"));
  if (!arguments.output.empty() && file == nullptr) {
    tell(stderr, "kernels: " + arguments.output + ": " + std::strerror(errno) + "\n");
    return 2;
  }
  try {
    return run_with(arguments, file.get());
  } catch (const WrongSize& wrong) {
    tell(stderr, std::string("kernels: --size: ") + wrong.what() + "\n");
    return 2;
  } catch (const std::bad_alloc&) {
    tell(stderr, "kernels: there is not enough memory for this size\n");
    return 1;
  }
}
