/* Parts of arrays for the Fortran front: what their descriptors say, for perdure.h, whose dimensions go the other way
 * round. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "descriptor.h"

enum { kind_global = 0, kind_list = 1, kind_replicated = 2, most_dimensions = 8 };

/** What Fortran says beside the elements. Texts end with 0; "" is none. Numbers are in Fortran's order. */
typedef struct declared {
  const char *name, *unit, *description, *type;
  int dimensions; /* of extents, first and ghosts; of the elements themselves for lists and replicated ones */
  const int64_t *extents, *first;
  const int64_t* ghosts; /* all 0: none */
  int fill_ghosts;
} declared;

void perdure_fortran_protect_array(fortran_handle* handle, int kind, int id, const CFI_cdesc_t* part, const char* name,
                                   const char* unit, const char* description, const char* type, int dimensions,
                                   const int64_t* extents, const int64_t* first, const int64_t* ghosts, int fill_ghosts,
                                   int* status);

/** The letter of perdure.h for elements of one intrinsic type; 0: they are bytes to us. */
static char letter_of(CFI_type_t type, size_t bytes) {
  if (type == CFI_type_float || type == CFI_type_double) return 'f';
  if (type == CFI_type_float_Complex || type == CFI_type_double_Complex) return 'c';
  if (type == CFI_type_int8_t || type == CFI_type_int16_t || type == CFI_type_int32_t || type == CFI_type_int64_t)
    return 'i';
#ifdef CFI_type_Logical /* gfortran's; the standard has no name for logical but that of one byte */
  if ((type & CFI_type_mask) == CFI_type_Logical && bytes <= 8) return 'i';
#endif
  return type == CFI_type_Bool && bytes == 1 ? 'i' : 0;
}

static uint64_t number_at(const char** at) {
  uint64_t number = 0;
  while (isdigit((unsigned char)**at)) number = number * 10 + (uint64_t)(*(*at)++ - '0');
  return number;
}

/** Of "f8", or of "name:3f8" within braces; `at` is behind it afterwards. */
static uint64_t member_bytes(const char** at) {
  const char* end = *at;
  while (*end != ':' && *end != ',' && *end != '}' && *end != 0) ++end;
  uint64_t count = 1;
  if (*end == ':') {
    *at = end + 1;
    if (isdigit((unsigned char)**at)) count = number_at(at);
  }
  if (**at != 0) ++*at; /* the letter */
  return count * number_at(at);
}

/** Of a text as the library takes it; of others some number, and the library says what is wrong. */
static uint64_t type_bytes(const char* text) {
  if (*text != '{') return member_bytes(&text);
  uint64_t bytes = 0;
  do {
    ++text;
    bytes += member_bytes(&text);
  } while (*text == ',');
  return bytes;
}

/** Why the front refuses it, in `why`; NULL when it does not. */
static const char* refusal(int kind, const CFI_cdesc_t* part, const declared* says, char* why, size_t room) {
  const char* cause = perdure_fortran_refusal(part, kind == kind_global);
  if (cause != NULL) return cause;
  if (part->rank > most_dimensions) return "an array has at most 8 dimensions (invalid-argument)";
  if (kind == kind_list && part->rank == 0) return "a list has at least one dimension (invalid-argument)";
  if (kind == kind_global && says->dimensions != part->rank)
    return "extents, first and ghosts have not as many elements as the array has dimensions (invalid-argument)";
  const uint64_t bytes = *says->type == 0 ? 0 : type_bytes(says->type);
  if (bytes == 0 || bytes == part->elem_len) return NULL;
  (void)snprintf(why, room,
                 "its type has %" PRIu64
                 " bytes, its elements in memory have %zu (invalid-argument); "
                 "give room between members as in {id:i4,v4}",
                 bytes, (size_t)part->elem_len);
  return why;
}

static perdure_status protect_part(perdure_t* handle, int id, const perdure_array* array, const CFI_cdesc_t* part,
                                   const declared* says) {
  uint64_t begin[most_dimensions] = {0}, end[most_dimensions] = {0};
  int64_t strides[most_dimensions] = {0};
  for (int i = 0; i < part->rank; ++i) {
    const int d = part->rank - 1 - i;
    begin[d] = (uint64_t)says->first[i] - 1; /* 0 is beyond every array, and refused */
    end[d] = begin[d] + (uint64_t)part->dim[i].extent;
    strides[d] = part->dim[i].sm;
  }
  const perdure_box box = {part->base_addr, begin, end, strides};
  return perdure_protect_global(handle, id, array, &box, perdure_fortran_elements(part) > 0 ? 1 : 0);
}

static perdure_status protect_array(perdure_t* handle, int kind, int id, const CFI_cdesc_t* part,
                                    const declared* says) {
  char type[32];
  const char letter = letter_of(part->type, part->elem_len);
  (void)snprintf(type, sizeof type, "%c%zu", letter != 0 ? letter : 'v', (size_t)part->elem_len);
  uint64_t extents[most_dimensions] = {0}, ghosts[most_dimensions] = {0};
  for (int i = 0; i < part->rank; ++i) {
    const int d = part->rank - 1 - i;
    extents[d] = (uint64_t)(kind == kind_global ? says->extents[i] : part->dim[i].extent);
    if (kind == kind_global) ghosts[d] = (uint64_t)says->ghosts[i];
  }
  const perdure_array array = {says->name, *says->type != 0 ? says->type : type,
                               part->rank, extents,
                               ghosts,     says->fill_ghosts,
                               says->unit, says->description};
  void* address = perdure_fortran_elements(part) > 0 ? part->base_addr : NULL;
  if (kind == kind_list) return perdure_protect_list(handle, id, &array, address, extents[0]);
  if (kind == kind_replicated) return perdure_protect_replicated(handle, id, &array, address);
  return protect_part(handle, id, &array, part, says);
}

void perdure_fortran_protect_array(fortran_handle* handle, int kind, int id, const CFI_cdesc_t* part, const char* name,
                                   const char* unit, const char* description, const char* type, int dimensions,
                                   const int64_t* extents, const int64_t* first, const int64_t* ghosts, int fill_ghosts,
                                   int* status) {
  const declared says = {name, unit, description, type, dimensions, extents, first, ghosts, fill_ghosts};
  char why[256];
  if (perdure_fortran_refuse(handle, id, refusal(kind, part, &says, why, sizeof why)))
    *status = PERDURE_INVALID_ARGUMENT;
  else
    *status = (int)protect_array(handle->native, kind, id, part, &says);
}
