// Adds steps to the pipeline merely because this file is linked.
#include "engine/host/noted_step_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::engine {

Notes& Notes::all() {
  static Notes notes;
  return notes;
}

void Notes::forget() {
  const std::lock_guard lock(mutex_);
  notes_.clear();
  fails = blocks = false;
}

void Notes::add(const std::string& step, const StepVersion& version) {
  const std::lock_guard lock(mutex_);
  notes_.push_back({step, version});
}

std::vector<Notes::Note> Notes::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::vector<std::uint64_t> Notes::versions_of(const std::string& step) const {
  std::vector<std::uint64_t> versions;
  for (const auto& note : notes())
    if (note.step == step) versions.push_back(note.version.id.version);
  return versions;
}

bool Notes::await(std::size_t count) {
  return test_support::eventually(std::to_string(count) + " notes are made", [&] { return notes().size() >= count; });
}

namespace {

class NoteIt : public Step {
 public:
  explicit NoteIt(std::string name) : name_(std::move(name)) {}
  base::Status run(const StepVersion& version, const std::atomic<bool>& stopping) override {
    Notes::all().add(name_, version);
    const auto blocks = [&] { return name_ == "note-it" && Notes::all().blocks && !stopping; };
    if (!test_support::eventually("the step may return", [&] { return !blocks(); }))
      return base::fail(PERDURE_TIMEOUT, "note", "it is held for too long");
    if (name_ == "note-it" && Notes::all().fails) return base::fail(PERDURE_IO, "mail", "nobody takes it");
    return {};
  }

 private:
  std::string name_;
};

StepRow note_row(const std::string& name, Level needs) {
  return {name, "writes down what it is told", needs, {}, [name](const StepContext&) {
            return base::Result<std::unique_ptr<Step>>(std::make_unique<NoteIt>(name));
          }};
}

const StepRegistration kNoteIt(note_row("note-it", Level::store)), kLookFirst(note_row("look-first", Level::process)),
    kSendCopies(note_row("send-copies", Level::node));

}  // namespace
}  // namespace perdure::engine
