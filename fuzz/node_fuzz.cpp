// Fuzzes the note of an engine directory's owner with any text.
#include "node/job_note.hpp"
#include "target.hpp"

namespace perdure::fuzz {

/// An accepted note must survive writing and reading.
void run_one(base::ConstByteSpan input) {
  const auto note = node::decode_job_note(std::string(text_of(input)), "engine.job");
  if (!note) return;
  const auto again = node::decode_job_note(node::encode(*note), "engine.job");
  require(again && *again == *note);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  for (const node::JobNote& note :
       {node::JobNote{"job", "/store", "host"}, node::JobNote{"a \"b\"", "s3://x/y", "n#1"}}) {
    const auto text = node::encode(note);
    const auto bytes = base::as_bytes(text);
    list.emplace_back(bytes.begin(), bytes.end());
  }
  return list;
}

}  // namespace perdure::fuzz
