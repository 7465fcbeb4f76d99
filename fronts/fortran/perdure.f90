! Perdure for Fortran 2018: module perdure. The conventions, the meaning of every call and which are [collective] are
! those of perdure.h; every subroutine ends with the status (perdure_ok or what went wrong).
!
! Arrays of any kind and rank are protected where they lie, without copies; so are scalars. They must be contiguous, and
! they must not be moved or deallocated while protected. Declare them with the attribute `target` (restore writes them
! behind the compiler's back). Versions are integer(int64). What an allocatable or pointer component refers to is not
! part of a region.
module perdure
  use iso_c_binding
  use iso_fortran_env, only: int64, real64
  use perdure_c
  implicit none
  private

  integer, parameter, public :: perdure_ok = 0, perdure_invalid_argument = 1, perdure_not_found = 2, &
    perdure_exists = 3, perdure_mismatch = 4, perdure_corrupt = 5, perdure_no_space = 6, perdure_io = 7, &
    perdure_permission = 8, perdure_unavailable = 9, perdure_timeout = 10, perdure_closed = 11, &
    perdure_wrong_process = 12, &
    perdure_unsupported = 13, perdure_peer_failed = 14, perdure_busy = 15, perdure_internal = 16
  integer, parameter, public :: perdure_level_none = 0, perdure_level_process = 1, perdure_level_node = 2, &
    perdure_level_store = 3
  integer(int64), parameter, public :: perdure_latest_version = -1_int64
  real(real64), parameter, public :: perdure_forever = -1.0_real64

  !> An open Perdure; made by perdure_open, ended by perdure_close. Not to be copied.
  type, bind(c), public :: perdure_handle
    private
    type(c_ptr) :: native = c_null_ptr
    integer(c_int) :: refusal = 0, retryable = 0  ! of this module, see descriptor.c
    character(kind=c_char) :: reason(1024) = c_null_char
  end type

  !> perdure_progress of perdure.h.
  type, bind(c), public :: perdure_progress
    integer(c_int64_t) :: bytes_pending = 0, bytes_flushed = 0, versions_pending = 0, versions_failed = 0
    real(c_double) :: flush_bytes_per_s = 0, last_blocking_s = 0, last_flush_s = 0, last_restore_s = 0
    integer(c_int64_t) :: last_bytes = 0, restored_version = -1
    integer(c_int) :: restore_source = 0
  end type

  interface
    !> Registers an array or scalar as region `id`; again with the same id: re-protects. [local]
    subroutine perdure_protect(handle, id, region, status) bind(c, name="perdure_fortran_protect")
      import :: perdure_handle, c_int
      type(perdure_handle), intent(inout) :: handle
      integer(c_int), intent(in) :: id
      type(*), dimension(..), intent(inout), target :: region
      integer(c_int), intent(out) :: status
    end subroutine

    !> Registers 1 to 32 arrays and scalars in one call, each of its own kind and rank: r1 as region `first_id`, r2 as
    !> `first_id` + 1, and so on. [local] All or none: when one is refused, none of these ids is protected, and
    !> perdure_error_text names the id and the reason. What these ids stood for before is given up, so arrays may have
    !> moved or swapped their memory. Each must be allocated; one that is not is refused. (A compiler that takes an
    !> unallocated array as absent hides it where it is the last one; gfortran does not.)
    subroutine perdure_protect_all(handle, first_id, status, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, &
                                   r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, &
                                   r30, r31, r32) bind(c, name="perdure_fortran_protect_all")
      import :: perdure_handle, c_int
      type(perdure_handle), intent(inout) :: handle
      integer(c_int), intent(in) :: first_id
      integer(c_int), intent(out) :: status
      type(*), dimension(..), intent(inout), target, optional :: r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, &
        r13, r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, r30, r31, r32
    end subroutine
  end interface

  public :: perdure_open, perdure_protect, perdure_protect_all, perdure_unprotect, perdure_checkpoint, perdure_latest, &
            perdure_stored_size, perdure_restore, perdure_restore_regions, perdure_wait, perdure_level_reached, &
            perdure_get_progress, perdure_next_report, perdure_retire, perdure_close, perdure_error_text, &
            perdure_error_retryable, perdure_status_name, perdure_version, perdure_native

contains

  !> Opens for the ranks of `communicator` (MPI's integer; comm%mpi_val with mpi_f08), or without it for this process.
  subroutine perdure_open(handle, status, options, communicator, message)
    type(perdure_handle), intent(out) :: handle
    integer, intent(out) :: status
    character(*), intent(in), optional :: options
    integer, intent(in), optional :: communicator
    character(:), allocatable, intent(out), optional :: message
    character(:), allocatable :: settings
    character(kind=c_char) :: buffer(2048)
    settings = c_null_char
    if (present(options)) settings = trim(options)//c_null_char
    buffer(1) = c_null_char
    if (present(communicator)) then
      status = c_open_mpi(int(communicator, c_int), settings, handle%native, buffer, size(buffer, kind=c_size_t))
    else
      status = c_open(settings, handle%native, buffer, size(buffer, kind=c_size_t))
    end if
    if (present(message)) message = from_buffer(buffer)
  end subroutine

  subroutine perdure_unprotect(handle, id, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(in) :: id
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_unprotect(handle%native, int(id, c_int))
  end subroutine

  subroutine perdure_checkpoint(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_checkpoint(handle%native, trim(name)//c_null_char, version)
  end subroutine

  subroutine perdure_latest(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(out) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    version = perdure_latest_version
    status = c_latest(handle%native, trim(name)//c_null_char, version)
  end subroutine

  !> The size of this rank's region before restoring it: bytes per element, and elements in all dimensions together.
  subroutine perdure_stored_size(handle, name, version, id, element_bytes, count, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: id
    integer(int64), intent(out) :: element_bytes, count
    integer, intent(out) :: status
    integer(c_int64_t) :: both(2)
    handle%refusal = 0
    both = 0
    status = c_stored_size(handle%native, trim(name)//c_null_char, version, int(id, c_int), both)
    element_bytes = both(1)
    count = both(2)
  end subroutine

  subroutine perdure_restore(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_restore(handle%native, trim(name)//c_null_char, version)
  end subroutine

  subroutine perdure_restore_regions(handle, name, version, ids, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: ids(:)
    integer, intent(out) :: status
    integer(c_int) :: list(size(ids) + 1)
    handle%refusal = 0
    list(:size(ids)) = int(ids, c_int)
    status = c_restore_regions(handle%native, trim(name)//c_null_char, version, list, size(ids, kind=c_size_t))
  end subroutine

  subroutine perdure_wait(handle, name, version, level, timeout_s, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(in) :: level
    real(real64), intent(in) :: timeout_s
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_wait(handle%native, trim(name)//c_null_char, version, int(level, c_int), timeout_s)
  end subroutine

  subroutine perdure_level_reached(handle, name, version, level, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: level, status
    handle%refusal = 0
    level = perdure_level_none
    status = c_level_reached(handle%native, trim(name)//c_null_char, version, level)
  end subroutine

  subroutine perdure_get_progress(handle, progress, status)
    type(perdure_handle), intent(inout) :: handle
    type(perdure_progress), intent(out), target :: progress
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_get_progress(handle%native, c_loc(progress))
  end subroutine

  !> perdure_not_found and "" when there is none.
  subroutine perdure_next_report(handle, text, status)
    type(perdure_handle), intent(inout) :: handle
    character(:), allocatable, intent(out) :: text
    integer, intent(out) :: status
    character(kind=c_char) :: buffer(4096)
    handle%refusal = 0
    buffer(1) = c_null_char
    status = c_next_report(handle%native, buffer, size(buffer, kind=c_size_t))
    text = from_buffer(buffer)
  end subroutine

  subroutine perdure_retire(handle, name, version, status)
    type(perdure_handle), intent(inout) :: handle
    character(*), intent(in) :: name
    integer(int64), intent(in) :: version
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_retire(handle%native, trim(name)//c_null_char, version)
  end subroutine

  subroutine perdure_close(handle, status)
    type(perdure_handle), intent(inout) :: handle
    integer, intent(out) :: status
    handle%refusal = 0
    status = c_close(handle%native)
    handle%native = c_null_ptr
  end subroutine

  !> The text of the last failure on this handle; "" when there was none.
  function perdure_error_text(handle) result(text)
    type(perdure_handle), intent(in) :: handle
    character(:), allocatable :: text
    if (handle%refusal == 0) then
      text = from_c(c_error_text(handle%native))
    else
      text = from_buffer(handle%reason)
    end if
  end function

  logical function perdure_error_retryable(handle) result(retryable)
    type(perdure_handle), intent(in) :: handle
    if (handle%refusal == 0) then
      retryable = c_error_retryable(handle%native) /= 0
    else
      retryable = handle%retryable /= 0
    end if
  end function

  function perdure_status_name(status) result(name)
    integer, intent(in) :: status
    character(:), allocatable :: name
    name = from_c(c_status_name(int(status, c_int)))
  end function

  !> The version of the library, "0.1.0".
  function perdure_version() result(text)
    character(:), allocatable :: text
    text = from_c(c_version())
  end function

  !> The perdure_t* behind the handle, for C code that works on it.
  type(c_ptr) function perdure_native(handle) result(native)
    type(perdure_handle), intent(in) :: handle
    native = handle%native
  end function
end module
