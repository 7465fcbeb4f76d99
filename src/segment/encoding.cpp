#include "segment/encoding.hpp"

#include <algorithm>
#include <array>

namespace perdure::segment {
namespace {

// Stays in the second-level cache between reading and hashing.
constexpr std::size_t kBlockBytes = base::MiB / 2;

base::Status read_plain(const ByteSource& source, const ChunkEntry& chunk, base::ByteSpan plain, base::Hasher& hasher) {
  for (std::size_t done = 0; done < plain.size();) {
    const base::ByteSpan block = plain.subspan(done, std::min(kBlockBytes, plain.size() - done));
    PERDURE_CHECK(source.read(chunk.offset + done, block));
    hasher.update(block);
    done += block.size();
  }
  return {};
}

struct Known {
  const char* name;
  Decoder decoder;
};
/// By number. A new encoding has its line here.
constexpr std::array kEncodings{
    Known{"none", read_plain},
    Known{"zstd", nullptr},
    Known{"encrypted", nullptr},
};

}  // namespace

Decoder decoder_for(Encoding encoding) {
  const auto number = static_cast<std::uint32_t>(encoding);
  return number < kEncodings.size() ? kEncodings[number].decoder : nullptr;
}

base::Status check_decodable(const Piece& piece, std::size_t chunk_index, const std::string& object) {
  const Encoding encoding = piece.chunks[chunk_index].encoding;
  if (decoder_for(encoding) != nullptr) return {};
  const auto number = static_cast<std::uint32_t>(encoding);
  const std::string name = number < kEncodings.size() ? std::string(" (") + kEncodings[number].name + ")" : "";
  return base::fail(PERDURE_UNSUPPORTED, object,
                    "chunk " + std::to_string(chunk_index) + " of rank " + std::to_string(piece.rank) +
                        " has encoding " + std::to_string(number) + name + ", which this Perdure cannot decode",
                    "read it with the Perdure that wrote it, or a newer one");
}

}  // namespace perdure::segment
