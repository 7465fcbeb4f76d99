#pragma once
// --help shows the options of a verb that has many under these topics.
namespace CLI {
class App;
}

namespace perdure::cli {

/// Gives the options of a verb their topics, unless they are few. Call it after all of them were added.
void sort_by_topic(CLI::App& verb);

}  // namespace perdure::cli
