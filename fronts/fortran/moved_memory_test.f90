! Arrays are allocated anew, pointers change places, memory goes away between two checkpoints. Regions follow procedures that say
! where they are. Run by ctest with the directory to work in as argument. Status 1 when something failed.
module moving
  use iso_c_binding
  use iso_fortran_env, only: int64, real64
  use perdure
  implicit none
  real(real64), pointer :: now(:, :) => null(), next(:, :) => null()
  real(real64), allocatable, target :: field(:), rows(:, :)
  type :: grid
    real(real64), allocatable :: cells(:)
  end type
contains
  subroutine where_now(place)
    type(perdure_place), intent(out) :: place
    call perdure_set_place(place, now)
  end subroutine

  subroutine where_next(place)
    type(perdure_place), intent(out) :: place
    call perdure_set_place(place, next)
  end subroutine

  subroutine where_field(place)
    type(perdure_place), intent(out) :: place
    call perdure_set_place(place, field)
  end subroutine

  subroutine where_rows(place)
    type(perdure_place), intent(out) :: place
    call perdure_set_place(place, rows)
  end subroutine

  subroutine where_every_second(place)
    type(perdure_place), intent(out) :: place
    call perdure_set_place(place, field(1:9:2))
  end subroutine

  subroutine where_nobody_knows(place)
    type(perdure_place), intent(out) :: place
  end subroutine

  integer(c_int) function cells_of(owner, address, count) bind(c)
    type(c_ptr), value :: owner
    type(c_ptr), intent(inout) :: address
    integer(c_size_t), intent(inout) :: count
    type(grid), pointer :: it
    call c_f_pointer(owner, it)
    cells_of = 1
    if (.not. allocated(it%cells)) return
    address = c_loc(it%cells)
    count = size(it%cells, kind=c_size_t)
    cells_of = 0
  end function
end module

program moved_memory_test
  use iso_c_binding, only: c_loc
  use expectation
  use moving
  implicit none
  type(perdure_handle) :: handle
  character(1024) :: directory
  integer :: status

  call get_command_argument(1, directory)
  call perdure_open(handle, status, options="store.path="//trim(directory)//"/store;node.path="//trim(directory)// &
                    "/node;tier.file.path="//trim(directory)//"/file;tier.memory.max_bytes=64MiB")
  call expect(status == perdure_ok, "open")
  call follows_pointers_that_change_places()
  call follows_an_array_that_is_allocated_anew()
  call follows_rows_of_a_list()
  call follows_components_of_owners()
  call refuses_what_it_cannot_follow()
  call perdure_close(handle, status)
  call expect(status == perdure_ok, "close")
  if (failures > 0) error stop 1
  print '(a)', "all passed"

contains

  subroutine good(what)
    character(*), intent(in) :: what
    call expect(status == perdure_ok, what//": "//perdure_error_text(handle))
  end subroutine

  subroutine expect_told(text)
    character(*), intent(in) :: text
    call expect(status == perdure_invalid_argument, "refused: "//text)
    call expect(index(perdure_error_text(handle), text) == 1, text//" begins: "//perdure_error_text(handle))
  end subroutine

  subroutine expect_stored(name, id, elements)
    character(*), intent(in) :: name
    integer, intent(in) :: id, elements
    integer(int64) :: bytes, count
    call perdure_stored_size(handle, name, perdure_latest_version, id, bytes, count, status)
    call good("stored size of "//name)
    call expect(count == elements, name//" has the elements that were there at the call")
  end subroutine

  subroutine follows_pointers_that_change_places()
    real(real64), pointer :: other(:, :)
    integer :: step
    allocate (now(10, 10), next(10, 10))
    call perdure_protect(handle, 0, now, status)
    call good("protect now")
    call perdure_protect(handle, 1, next, status)
    call good("protect next")
    call perdure_follow(handle, 0, where_now, status)
    call good("follow now")
    call perdure_follow(handle, 1, where_next, status)
    call good("follow next")
    now = 1
    next = 2
    do step = 1, 3
      other => now
      now => next
      next => other
      call perdure_checkpoint(handle, "pointers", step, status)
      call good("checkpoint")
    end do
    now = 0
    next = 0
    call perdure_restore(handle, "pointers", perdure_latest_version, status)
    call good("restore")
    call expect(all(now == 2.0_real64) .and. all(next == 1.0_real64), "each region went with its pointer")
    call perdure_unprotect(handle, 0, status)
    call perdure_unprotect(handle, 1, status)
    deallocate (now, next)
  end subroutine

  subroutine follows_an_array_that_is_allocated_anew()
    real(real64), allocatable :: larger(:)
    allocate (field(9), source=1.0_real64)
    call perdure_protect(handle, 0, field, status)
    call good("protect field")
    call perdure_describe(handle, 0, "field", status)
    call perdure_follow(handle, 0, where_field, status)
    call good("follow field")
    allocate (larger(5000), source=2.0_real64)
    call move_alloc(larger, field)
    call perdure_checkpoint(handle, "field", 1, status)
    call good("checkpoint of a larger array")
    call expect_stored("field", 0, 5000)
    field = 0
    call perdure_restore(handle, "field", 1, status)
    call good("restore")
    call expect(all(field == 2.0_real64), "it was filled where it is")
    deallocate (field)
    call perdure_checkpoint(handle, "field", 2, status)
    call expect_told("region 0 'field': its owner has 0 elements, and had 5000")
    call perdure_restore(handle, "field", 1, status)
    call expect_told("region 0 'field': its owner has 0 elements, and had 5000")
    allocate (field(9), source=3.0_real64)
    call perdure_protect(handle, 0, field, status)
    call perdure_checkpoint(handle, "field", 2, status)
    call good("it was protected again")
    call expect_stored("field", 0, 9)
    call perdure_unprotect(handle, 0, status)
  end subroutine

  subroutine follows_rows_of_a_list()
    type(perdure_array_info) :: info
    allocate (rows(3, 4), source=1.0_real64)
    call perdure_protect_list(handle, 0, rows, "rows", status)
    call good("protect rows")
    call perdure_follow(handle, 0, where_rows, status)
    call good("follow rows")
    deallocate (rows)
    allocate (rows(3, 700), source=2.0_real64)
    call perdure_checkpoint(handle, "rows", 1, status)
    call good("checkpoint")
    call perdure_stored_array(handle, "rows", 1, 0, info, status)
    call expect(all(info%extents == [3, 700]), "the list has its rows")
    rows = 0
    call perdure_restore(handle, "rows", 1, status)
    call expect(status == perdure_ok .and. all(rows == 2.0_real64), "rows came back")
    call perdure_unprotect(handle, 0, status)
    deallocate (rows)
  end subroutine

  subroutine follows_components_of_owners()
    type(grid), target :: grids(2)
    integer :: i
    do i = 1, 2
      allocate (grids(i)%cells(10), source=real(i, real64))
      call perdure_protect(handle, i, grids(i)%cells, status)
      call good("protect cells")
      call perdure_follow(handle, i, cells_of, c_loc(grids(i)), status)
      call good("follow cells")
      deallocate (grids(i)%cells)
      allocate (grids(i)%cells(100*i), source=real(i + 5, real64))
    end do
    call perdure_checkpoint(handle, "grids", 1, status)
    call good("checkpoint")
    call expect_stored("grids", 2, 200)
    do i = 1, 2
      grids(i)%cells = 0
    end do
    call perdure_restore(handle, "grids", 1, status)
    call good("restore")
    call expect(all(grids(1)%cells == 6.0_real64) .and. all(grids(2)%cells == 7.0_real64), "cells came back")
    deallocate (grids(1)%cells)
    call perdure_checkpoint(handle, "grids", 2, status)
    call expect_told("region 1: its owner cannot say where it is")
    call perdure_unprotect(handle, 1, status)
    call perdure_unprotect(handle, 2, status)
  end subroutine

  subroutine refuses_what_it_cannot_follow()
    call perdure_follow(handle, 7, where_field, status)
    call expect(status == perdure_not_found, "it is not protected")
    call perdure_protect(handle, 0, field, status)
    call good("protect field")
    call perdure_follow(handle, 0, where_nobody_knows, status)
    call expect_told("region 0: its owner cannot say where it is: it says 1")
    call perdure_follow(handle, 0, where_every_second, status)
    call expect_told("region 0: its owner cannot say where it is: it says 2")
    call perdure_follow(handle, 0, where_rows, status)
    call expect_told("region 0: it is not within the 0 elements of its owner")
    call perdure_unprotect(handle, 0, status)
  end subroutine
end program
