! Declares perdure.h for Fortran, for module perdure only. Names and conventions are those of the header.
module perdure_c
  use iso_c_binding
  implicit none
  public

  !> perdure_array of perdure.h.
  type, bind(c) :: c_array
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: type = c_null_ptr
    integer(c_int) :: dimensions = 0
    type(c_ptr) :: extents = c_null_ptr
    type(c_ptr) :: ghosts = c_null_ptr
    integer(c_int) :: fill_ghosts = 0
    type(c_ptr) :: unit = c_null_ptr
    type(c_ptr) :: description = c_null_ptr
  end type

  !> perdure_array_info of perdure.h.
  type, bind(c) :: c_array_info
    integer(c_int) :: dimensions = 0
    integer(c_int64_t) :: extents(8) = 0
    integer(c_int64_t) :: element_bytes = 0
    character(kind=c_char) :: name(72) = c_null_char
    character(kind=c_char) :: unit(72) = c_null_char
    character(kind=c_char) :: type(1024) = c_null_char
  end type

  !> perdure_restored_info of perdure.h.
  type, bind(c) :: c_restored_info
    character(kind=c_char) :: name(136) = c_null_char
    integer(c_int64_t) :: version = -1
    character(kind=c_char) :: branch(8) = c_null_char
    integer(c_int64_t) :: created_ns = 0
    real(c_double) :: age_s = 0
    integer(c_int) :: source = 0
    integer(c_int) :: passed_over = 0
  end type

  !> perdure_passed_over_info of perdure.h.
  type, bind(c) :: c_passed_over_info
    integer(c_int64_t) :: version = -1
    integer(c_int64_t) :: created_ns = 0
    character(kind=c_char) :: why(1024) = c_null_char
  end type

  interface
    integer(c_int) function c_open(options, out, message, message_bytes) bind(c, name="perdure_open")
      import
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(out) :: message(*)
      integer(c_size_t), value :: message_bytes
    end function
    integer(c_int) function c_open_mpi(communicator, options, out, message, message_bytes) &
      bind(c, name="perdure_open_mpi_fortran")
      import
      integer(c_int), value :: communicator
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(out) :: message(*)
      integer(c_size_t), value :: message_bytes
    end function
    integer(c_int) function c_unprotect(handle, id) bind(c, name="perdure_unprotect")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: id
    end function
    integer(c_int) function c_checkpoint(handle, name, version) bind(c, name="perdure_checkpoint")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
    end function
    integer(c_int) function c_latest(handle, name, version) bind(c, name="perdure_latest")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: version
    end function
    integer(c_int) function c_stored_size(handle, name, version, id, size) bind(c, name="perdure_stored_size")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
      integer(c_int), value :: id
      integer(c_int64_t), intent(out) :: size(2)
    end function
    integer(c_int) function c_describe(handle, id, name, unit, description) bind(c, name="perdure_describe")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: id
      character(kind=c_char), intent(in) :: name(*), unit(*), description(*)
    end function
    integer(c_int) function c_set_presence(handle, id, presence) bind(c, name="perdure_set_presence")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: id, presence
    end function
    integer(c_int) function c_was_restored(handle, id, restored) bind(c, name="perdure_was_restored")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: id
      integer(c_int), intent(inout) :: restored
    end function
    integer(c_int) function c_renamed(handle, before, now) bind(c, name="perdure_renamed")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: before(*), now(*)
    end function
    integer(c_int) function c_pass_over(handle, region) bind(c, name="perdure_pass_over")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: region(*)
    end function
    integer(c_int) function c_block(handle, array, grid, begin, end) bind(c, name="perdure_block")
      import
      type(c_ptr), value :: handle, grid
      type(c_array), intent(in) :: array
      integer(c_int64_t), intent(out) :: begin(*), end(*)
    end function
    integer(c_int) function c_stored_array(handle, name, version, id, info) bind(c, name="perdure_stored_array")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
      integer(c_int), value :: id
      type(c_array_info), intent(out) :: info
    end function
    integer(c_int) function c_restore(handle, name, version) bind(c, name="perdure_restore")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
    end function
    integer(c_int) function c_restore_regions(handle, name, version, ids, count) bind(c, name="perdure_restore_regions")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
      integer(c_int), intent(in) :: ids(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_restore_branch(handle, name, branch, version) bind(c, name="perdure_restore_branch")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*), branch(*)
      integer(c_int64_t), value :: version
    end function
    integer(c_int) function c_restored(handle, info) bind(c, name="perdure_restored")
      import
      type(c_ptr), value :: handle
      type(c_restored_info), intent(inout) :: info
    end function
    integer(c_int) function c_passed_over(handle, which, info) bind(c, name="perdure_passed_over")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: which
      type(c_passed_over_info), intent(inout) :: info
    end function
    integer(c_int) function c_follow(handle, id, locate, owner) bind(c, name="perdure_follow")
      import
      type(c_ptr), value :: handle, owner
      integer(c_int), value :: id
      type(c_funptr), value :: locate
    end function
    integer(c_int) function c_follow_place(handle, id, locate) bind(c, name="perdure_fortran_follow")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: id
      type(c_funptr), value :: locate
    end function
    integer(c_int) function c_wait(handle, name, version, level, timeout_s) bind(c, name="perdure_wait")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
      integer(c_int), value :: level
      real(c_double), value :: timeout_s
    end function
    integer(c_int) function c_level_reached(handle, name, version, level) bind(c, name="perdure_level_reached")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
      integer(c_int), intent(out) :: level
    end function
    integer(c_int) function c_get_progress(handle, progress) bind(c, name="perdure_get_progress")
      import
      type(c_ptr), value :: handle, progress
    end function
    integer(c_int) function c_next_report(handle, text, text_bytes) bind(c, name="perdure_next_report")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: text_bytes
    end function
    integer(c_int) function c_retire(handle, name, version) bind(c, name="perdure_retire")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: version
    end function
    integer(c_int) function c_any(handle, here, any) bind(c, name="perdure_any")
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: here
      integer(c_int), intent(out) :: any
    end function
    integer(c_int) function c_due(handle, reasons) bind(c, name="perdure_due")
      import
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: reasons
    end function
    integer(c_int) function c_close(handle) bind(c, name="perdure_close")
      import
      type(c_ptr), intent(inout) :: handle
    end function
    type(c_ptr) function c_error_text(handle) bind(c, name="perdure_error_text")
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int) function c_error_retryable(handle) bind(c, name="perdure_error_retryable")
      import
      type(c_ptr), value :: handle
    end function
    type(c_ptr) function c_status_name(status) bind(c, name="perdure_status_name")
      import
      integer(c_int), value :: status
    end function
    type(c_ptr) function c_version() bind(c, name="perdure_version")
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  !> Makes a Fortran string of a C string; "" for NULL.
  function from_c(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    length = 0
    if (c_associated(text)) length = int(c_strlen(text))
    allocate (character(length) :: copy)
    if (length == 0) return
    call c_f_pointer(text, letters, [length])
    do i = 1, length
      copy(i:i) = letters(i)
    end do
  end function

  !> Makes a C string; "" when it is absent.
  function to_c(text) result(copy)
    character(*), intent(in), optional :: text
    character(:), allocatable :: copy
    copy = c_null_char
    if (present(text)) copy = trim(text)//c_null_char
  end function

  !> Takes the letters before the NUL.
  function from_buffer(letters) result(copy)
    character(kind=c_char), intent(in) :: letters(:)
    character(:), allocatable :: copy
    integer :: i
    copy = ""
    do i = 1, size(letters)
      if (letters(i) == c_null_char) exit
      copy = copy//letters(i)
    end do
  end function
end module
