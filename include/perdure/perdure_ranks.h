/** @file
 * For programming models on top of perdure.h, and for groups of ranks that are not MPI's: ranks that come to one place
 * of a program together, or hear within a time that they do not. Programs call perdure_any() instead. */
#ifndef PERDURE_PERDURE_RANKS_H
#define PERDURE_PERDURE_RANKS_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As perdure_any(), of ranks that have to be at the same place. [collective] One exchange, as there.
 *  `mark` is a number that follows from the place, and `place` says where that is, in 150 characters. Where not all
 *  ranks bring the same mark, *any is -1 and all get PERDURE_MISMATCH, which names the places and the ranks at each;
 *  more exchanges are made then. PERDURE_TIMEOUT: some ranks have not come within `seconds`; the text names them, where
 *  the group's functions can tell. The handle is of no use afterwards. `seconds` 0 or less: as long as it takes. */
PERDURE_API perdure_status perdure_meet(perdure_t* handle, const char* place, uint64_t mark, double seconds, int here,
                                        int* any);

/** Within a function of a perdure_communicator: so many seconds it may wait for ranks that have not called it. 0: as
 *  long as it takes. [local] */
PERDURE_API double perdure_patience(void);
/** Within such a function, before it returns non-zero: those seconds are over, and `who` says which ranks have come and
 *  which have not, as perdure_came() does. [local] */
PERDURE_API void perdure_late(const char* who);
/** A text of ranks, cut to `text_bytes` with the final 0: "ranks 0 and 2-5 have come; rank 1 has not". [local]
 *  `came` has a byte for each of `ranks` ranks; 0: it has not. */
PERDURE_API void perdure_came(const unsigned char* came, size_t ranks, char* text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif /* PERDURE_PERDURE_RANKS_H */
