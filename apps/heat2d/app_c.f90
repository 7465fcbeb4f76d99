! Declares apps/common/app.h for Fortran. Strings passed to it end with c_null_char.
module app
  use iso_c_binding
  implicit none
  private
  public :: app_begin, app_integer, app_checkpoints, app_checkpoint_due, app_rank, app_ranks, app_share, app_first, app_step, &
            app_checkpointed, app_restored, app_require, app_hash, app_end

  interface
    type(c_ptr) function c_begin(name, argc, argv) bind(c, name="app_begin")
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: argc
      type(c_ptr), intent(in) :: argv(*)
    end function
    integer(c_long) function app_integer(app, key, otherwise) bind(c)
      import
      type(c_ptr), value :: app
      character(kind=c_char), intent(in) :: key(*)
      integer(c_long), value :: otherwise
    end function
    integer(c_int) function app_checkpoints(app) bind(c)
      import
      type(c_ptr), value :: app
    end function
    integer(c_int) function app_checkpoint_due(app, step) bind(c)
      import
      type(c_ptr), value :: app
      integer(c_long), value :: step
    end function
    integer(c_int) function app_rank(app) bind(c)
      import
      type(c_ptr), value :: app
    end function
    integer(c_int) function app_ranks(app) bind(c)
      import
      type(c_ptr), value :: app
    end function
    integer(c_long) function app_share(total, ranks, rank) bind(c)
      import
      integer(c_long), value :: total
      integer(c_int), value :: ranks, rank
    end function
    integer(c_long) function app_first(total, ranks, rank) bind(c)
      import
      integer(c_long), value :: total
      integer(c_int), value :: ranks, rank
    end function
    subroutine app_step(app, step, steps) bind(c)
      import
      type(c_ptr), value :: app
      integer(c_long), value :: step, steps
    end subroutine
    subroutine app_checkpointed(app, handle, status, step, seconds) bind(c)
      import
      type(c_ptr), value :: app, handle
      integer(c_int), value :: status
      integer(c_long), value :: step
      real(c_double), value :: seconds
    end subroutine
    integer(c_long) function app_restored(app, handle, status) bind(c)
      import
      type(c_ptr), value :: app, handle
      integer(c_int), value :: status
    end function
    subroutine app_require(app, handle, status, what) bind(c)
      import
      type(c_ptr), value :: app, handle
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: what(*)
    end subroutine
    subroutine app_hash(app, content, bytes) bind(c)
      import
      type(c_ptr), value :: app
      real(c_double), intent(in) :: content(*)
      integer(c_size_t), value :: bytes
    end subroutine
    subroutine app_end(app, handle) bind(c)
      import
      type(c_ptr), value :: app, handle
    end subroutine
  end interface

  integer, parameter :: longest_word = 1024
  !> Holds the command line for C, which keeps pointers into it.
  character(kind=c_char), allocatable, target, save :: words(:, :)

contains

  type(c_ptr) function app_begin(name) result(app)
    character(*), intent(in) :: name
    type(c_ptr), allocatable :: argv(:)
    character(longest_word) :: word
    integer :: i, j, count
    count = command_argument_count()
    allocate (words(longest_word + 1, 0:count), argv(0:count))
    do i = 0, count
      call get_command_argument(i, word)
      do j = 1, len_trim(word)
        words(j, i) = word(j:j)
      end do
      words(len_trim(word) + 1, i) = c_null_char
      argv(i) = c_loc(words(1, i))
    end do
    app = c_begin(name//c_null_char, int(count + 1, c_int), argv)
  end function
end module
