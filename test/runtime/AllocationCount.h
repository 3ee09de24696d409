// Counts calls of malloc and its relatives by the whole process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CONVOY_TEST_RUNTIME_ALLOCATIONCOUNT_H
#define CONVOY_TEST_RUNTIME_ALLOCATIONCOUNT_H

namespace convoy::test {

void startCountingAllocations();
/// Allocations and releases since then, on all threads.
long stopCountingAllocations();

} // namespace convoy::test

#endif // CONVOY_TEST_RUNTIME_ALLOCATIONCOUNT_H
