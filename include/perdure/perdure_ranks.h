/** @file
 * This header serves programming models on top of perdure.h, and groups of ranks that are not MPI's. Ranks meet at one
 * place of a program, or hear within a time that they do not. Programs call perdure_any() instead. */
#ifndef PERDURE_PERDURE_RANKS_H
#define PERDURE_PERDURE_RANKS_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Does what perdure_any() does, for ranks that have to be at the same place. [collective] Costs one exchange, as
 * there. `mark` is a number that follows from the place, and `place` describes it in at most 150 characters. If the
 * marks differ, *any is -1 and all ranks get PERDURE_MISMATCH, which names the places and the ranks at each. That case
 * needs more exchanges. PERDURE_TIMEOUT: some ranks have not come within `seconds`; the text names them if the group's
 * functions can tell. The handle cannot be used afterwards. `seconds` 0 or less: waits as long as it takes. */
PERDURE_API perdure_status perdure_meet(perdure_t* handle, const char* place, uint64_t mark, double seconds, int here,
                                        int* any);

/** Tells a function of a perdure_communicator how many seconds it may wait for ranks that have not called it. 0: as
 * long as it takes. [local] */
PERDURE_API double perdure_patience(void);
/** Reports, from within such a function and before it returns non-zero, that those seconds are over. [local] `who` says
 * which ranks have come and which have not, as perdure_came() writes it. */
PERDURE_API void perdure_late(const char* who);
/** Writes ranks as a text, cut to `text_bytes` with the final 0: "ranks 0 and 2-5 have come; rank 1 has not". [local]
 * `came` has a byte for each of `ranks` ranks; 0: it has not come. */
PERDURE_API void perdure_came(const unsigned char* came, size_t ranks, char* text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif /* PERDURE_PERDURE_RANKS_H */
