#pragma once
// Makes text of any origin, such as a name on a disk, safe to print. It must neither drive the terminal nor pretend to
// be other text there.
#include <string>
#include <string_view>

namespace perdure::base {

/// Replaces by '?' in `text`:
/// - each control character: of C0 with the new line, DEL, of C1
/// - each that changes the direction or the line of what follows (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to
///   U+2069)
/// - each byte that is not UTF-8
std::string printable(std::string_view text);
/// Does the same, but keeps new lines.
std::string printable_lines(std::string_view text);
/// Escapes for XML text or an attribute's value. XML has no control characters: a blank replaces each.
std::string xml_text(std::string_view text);

}  // namespace perdure::base
