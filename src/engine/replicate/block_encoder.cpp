#include "engine/replicate/block_encoder.hpp"

#include <algorithm>

#include "redundancy/block_map.hpp"

namespace perdure::engine {

std::vector<BlockEncoder::Input> BlockEncoder::open(const EncodingTask& task, bool copy) const {
  std::vector<Input> inputs(task.sources.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].source = &task.sources[i];
    inputs[i].hashed = !task.hash && (!copy || task.sources[i].length != task.length);
    if (reader_.view) inputs[i].view = reader_.view(task.sources[i]);
    if (inputs[i].view && inputs[i].view->bytes.size() < task.sources[i].length) inputs[i].view.reset();
    if (!inputs[i].view) inputs[i].buffer.resize(std::min<std::uint64_t>(kReadAheadBytes, task.sources[i].length));
  }
  return inputs;
}

// The bytes of a view may change between the hash and the sum. That requires a write to a pinned slot, which is a
// defect. The parity would then fail when it is used, since a block rebuilt from it has a hash, too.
base::Result<base::ConstByteSpan> BlockEncoder::next_part(Input& input, std::uint64_t offset, std::size_t bytes) const {
  const std::uint64_t length = input.source->length;
  if (offset >= length) return base::ConstByteSpan();
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, length - offset));
  base::ConstByteSpan part;
  if (input.view) {
    part = input.view->bytes.subspan(offset, size);
  } else {
    if (offset >= input.buffer_begin + input.buffered) {
      input.buffer_begin = offset;
      input.buffered = static_cast<std::size_t>(std::min<std::uint64_t>(input.buffer.size(), length - offset));
      PERDURE_CHECK(reader_.read(*input.source, offset, base::ByteSpan(input.buffer).first(input.buffered)));
    }
    part = base::ConstByteSpan(input.buffer).subspan(offset - input.buffer_begin, size);
  }
  if (input.hashed) input.hasher.update(part);
  return part;
}

base::Status BlockEncoder::check(const std::vector<Input>& inputs, const base::Hash128& result,
                                 std::optional<redundancy::Block>* bad) {
  for (const Input& input : inputs) {
    if ((input.hashed ? input.hasher.digest() : result) == input.source->hash) continue;
    const auto block = input.source->block;
    if (bad != nullptr) *bad = block;
    return base::fail(PERDURE_CORRUPT,
                      "block " + std::to_string(block.number) + " of position " + std::to_string(block.position),
                      "it does not match its hash");
  }
  return {};
}

base::Status BlockEncoder::find_culprit(const EncodingTask& task, std::optional<redundancy::Block>* bad) const {
  auto inputs = open(task, false);
  for (Input& input : inputs) {
    input.hashed = true;
    for (std::uint64_t offset = 0; offset < input.source->length; offset += kEncodePartBytes)
      PERDURE_CHECK(next_part(input, offset, kEncodePartBytes));
  }
  return check(inputs, {}, bad);
}

base::Status BlockEncoder::check_result(const EncodingTask& task, const base::Hash128& hash) {
  if (!task.hash || *task.hash == hash) return {};
  return base::fail(PERDURE_CORRUPT, "stripe " + std::to_string(task.name.stripe),
                    "what was rebuilt out of it does not match its hash");
}

// Makes one part of the result from the same part of every source. A copy needs no sum.
base::Status BlockEncoder::combine(const std::optional<redundancy::Combination>& sum, std::vector<Input>& inputs,
                                   std::uint64_t offset, Output& out) const {
  std::vector<base::ConstByteSpan> columns;
  for (Input& input : inputs) {
    PERDURE_TRY(const auto part, next_part(input, offset, kEncodePartBytes));
    columns.push_back(part);
  }
  if (offset >= out.length) return {};  // a longer source was read to its end for its hash
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kEncodePartBytes, out.length - offset));
  if (!sum) return slots_.write(out.slot, offset, columns[0].first(bytes), out.hasher);
  out.sum.resize(bytes);
  const base::ByteSpan target(out.sum);
  sum->apply(columns, std::span(&target, 1));
  return slots_.write(out.slot, offset, target, out.hasher);
}

base::Result<segment::ChunkEntry> BlockEncoder::encode(const EncodingTask& task, const tier::SlotAddress& slot,
                                                       std::optional<redundancy::Block>* bad) {
  if (task.sources.empty())
    return base::fail(PERDURE_INTERNAL, "stripe " + std::to_string(task.name.stripe), "a block is to be made of none");
  const bool copy = task.sources.size() == 1 && task.sources[0].factor == 1 && task.sources[0].length >= task.length;
  std::optional<redundancy::Combination> sum;
  if (!copy) {
    std::vector<redundancy::Symbol> factors;
    for (const auto& source : task.sources) factors.push_back(source.factor);
    sum = redundancy::sum_of(std::move(factors));
  }
  auto inputs = open(task, copy);
  std::uint64_t longest = task.length;
  for (const auto& input : inputs)
    if (input.hashed) longest = std::max(longest, input.source->length);
  PERDURE_CHECK(slots_.prepare(slot, task.length));
  Output out{slot, task.length, {}, {}};
  for (std::uint64_t offset = 0; offset < longest; offset += kEncodePartBytes)
    PERDURE_CHECK(combine(sum, inputs, offset, out));
  const base::Hash128 hash = out.hasher.digest();
  if (!task.hash) {
    PERDURE_CHECK(check(inputs, hash, bad));
  } else if (*task.hash != hash) {
    PERDURE_CHECK(find_culprit(task, bad));
  }
  PERDURE_CHECK(check_result(task, hash));
  return segment::ChunkEntry{slot.slot, task.length, hash, slot.tier};
}

}  // namespace perdure::engine
