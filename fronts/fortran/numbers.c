/* Reads integers of any kind that Fortran hands over, and communicators of either of MPI's modules. */
#include "descriptor.h"

int perdure_fortran_communicator(const CFI_cdesc_t* given, int* communicator);

static int is_integer(const CFI_cdesc_t* given) {
  return given->type == CFI_type_int8_t || given->type == CFI_type_int16_t || given->type == CFI_type_int32_t ||
         given->type == CFI_type_int64_t;
}

static int64_t integer_at(const char* address, size_t bytes) {
  if (bytes == 1) return *(const int8_t*)address;
  if (bytes == 2) return *(const int16_t*)address;
  return bytes == 4 ? (int64_t) * (const int32_t*)address : *(const int64_t*)address;
}

int perdure_fortran_numbers(const CFI_cdesc_t* given, int64_t* numbers) {
  if (given->rank != 1 || !is_integer(given) || given->dim[0].extent > most_dimensions) return -1;
  const int count = (int)given->dim[0].extent;
  for (int i = 0; i < count; ++i)
    numbers[i] = integer_at((const char*)given->base_addr + i * given->dim[0].sm, given->elem_len);
  return count;
}

/* type(MPI_Comm) has the integer and nothing else. */
int perdure_fortran_communicator(const CFI_cdesc_t* given, int* communicator) {
  if (given->rank != 0 || given->elem_len != sizeof(int) || given->base_addr == NULL ||
      (!is_integer(given) && !perdure_fortran_is_opaque(given)))
    return 0;
  *communicator = *(const int*)given->base_addr;
  return 1;
}
