// Steps that are added to the pipeline by linking this file, and nothing else.
#include "engine/host/noted_step_testing.hpp"
#include "os/system.hpp"

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
  {
    const std::lock_guard lock(mutex_);
    notes_.push_back({step, version});
  }
  changed_.notify_all();
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
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return notes_.size() >= count; });
}

namespace {

class NoteIt : public Step {
 public:
  explicit NoteIt(std::string name) : name_(std::move(name)) {}
  base::Status run(const StepVersion& version, const std::atomic<bool>& stopping) override {
    Notes::all().add(name_, version);
    while (name_ == "note-it" && Notes::all().blocks && !stopping) os::sleep_ns(1'000'000);
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
