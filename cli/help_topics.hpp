#pragma once
// Topics of options, under which --help shows those of a verb that has many.
namespace CLI {
class App;
}

namespace perdure::cli {

/// Gives the options of a verb their topics, unless they are few. After all of them were added.
void sort_by_topic(CLI::App& verb);

}  // namespace perdure::cli
