#pragma once
// Makes one checkpoint with a copy on the buddy node, as DEEP-ER's cpex does (D5.4, 3.2.2): write, exchange, write the
// buddy's.
#include <array>

#include "file_pattern.hpp"

namespace perdure::micro {

enum class ExchangeMode {
  partner,      ///< write, read again, exchange all, write all: as SCR does
  sequential,   ///< (a) write, exchange all from memory, write all
  interleaved,  ///< (b) write, then alternate exchange and write, chunk by chunk
  overlapped    ///< (c) write in a thread beside (b)'s exchange and write
};
inline constexpr std::array kExchangeModes{ExchangeMode::partner, ExchangeMode::sequential, ExchangeMode::interleaved,
                                           ExchangeMode::overlapped};
const char* name_of(ExchangeMode mode);
/// Whether the chunk size matters.
bool by_chunks(ExchangeMode mode);

/// Seconds of this rank in each operation; in overlapped mode `write` runs beside the others.
struct OperationTimes {
  double write = 0, read = 0, exchange = 0, copy = 0;
};
inline constexpr std::array kOperations{&OperationTimes::write, &OperationTimes::read, &OperationTimes::exchange,
                                        &OperationTimes::copy};
inline constexpr std::array kOperationNames{"write", "read", "exchange", "copy"};

/// Runs one rank's part.
class Exchange {
 public:
  struct Buddies {
    int to = 0, from = 0;  ///< ranks
  };
  Exchange(ExchangeMode mode, std::uint64_t chunk_bytes, Buddies buddies, const std::string& directory,
           const std::vector<char>& data);
  /// Only the calling thread calls MPI, and it does so even if a file operation fails. [collective]
  base::Status once(OperationTimes& times);
  /// Checks that the copy is the buddy's data.
  base::Status verify_copy(const std::vector<char>& of_buddy) const { return verify(copy_, of_buddy); }
  /// Removes both files.
  base::Status remove() const;

 private:
  base::Status write_local(OperationTimes& times) const;
  base::Status reread(OperationTimes& times);
  base::Status exchange_and_copy(OperationTimes& times);
  void send_and_receive(const char* sent, std::uint64_t bytes);

  ExchangeMode mode_;
  std::uint64_t chunk_bytes_;
  Buddies buddies_;
  Target local_, copy_;
  const std::vector<char>& data_;
  std::vector<char> reread_, received_;
};

}  // namespace perdure::micro
