#include "campaign/people_model.hpp"

namespace perdure::campaign {
namespace {

std::string line_of(const char* what, const Call& call) {
  if (!call.done) return std::string(what) + " ended the program; ";
  const std::string status = perdure_status_name(static_cast<perdure_status>(call.status));
  return std::string(what) + " " + status + (call.version >= 0 ? " (" + std::to_string(call.version) + ")" : "") +
         (call.text.empty() ? "" : ": " + call.text) + "; ";
}

std::string line_of(const Heard& heard) {
  std::string line;
  if (heard.open && heard.open->status != PERDURE_OK) line += line_of("open", *heard.open);
  if (heard.restore) line += line_of("restore", *heard.restore);
  for (const SeenRegion& seen : heard.regions)
    line += std::to_string(seen.id) + (seen.restored ? "=" : ":") + std::to_string(seen.value) + " ";
  for (const Call& call : heard.checkpoints) line += line_of("checkpoint", call);
  if (heard.close) line += line_of("close", *heard.close);
  return line + "status " + std::to_string(heard.ended) + (heard.said.empty() ? "" : "\n" + heard.said);
}

}  // namespace

std::vector<Violation> carry_out(const People& people, PeopleDriver& driver, std::string* tell) {
  PeopleModel model(people);
  for (std::size_t number = 0; number < people.starts.size(); ++number) {
    const Heard heard = driver.start(people, number);
    auto violations = model.judge(number, heard);
    if (tell != nullptr) *tell += "  " + std::to_string(number + 1) + ": " + line_of(heard) + "\n";
    if (!violations.empty()) {
      if (tell != nullptr) *tell += "promised by then:\n" + model.text();
      return violations;
    }
    driver.after(people, number);
  }
  return {};
}

}  // namespace perdure::campaign
