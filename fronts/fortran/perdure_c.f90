! perdure.h as Fortran sees it: for module perdure only. Names and conventions are those of the header.
module perdure_c
  use iso_c_binding
  implicit none
  public

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

  !> A C string as a Fortran one; "" for NULL.
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

  !> What stands before the NUL.
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
