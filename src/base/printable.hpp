#pragma once
// Text that came from anywhere, such as a name on a disk, must neither drive the terminal that shows it nor pretend to
// be other text there.
#include <string>
#include <string_view>

namespace perdure::base {

/// `text` with a '?' in place of each control character (of C0 with the new line, DEL, of C1), of each that changes the
/// direction or the line of what follows (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069), and of each byte
/// that is not UTF-8.
std::string printable(std::string_view text);
/// The same for every line: new lines stay.
std::string printable_lines(std::string_view text);
/// As XML text or the value of an attribute; a blank in place of each control character, of which XML knows none.
std::string xml_text(std::string_view text);

}  // namespace perdure::base
