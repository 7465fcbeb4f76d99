#include "engine_part.hpp"

#include <fmt/format.h>

#include "comparison.hpp"

namespace perdure::studies {

base::Result<EnginePart> run_engine_part(const Study& study, Context context, const EngineDriverOptions& options) {
  if (study.by_engine == nullptr)
    return base::fail(PERDURE_UNSUPPORTED, std::string("study ") + study.name, "the engine runs none of its cells",
                      "weak, strong and cache have such cells");
  const auto driver = engine_driver(options);
  context.driver = driver.get();
  context.oracle = false;  // an oracle of virtual time does not apply to this load
  if (!context.full) context.takes = study.by_engine;
  if (auto report = context.progress)
    context.progress = [report](const std::string& what) { report("engine, " + what); };
  EnginePart part;
  PERDURE_TRY(part.results, study.run(context));
  PERDURE_TRY(part.simulated, simulate_beside(context.node, part.results.rows));
  part.text = fmt::format(
      "By the real engine on emulated devices: {} runs, medians of {}. Sizes and throughputs divided by {}, a second "
      "took {} s.\nErrors are the simulator's, on the same scaled description:\n\n{}{}",
      part.results.rows.size(), context.repetitions, options.scale.size, options.scale.time,
      comparison_table(part.results.rows, part.simulated), errors_text(part.results.rows));
  return part;
}

std::vector<Row> all_rows(std::vector<Row> rows, const EnginePart& part) {
  rows.insert(rows.end(), part.results.rows.begin(), part.results.rows.end());
  rows.insert(rows.end(), part.simulated.begin(), part.simulated.end());
  return rows;
}

}  // namespace perdure::studies
