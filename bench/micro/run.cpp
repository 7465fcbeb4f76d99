#include "run.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "together.hpp"
#include "work_directory.hpp"

namespace perdure::micro {
namespace {

base::Status draw(const std::string& path, const std::string& svg) {
  PERDURE_TRY(const os::File file, os::File::open(path, os::Open::create));
  PERDURE_CHECK(file.truncate(0));
  return file.write(0, base::as_bytes(svg));
}

base::Status print(const Options& options, const Results& results) {
  const std::string text = options.json ? results.json().dump(2) + "\n" : options.csv ? results.csv() : results.table();
  std::fputs(text.c_str(), stdout);
  return options.svg.empty() ? base::Status{} : draw(options.svg, results.svg());
}

}  // namespace

int finish(const World& world, const Options& options, const base::Status& outcome, const Results& results) {
  base::Status whole = agree(outcome);
  while (!whole && Interruption::under_way()) ::pause();
  if (whole) whole = agree(world.rank() == 0 ? print(options, results) : base::Status{});
  if (!whole && world.rank() == 0) std::fprintf(stderr, "%s\n", whole.error().text().c_str());
  return whole ? 0 : 1;
}

void Progress::step() {
  ++done_;
  if (shown_) bench::show_progress(done_, steps_);
}

}  // namespace perdure::micro
