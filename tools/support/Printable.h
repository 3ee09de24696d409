// Text of a model, as a terminal may show it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_SUPPORT_PRINTABLE_H
#define CONVOY_TOOLS_SUPPORT_PRINTABLE_H

#include <string>

namespace convoy::tools {

/// Names come from files of strangers: what a terminal would obey (control characters, escape
/// sequences, also those that UTF-8 has a second form of) and what is no UTF-8 becomes \n or \x1b.
std::string printable(const std::string &text);
/// The same for a message of several lines, which stay.
std::string printableLines(const std::string &text);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_SUPPORT_PRINTABLE_H
