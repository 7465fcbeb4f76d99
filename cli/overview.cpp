#include "cli/overview.hpp"

#include <algorithm>
#include <vector>

#include "cli/verb.hpp"

namespace perdure::cli {
namespace {

struct Chapter {
  const char* title;
  std::vector<const char*> verbs;
};

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> kChapters = {
      {"Run a program", {"run", "halt"}},
      {"Look at checkpoints", {"ls", "show", "cat", "diff", "plot", "verify", "track"}},
      {"Keep, give up and hand on checkpoints", {"prune", "forget", "rename", "export", "import"}},
      {"Capture a program that knows nothing of Perdure", {"launch", "capture", "resume", "inspect"}},
      {"Look at this machine and its engines", {"doctor", "top", "metrics", "config"}},
      {"Measure and predict", {"calibrate", "simulate"}},
  };
  return kChapters;
}

std::string line_of(const Verb& verb) {
  std::string name = verb.name;
  name.resize(std::max<std::size_t>(11, name.size() + 2), ' ');
  return "  " + name + verb.summary + "\n";
}

/// A verb that no chapter names stands in one of its own.
std::string verbs_text() {
  std::string text;
  std::vector<const Verb*> left;
  for (const Verb& verb : verbs()) left.push_back(&verb);
  for (const Chapter& chapter : chapters()) {
    text += std::string("\n") + chapter.title + "\n";
    for (const std::string name : chapter.verbs) {
      const auto it = std::find_if(left.begin(), left.end(), [&](const Verb* verb) { return name == verb->name; });
      if (it == left.end()) continue;
      text += line_of(**it);
      left.erase(it);
    }
  }
  if (!left.empty()) text += "\nMore\n";
  for (const Verb* verb : left) text += line_of(*verb);
  return text;
}

}  // namespace

std::string overview() {
  return "Perdure keeps the state of a parallel program: checkpoints return as soon as they are on the node, go to\n"
         "the store in the background, and a program that failed goes on from the newest one.\n" +
         verbs_text() +
         "\nExamples, to be typed as they stand here:\n"
         "  perdure doctor --quick                            # is this machine fit for Perdure?\n"
         "  perdure run -- sh -c 'echo this is $PERDURE_JOB'  # launch a program, again after a failure\n"
         "  perdure simulate --nodes 1,16 --policy adaptive   # how long will checkpoints take on 16 nodes?\n"
         "\nRead on: perdure VERB --help; docs/tutorial.md (a program in ten minutes) and docs/command-line.md.\n";
}

}  // namespace perdure::cli
