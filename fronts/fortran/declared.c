/* Translates arrays of the Fortran front to those of perdure.h. */
#include "declared.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/** Gives the letter of perdure.h for elements of one intrinsic type; 0: they are bytes to us. */
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

int perdure_fortran_type(const CFI_cdesc_t* region, char* text, size_t room) {
  const char letter = letter_of(region->type, region->elem_len);
  (void)snprintf(text, room, "%c%zu", letter != 0 ? letter : 'v', (size_t)region->elem_len);
  return letter != 0;
}

int perdure_fortran_dimensions(const CFI_cdesc_t* extents, const CFI_cdesc_t* first, const CFI_cdesc_t* ghosts,
                               int64_t numbers[3][most_dimensions]) {
  const int dimensions = perdure_fortran_numbers(extents, numbers[0]);
  const int widths = ghosts == NULL ? 0 : perdure_fortran_numbers(ghosts, numbers[2]);
  const int alike = perdure_fortran_numbers(first, numbers[1]) == dimensions && (widths == dimensions || widths == 0);
  return alike ? dimensions : -1;
}

static uint64_t number_at(const char** at) {
  uint64_t number = 0;
  while (isdigit((unsigned char)**at)) number = number * 10 + (uint64_t)(*(*at)++ - '0');
  return number;
}

/** Gives the bytes of "f8", or of "name:3f8" within braces; `at` is behind it afterwards. */
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

/** Gives the bytes of an element, for a text that the library takes. For others it is some number, and the library
 * reports the error. */
static uint64_t type_bytes(const char* text) {
  if (*text != '{') return member_bytes(&text);
  uint64_t bytes = 0;
  do {
    ++text;
    bytes += member_bytes(&text);
  } while (*text == ',');
  return bytes;
}

const char* perdure_fortran_array_refusal(int kind, const CFI_cdesc_t* part, const declared* says, char* why,
                                          size_t room) {
  const char* cause = perdure_fortran_refusal(part, kind == kind_global);
  if (cause != NULL) return cause;
  if (perdure_fortran_is_opaque(part) && *says->type == 0 && !says->bytes) return perdure_fortran_opaque;
  if (part->rank > most_dimensions) return "an array has at most 8 dimensions (invalid-argument)";
  if (kind == kind_list && part->rank == 0) return "a list has at least one dimension (invalid-argument)";
  if (kind == kind_global && says->dimensions != part->rank)
    return "extents, first and ghosts are not as many integers as the array has dimensions (invalid-argument)";
  const uint64_t bytes = *says->type == 0 ? 0 : type_bytes(says->type);
  if (bytes == 0 || bytes == part->elem_len) return NULL;
  (void)snprintf(why, room,
                 "its type has %" PRIu64
                 " bytes, its elements in memory have %zu (invalid-argument); "
                 "give room between members as in {id:i4,v4}",
                 bytes, (size_t)part->elem_len);
  return why;
}

void perdure_fortran_turn_box(const CFI_cdesc_t* part, const int64_t* first, turned* out) {
  for (int i = 0; i < part->rank; ++i) {
    const int d = part->rank - 1 - i;
    out->begin[d] = (uint64_t)first[i] - 1; /* 0 is beyond every array, and refused */
    out->end[d] = out->begin[d] + (uint64_t)part->dim[i].extent;
    out->strides[d] = part->dim[i].sm;
  }
  const perdure_box box = {part->base_addr, out->begin, out->end, out->strides};
  out->box = box;
  out->boxes = perdure_fortran_elements(part) > 0 ? 1 : 0;
}

void perdure_fortran_turn(int kind, const CFI_cdesc_t* part, const declared* says, turned* out) {
  (void)perdure_fortran_type(part, out->type, sizeof out->type);
  for (int i = 0; i < part->rank; ++i) {
    const int d = part->rank - 1 - i;
    out->extents[d] = (uint64_t)(kind == kind_global ? says->extents[i] : part->dim[i].extent);
    out->ghosts[d] = kind == kind_global ? (uint64_t)says->ghosts[i] : 0;
  }
  const perdure_array array = {says->name,  *says->type != 0 ? says->type : out->type,
                               part->rank,  out->extents,
                               out->ghosts, says->fill_ghosts,
                               says->unit,  says->description};
  out->array = array;
  out->address = perdure_fortran_elements(part) > 0 ? part->base_addr : NULL;
  if (kind == kind_global) perdure_fortran_turn_box(part, says->first, out);
}
