/* Does the part of the Fortran front that Fortran cannot express. It finds out where an array of any kind and rank
 * lies, and whether it is contiguous. It only looks at the descriptor, and never copies from it: the protected memory
 * is the caller's own. */
#include "descriptor.h"

#include <limits.h>
#include <stdio.h>

enum { most_regions = 32 };

void perdure_fortran_protect(fortran_handle* handle, const int* id, const CFI_cdesc_t* region, int* status,
                             const CFI_cdesc_t* bytes);
void perdure_fortran_protect_all(fortran_handle* handle, const int* first_id, int* status, const CFI_cdesc_t* r1,
                                 const CFI_cdesc_t* r2, const CFI_cdesc_t* r3, const CFI_cdesc_t* r4,
                                 const CFI_cdesc_t* r5, const CFI_cdesc_t* r6, const CFI_cdesc_t* r7,
                                 const CFI_cdesc_t* r8, const CFI_cdesc_t* r9, const CFI_cdesc_t* r10,
                                 const CFI_cdesc_t* r11, const CFI_cdesc_t* r12, const CFI_cdesc_t* r13,
                                 const CFI_cdesc_t* r14, const CFI_cdesc_t* r15, const CFI_cdesc_t* r16,
                                 const CFI_cdesc_t* r17, const CFI_cdesc_t* r18, const CFI_cdesc_t* r19,
                                 const CFI_cdesc_t* r20, const CFI_cdesc_t* r21, const CFI_cdesc_t* r22,
                                 const CFI_cdesc_t* r23, const CFI_cdesc_t* r24, const CFI_cdesc_t* r25,
                                 const CFI_cdesc_t* r26, const CFI_cdesc_t* r27, const CFI_cdesc_t* r28,
                                 const CFI_cdesc_t* r29, const CFI_cdesc_t* r30, const CFI_cdesc_t* r31,
                                 const CFI_cdesc_t* r32, const CFI_cdesc_t* bytes);

size_t perdure_fortran_elements(const CFI_cdesc_t* region) {
  size_t count = 1;
  for (CFI_rank_t i = 0; i < region->rank; ++i) count *= (size_t)region->dim[i].extent;
  return count;
}

/** An assumed-size dummy (a(*)) knows its address but not its end. */
static int has_unknown_size(const CFI_cdesc_t* region) {
  return region->rank > 0 && region->dim[region->rank - 1].extent < 0;
}

static int is_contiguous(const CFI_cdesc_t* region) {
  CFI_index_t expected = (CFI_index_t)region->elem_len;
  for (CFI_rank_t i = 0; i < region->rank; ++i) {
    /* The stride of a dimension of one element is never used, so it may be anything. */
    if (region->dim[i].extent != 1 && region->dim[i].sm != expected) return 0;
    expected *= region->dim[i].extent;
  }
  return 1;
}

const char* perdure_fortran_refusal(const CFI_cdesc_t* region, int with_gaps) {
  const size_t count = perdure_fortran_elements(region);
  if (region->base_addr == NULL && count != 0)
    return "it is not allocated or not associated (invalid-argument); allocate it first";
  if (has_unknown_size(region))
    return "the size of an assumed-size array is not known (invalid-argument); pass a section with bounds";
  if (count > 0 && !with_gaps && !is_contiguous(region))
    return "the array is not contiguous (invalid-argument); protect the whole array, or a contiguous part";
  return NULL;
}

int perdure_fortran_refuse(fortran_handle* handle, int id, const char* why) {
  handle->refused = why != NULL;
  handle->retryable = 0;
  if (why == NULL) return 0;
  (void)snprintf(handle->text, sizeof handle->text, "region %d: %s", id, why);
  return 1;
}

/** Describes its elements, and its shape, whose dimensions go the other way round there. */
static int describe(fortran_handle* handle, int id, const CFI_cdesc_t* region) {
  char type[32];
  uint64_t extents[CFI_MAX_RANK + 1] = {0};
  const int known = perdure_fortran_type(region, type, sizeof type);
  for (int i = 0; i < region->rank; ++i) extents[region->rank - 1 - i] = (uint64_t)region->dim[i].extent;
  return (int)perdure_describe_elements(handle->native, id, known ? type : NULL, region->rank,
                                        region->rank <= most_dimensions ? extents : NULL);
}

const char perdure_fortran_opaque[] =
    "it is of a derived type or an address, and the compiler does not say whether there are allocatable or pointer "
    "components, whose content would not be stored (invalid-argument); pass bytes=.true. where there are none";

/* Compilers tell derived types that interoperate with C from others, but gfortran does not. */
int perdure_fortran_is_opaque(const CFI_cdesc_t* region) {
#ifdef CFI_type_Logical
  if (region->type == CFI_type_struct) return 1;
#endif
  return region->type == CFI_type_other || region->type == CFI_type_cptr || region->type == CFI_type_cfunptr;
}

/** Reads a logical of any kind that may be absent. */
static int is_true(const CFI_cdesc_t* given) {
  if (given == NULL || given->base_addr == NULL) return 0;
  const char* byte = given->base_addr;
  for (size_t i = 0; i < given->elem_len; ++i)
    if (byte[i] != 0) return 1;
  return 0;
}

static const char* refusal(const CFI_cdesc_t* region, int bytes) {
  const char* why = perdure_fortran_refusal(region, 0);
  return why == NULL && !bytes && perdure_fortran_is_opaque(region) ? perdure_fortran_opaque : why;
}

static int protect_one(fortran_handle* handle, int id, const CFI_cdesc_t* region, int bytes) {
  if (perdure_fortran_refuse(handle, id, refusal(region, bytes))) return PERDURE_INVALID_ARGUMENT;
  const size_t count = perdure_fortran_elements(region);
  const perdure_status done =
      perdure_protect(handle->native, id, count > 0 ? region->base_addr : NULL, region->elem_len, count);
  return done == PERDURE_OK ? describe(handle, id, region) : (int)done;
}

void perdure_fortran_protect(fortran_handle* handle, const int* id, const CFI_cdesc_t* region, int* status,
                             const CFI_cdesc_t* bytes) {
  *status = protect_one(handle, *id, region, is_true(bytes));
}

/** Counts the regions, which must be the first ones. 0: they are not; the handle has the reason. */
static int region_count(fortran_handle* handle, int first_id, const CFI_cdesc_t* const* regions) {
  int count = 0, last = 0;
  for (int i = 0; i < most_regions; ++i)
    if (regions[i] != NULL) ++count, last = i + 1;
  handle->refused = 1;
  handle->retryable = 0;
  if (count == 0)
    (void)snprintf(handle->text, sizeof handle->text, "protect_all: nothing to protect was given (invalid-argument)");
  else if (count != last)
    (void)snprintf(handle->text, sizeof handle->text,
                   "protect_all: one before object %d is missing, or not allocated (invalid-argument)", last);
  else if (first_id > INT_MAX - count)
    (void)snprintf(handle->text, sizeof handle->text, "protect_all: ids from %d on exceed integers (invalid-argument)",
                   first_id);
  else
    handle->refused = 0;
  return handle->refused != 0 ? 0 : count;
}

/** Keeps the reason of the failure about object `index`, which the calls that undo it would replace. */
static void keep_reason(fortran_handle* handle, int index, int count, int id) {
  char reason[text_bytes];
  if (handle->refused == 0) handle->retryable = perdure_error_retryable(handle->native);
  (void)snprintf(reason, sizeof reason, "%s", handle->refused != 0 ? handle->text : perdure_error_text(handle->native));
  handle->refused = 1;
  (void)snprintf(handle->text, sizeof handle->text, "object %d of %d (id %d): %.900s", index + 1, count, id, reason);
}

static int protect_all(fortran_handle* handle, int first_id, const CFI_cdesc_t* const* regions, int bytes) {
  const int count = region_count(handle, first_id, regions);
  if (count == 0) return PERDURE_INVALID_ARGUMENT;
  /* First gives up the former regions of these ids, but keeps their descriptions: arrays may have swapped their memory.
   */
  for (int i = 0; i < count; ++i) (void)perdure_protect(handle->native, first_id + i, NULL, 1, 0);
  for (int i = 0; i < count; ++i) {
    const int status = protect_one(handle, first_id + i, regions[i], bytes);
    if (status == PERDURE_OK) continue;
    keep_reason(handle, i, count, first_id + i);
    for (int undone = 0; undone < count; ++undone) (void)perdure_unprotect(handle->native, first_id + undone);
    return status;
  }
  return PERDURE_OK;
}

void perdure_fortran_protect_all(fortran_handle* handle, const int* first_id, int* status, const CFI_cdesc_t* r1,
                                 const CFI_cdesc_t* r2, const CFI_cdesc_t* r3, const CFI_cdesc_t* r4,
                                 const CFI_cdesc_t* r5, const CFI_cdesc_t* r6, const CFI_cdesc_t* r7,
                                 const CFI_cdesc_t* r8, const CFI_cdesc_t* r9, const CFI_cdesc_t* r10,
                                 const CFI_cdesc_t* r11, const CFI_cdesc_t* r12, const CFI_cdesc_t* r13,
                                 const CFI_cdesc_t* r14, const CFI_cdesc_t* r15, const CFI_cdesc_t* r16,
                                 const CFI_cdesc_t* r17, const CFI_cdesc_t* r18, const CFI_cdesc_t* r19,
                                 const CFI_cdesc_t* r20, const CFI_cdesc_t* r21, const CFI_cdesc_t* r22,
                                 const CFI_cdesc_t* r23, const CFI_cdesc_t* r24, const CFI_cdesc_t* r25,
                                 const CFI_cdesc_t* r26, const CFI_cdesc_t* r27, const CFI_cdesc_t* r28,
                                 const CFI_cdesc_t* r29, const CFI_cdesc_t* r30, const CFI_cdesc_t* r31,
                                 const CFI_cdesc_t* r32, const CFI_cdesc_t* bytes) {
  const CFI_cdesc_t* const regions[most_regions] = {r1,  r2,  r3,  r4,  r5,  r6,  r7,  r8,  r9,  r10, r11,
                                                    r12, r13, r14, r15, r16, r17, r18, r19, r20, r21, r22,
                                                    r23, r24, r25, r26, r27, r28, r29, r30, r31, r32};
  *status = protect_all(handle, *first_id, regions, is_true(bytes));
}
