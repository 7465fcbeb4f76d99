! Tests the Fortran front, run by ctest with the directory to work in as argument. Status 1 when something failed.
program perdure_test
  use iso_fortran_env, only: int8, int16, int32, int64, real64
  use iso_c_binding, only: c_float_complex, c_ptr, c_null_ptr
  use expectation
  use perdure
  implicit none
  type :: particle
    real(real64) :: position(3)
    integer :: kind
  end type
  type :: grown
    integer :: number
    real(real64), allocatable :: values(:)
  end type
  type :: linked
    type(linked), pointer :: next => null()
  end type
  type :: holder
    type(grown) :: inner
  end type
  type(perdure_handle) :: handle
  character(1024) :: directory
  integer :: status

  call get_command_argument(1, directory)
  call perdure_open(handle, status, options=settings(trim(directory)))
  call expect(status == perdure_ok, "open")
  if (status == perdure_ok) then
    call restores_every_kind_and_rank()
    call refuses_what_is_not_in_one_piece()
    call takes_contiguous_sections()
    call restores_chosen_regions_only()
    call protects_many_in_one_call()
    call protects_all_or_none()
    call tells_sizes_levels_and_progress()
    call gives_up_a_version()
    call restores_parts_of_arrays()
    call knows_the_types_of_elements()
    call restores_lists_and_what_is_replicated()
    call refuses_parts_that_cannot_be()
    call refuses_components_that_lie_elsewhere()
    call takes_derived_types_that_are_said_to_be_bytes()
    call takes_integers_of_any_kind()
    call refuses_what_is_no_integer_or_too_large()
    call perdure_close(handle, status)
    call expect(status == perdure_ok, "close")
    call perdure_unprotect(handle, 1, status)
    call expect(status /= perdure_ok, "calls with a closed handle fail")
  end if
  call perdure_open(handle, status, options="no.such.option=1")
  call expect(status == perdure_invalid_argument, "an unknown option is refused")
  call expect(len(perdure_version()) > 0 .and. perdure_status_name(perdure_not_found) == "not-found", "names")
  if (failures > 0) error stop 1
  print '(a)', "all passed"

contains

  function settings(path) result(text)
    character(*), intent(in) :: path
    character(:), allocatable :: text
    text = "store.path="//path//"/store;node.path="//path//"/node;tier.file.path="//path// &
           "/file;tier.memory.max_bytes=64MiB"
  end function

  subroutine restores_every_kind_and_rank()
    integer, target :: number
    real(real64), target :: line(1000)
    complex(c_float_complex), target :: grid(7, 5)
    logical, target :: flags(2, 3, 4)
    integer(int64), allocatable, target :: block(:, :, :, :)
    character(12), target :: words(3)
    type(particle), target :: particles(10)
    real, target :: nothing(0)
    integer :: i
    allocate (block(2, 3, 4, 5))
    number = 42
    line = [(real(i, real64), i=1, 1000)]
    grid = reshape([(cmplx(i, -i), i=1, 35)], [7, 5])
    flags = reshape([(mod(i, 3) == 0, i=1, 24)], [2, 3, 4])
    block = reshape([(int(i, int64)**3, i=1, 120)], [2, 3, 4, 5])
    words = ["first ", "second", "third "]
    particles%kind = [(i, i=1, 10)]
    call protect(1, number)
    call perdure_protect(handle, 2, line, status)
    call expect(status == perdure_ok, "protect rank 1")
    call perdure_protect(handle, 3, grid, status)
    call expect(status == perdure_ok, "protect rank 2")
    call perdure_protect(handle, 4, flags, status)
    call expect(status == perdure_ok, "protect rank 3")
    call perdure_protect(handle, 5, block, status)
    call expect(status == perdure_ok, "protect rank 4")
    call perdure_protect(handle, 6, words, status)
    call expect(status == perdure_ok, "protect text")
    call perdure_protect(handle, 7, particles, status, bytes=.true.)
    call expect(status == perdure_ok, "protect a derived type")
    call perdure_protect(handle, 8, nothing, status)
    call expect(status == perdure_ok, "protect an empty array")
    call perdure_checkpoint(handle, "kinds", 1_int64, status)
    call expect(status == perdure_ok, "checkpoint: "//perdure_error_text(handle))
    number = 0
    line = 0
    grid = 0
    flags = .false.
    block = 0
    words = ""
    particles%kind = 0
    call perdure_restore(handle, "kinds", perdure_latest_version, status)
    call expect(status == perdure_ok, "restore: "//perdure_error_text(handle))
    call expect(number == 42, "scalar restored")
    call expect(all(line == [(real(i, real64), i=1, 1000)]), "rank 1 restored")
    call expect(all(grid == reshape([(cmplx(i, -i), i=1, 35)], [7, 5])), "rank 2 restored")
    call expect(all(flags .eqv. reshape([(mod(i, 3) == 0, i=1, 24)], [2, 3, 4])), "rank 3 restored")
    call expect(all(block == reshape([(int(i, int64)**3, i=1, 120)], [2, 3, 4, 5])), "rank 4 restored")
    call expect(words(2) == "second" .and. words(3) == "third", "text restored")
    call expect(all(particles%kind == [(i, i=1, 10)]), "derived type restored")
    call expect_stored(1, 4_int64, 1_int64)
    call expect_stored(2, 8_int64, 1000_int64)
    call expect_stored(3, 8_int64, 35_int64)
    call expect_stored(5, 8_int64, 120_int64)
    call expect_stored(6, 12_int64, 3_int64)
    call expect_stored(8, 4_int64, 0_int64)
    do i = 1, 8
      call perdure_unprotect(handle, i, status)
      call expect(status == perdure_ok, "unprotect")
    end do
  end subroutine

  subroutine protect(id, region)
    integer, intent(in) :: id
    integer, intent(inout), target :: region
    call perdure_protect(handle, id, region, status)
    call expect(status == perdure_ok, "protect a scalar")
  end subroutine

  subroutine expect_stored(id, element_bytes, count)
    integer, intent(in) :: id
    integer(int64), intent(in) :: element_bytes, count
    integer(int64) :: stored_bytes, stored_count
    call perdure_stored_size(handle, "kinds", 1_int64, id, stored_bytes, stored_count, status)
    call expect(status == perdure_ok .and. stored_bytes == element_bytes .and. stored_count == count, "stored size")
  end subroutine

  subroutine refuses_what_is_not_in_one_piece()
    real, target :: field(10, 10), line(10)
    field = 1
    call perdure_protect(handle, 20, field(1:9:2, :), status)
    call expect(status == perdure_invalid_argument, "a strided section is refused")
    call expect(index(perdure_error_text(handle), "not contiguous") > 0, "and says why")
    call expect(.not. perdure_error_retryable(handle), "and that trying again is of no use")
    call perdure_protect(handle, 20, field(2, :), status)
    call expect(status == perdure_invalid_argument, "a row is refused")
    call perdure_protect(handle, 20, field(1:5, 1:2), status)
    call expect(status == perdure_invalid_argument, "half columns are refused")
    line = 0
    call perdure_protect(handle, 20, line(10:1:-1), status)
    call expect(status == perdure_invalid_argument, "a reversed array is refused")
    call assumed_size(line)
    call perdure_unprotect(handle, 20, status)
    call expect(status == perdure_not_found, "nothing refused was registered")
    call expect(index(perdure_error_text(handle), "contiguous") == 0, "the next call's error replaces the refusal")
  end subroutine

  subroutine assumed_size(array)
    real, intent(inout), target :: array(*)
    call perdure_protect(handle, 20, array, status)
    call expect(status == perdure_invalid_argument, "an assumed-size array is refused")
  end subroutine

  subroutine takes_contiguous_sections()
    real, target :: field(10, 10)
    field = 1
    field(:, 3:4) = 2
    call perdure_protect(handle, 30, field(:, 3:4), status)
    call expect(status == perdure_ok, "whole columns are contiguous")
    call perdure_checkpoint(handle, "sections", 1_int64, status)
    call expect(status == perdure_ok, "checkpoint of a section")
    field = 5
    call perdure_restore(handle, "sections", 1_int64, status)
    call expect(status == perdure_ok, "restore of a section")
    call expect(all(field(:, 3:4) == 2) .and. count(field == 5.0) == 80, "no more and no less than the section")
    call perdure_unprotect(handle, 30, status)
  end subroutine

  subroutine protects_many_in_one_call()
    integer, target :: number, many(32)
    real(real64), target :: line(100)
    complex(c_float_complex), allocatable, target :: grid(:, :)
    character(12), target :: words(3)
    type(particle), target :: particles(10)
    real, pointer :: front(:), back(:), swapped(:)
    integer :: i
    allocate (grid(3, 4), front(5), back(5))
    number = 42
    line = 2.5_real64
    grid = (1.0, -1.0)
    words = "word"
    particles%kind = 3
    front = 1
    back = 2
    call perdure_protect_all(handle, 40, status, number, line, grid, words, particles, front, back, bytes=.true.)
    call expect(status == perdure_ok, "protect_all: "//perdure_error_text(handle))
    call perdure_checkpoint(handle, "kinds", 2_int64, status)
    call expect(status == perdure_ok, "checkpoint of what one call protected")
    number = 0
    line = 0
    grid = 0
    words = ""
    particles%kind = 0
    front = 0
    back = 0
    call perdure_restore(handle, "kinds", 2_int64, status)
    call expect(number == 42 .and. all(line == 2.5_real64) .and. all(grid == (1.0, -1.0)), "numbers are restored")
    call expect(all(words == "word") .and. all(particles%kind == 3), "texts and derived types are restored")
    call expect(all(front == 1) .and. all(back == 2), "pointers' targets are restored")
    swapped => front
    front => back
    back => swapped
    call perdure_protect_all(handle, 45, status, front, back)
    call expect(status == perdure_ok, "memory may be swapped: "//perdure_error_text(handle))
    call perdure_restore(handle, "kinds", 2_int64, status)
    call expect(all(front == 1) .and. all(back == 2), "what was swapped is restored where it is now")
    call unprotect_from(40, 7)
    call perdure_protect_all(handle, 0, status, many(1), many(2), many(3), many(4), many(5), many(6), many(7), &
      many(8), many(9), many(10), many(11), many(12), many(13), many(14), many(15), many(16), many(17), many(18), &
      many(19), many(20), many(21), many(22), many(23), many(24), many(25), many(26), many(27), many(28), many(29), &
      many(30), many(31), many(32))
    call expect(status == perdure_ok, "32 in one call: "//perdure_error_text(handle))
    many = [(i, i=1, 32)]
    call perdure_checkpoint(handle, "many", 1_int64, status)
    many = 0
    call perdure_restore(handle, "many", 1_int64, status)
    call expect(all(many == [(i, i=1, 32)]), "each of 32 is restored in its place")
    call unprotect_from(0, 32)
  end subroutine

  subroutine unprotect_from(first_id, count)
    integer, intent(in) :: first_id, count
    integer :: id
    do id = first_id, first_id + count - 1
      call perdure_unprotect(handle, id, status)
      call expect(status == perdure_ok, "unprotect what one call protected")
    end do
  end subroutine

  subroutine protects_all_or_none()
    integer, target :: a(4), b(4), c(4)
    integer, allocatable, target :: later(:)
    integer :: id
    call perdure_protect(handle, 51, c, status)
    call perdure_protect_all(handle, 50, status, a, b, c(1:3:2))
    call expect_none("not contiguous", "object 3 of 3 (id 52): region 52: ")
    call perdure_protect_all(handle, 50, status, a, b, a(2:3))
    call expect_none("overlaps region 50", "object 3 of 3 (id 52): region 52: ")
    call perdure_protect_all(handle, 50, status, a, later, b)
    call expect_none("not allocated", "object 2 of 3 (id 51): region 51: ")
    call perdure_protect_all(handle, 50, status, a, b, later)
    call expect_none("not allocated", "object 3 of 3 (id 52): region 52: ")
    call perdure_protect_all(handle, 50, status, a, r3=b)
    call expect_none("object 3 is missing", "protect_all: one before ")
    call perdure_protect_all(handle, 50, status)
    call expect_none("nothing to protect", "protect_all: ")
    call perdure_protect_all(handle, huge(id), status, a, b)
    call expect_none("exceed", "protect_all: ")
    call perdure_protect_all(handle, -1, status, a, b)
    call expect_none("the id is negative", "object 1 of 2 (id -1): region -1: ")
    call perdure_protect_all(handle, 50, status, a, b, c)
    call expect(status == perdure_ok, "after all this they are protected in one call")
    call unprotect_from(50, 3)
  end subroutine

  subroutine expect_none(reason, beginning)
    character(*), intent(in) :: reason, beginning
    integer :: id
    call expect(status == perdure_invalid_argument, "refused: "//reason)
    call expect(index(perdure_error_text(handle), reason) > 0, "it says "//reason//": "//perdure_error_text(handle))
    call expect(index(perdure_error_text(handle), beginning) == 1, "it names the object: "//perdure_error_text(handle))
    call expect(.not. perdure_error_retryable(handle), "trying again is of no use")
    do id = 50, 52
      call perdure_unprotect(handle, id, status)
      call expect(status == perdure_not_found, "none is protected: "//reason)
    end do
  end subroutine

  subroutine restores_chosen_regions_only()
    integer, target :: a(4), b(4)
    a = 1
    b = 2
    call perdure_protect(handle, 1, a, status)
    call perdure_protect(handle, 2, b, status)
    call perdure_checkpoint(handle, "some", 1_int64, status)
    a = 7
    b = 7
    call perdure_restore_regions(handle, "some", 1_int64, [2], status)
    call expect(status == perdure_ok .and. all(a == 7) .and. all(b == 2), "only the chosen region")
    call perdure_unprotect(handle, 1, status)
    call perdure_unprotect(handle, 2, status)
  end subroutine

  subroutine tells_sizes_levels_and_progress()
    type(perdure_progress) :: progress
    integer, target :: a(4)
    integer(int64) :: version
    integer :: level
    character(:), allocatable :: report
    a = 1
    call perdure_latest(handle, "levels", version, status)
    call expect(status == perdure_not_found, "nothing yet")
    call perdure_protect(handle, 1, a, status)
    call perdure_checkpoint(handle, "levels", 5_int64, status)
    call perdure_wait(handle, "levels", 5_int64, perdure_level_store, perdure_forever, status)
    call expect(status == perdure_ok, "wait")
    call perdure_level_reached(handle, "levels", 5_int64, level, status)
    call expect(status == perdure_ok .and. level == perdure_level_store, "level store")
    call perdure_latest(handle, "levels", version, status)
    call expect(status == perdure_ok .and. version == 5, "latest")
    call perdure_get_progress(handle, progress, status)
    call expect(status == perdure_ok .and. progress%last_bytes == 16, "progress")
    call perdure_next_report(handle, report, status)
    call expect(status == perdure_not_found .and. report == "", "nothing to report")
    call perdure_unprotect(handle, 1, status)
  end subroutine

  subroutine gives_up_a_version()
    integer(int64) :: version
    integer :: reasons
    logical :: found
    call perdure_any(handle, .true., found, status)
    call expect(status == perdure_ok .and. found, "any is true where this rank says so")
    call perdure_any(handle, .false., found, status)
    call expect(status == perdure_ok .and. .not. found, "any is false where nobody says so")
    call perdure_due(handle, reasons, status)
    call expect(status == perdure_ok .and. reasons == 0, "nothing asks for a checkpoint")
    call perdure_retire(handle, "levels", 5_int64, status)
    call expect(status == perdure_ok, "retire")
    call perdure_latest(handle, "levels", version, status)
    call expect(status == perdure_not_found, "a retired version is gone")
  end subroutine

  subroutine restores_parts_of_arrays()
    real(real64), target :: field(0:6, 0:5), other(5, 4)
    integer(int64) :: first(2), last(2)
    type(perdure_array_info) :: info
    integer :: i, j
    call perdure_block(handle, [5_int64, 4_int64], first, last, status)
    call expect(status == perdure_ok .and. all(first == 1) .and. all(last == [5, 4]), "one rank has all of it")
    call perdure_block(handle, [5_int64, 4_int64], first, last, status, grid=[1_int64, 2_int64])
    call expect(status == perdure_invalid_argument, "a grid of other ranks is refused")
    field = -1
    field(1:5, 1:4) = reshape([((10*i + j, i=1, 5), j=1, 4)], [5, 4])
    call perdure_protect_global(handle, 60, field(1:5, 1:4), "field", [5_int64, 4_int64], [1_int64, 1_int64], status, &
                                ghosts=[1_int64, 1_int64], unit="K", description="of a test")
    call expect(status == perdure_ok, "a section is a part: "//perdure_error_text(handle))
    call perdure_checkpoint(handle, "arrays", 1_int64, status)
    call expect(status == perdure_ok, "checkpoint of it: "//perdure_error_text(handle))
    call perdure_stored_array(handle, "arrays", 1_int64, 60, info, status)
    call expect(status == perdure_ok, "stored array: "//perdure_error_text(handle))
    call expect(size(info%extents) == 2 .and. all(info%extents == [5, 4]), "its extents in Fortran's order")
    call expect(info%name == "field" .and. info%unit == "K" .and. info%type == "f8", "its name, unit and type")
    call expect(info%element_bytes == 8, "its bytes")
    field = -2
    call perdure_restore(handle, "arrays", 1_int64, status)
    call expect(status == perdure_ok, "restore of it: "//perdure_error_text(handle))
    call expect(all(nint(field(1:5, 1:4)) == reshape([((10*i + j, i=1, 5), j=1, 4)], [5, 4])), "the part is back")
    call expect(count(field == -2.0_real64) == 22, "and nothing around it")
    other = 0
    call perdure_protect_global(handle, 60, other(:, 4:1:-1), "field", [5_int64, 4_int64], [1_int64, 1_int64], status)
    call perdure_restore(handle, "arrays", 1_int64, status)
    call expect(status == perdure_ok .and. nint(other(2, 4)) == 21 .and. nint(other(2, 1)) == 24, &
                "into other memory, turned round")
    call perdure_stored_array(handle, "arrays", 1_int64, 61, info, status)
    call expect(status == perdure_mismatch .and. size(info%extents) == 0, "there is no such array")
    call perdure_unprotect(handle, 60, status)
  end subroutine

  subroutine knows_the_types_of_elements()
    integer(int8), target :: i1(3)
    integer(int64), target :: i8(3)
    real, target :: f4(3)
    complex(c_float_complex), target :: c8(3)
    complex(real64), target :: c16(3)
    logical, target :: truths(3)
    character(5), target :: words(3)
    type(particle), target :: particles(3)
    i1 = 1
    i8 = 1
    f4 = 1
    c8 = 1
    c16 = 1
    truths = .true.
    words = "word"
    particles%kind = 1
    call perdure_protect_list(handle, 70, i1, "a", status)
    call perdure_protect_list(handle, 71, i8, "b", status)
    call perdure_protect_list(handle, 72, f4, "c", status)
    call perdure_protect_list(handle, 73, c8, "d", status)
    call perdure_protect_list(handle, 74, c16, "e", status)
    call perdure_protect_list(handle, 75, truths, "f", status)
    call perdure_protect_list(handle, 76, words, "g", status)
    call perdure_protect_list(handle, 77, particles, "h", status, bytes=.true.)
    call perdure_protect_list(handle, 78, particles(1:2), "i", status, type="{position:3f8,kind:i4,v4}")
    call expect(status == perdure_invalid_argument, "memory is protected once")
    call perdure_unprotect(handle, 77, status)
    call perdure_protect_list(handle, 77, particles(1:1), "h", status, bytes=.true.)
    call perdure_protect_list(handle, 78, particles(2:3), "i", status, type="{position:3f8,kind:i4,v4}")
    call expect(status == perdure_ok, "members have names: "//perdure_error_text(handle))
    call perdure_checkpoint(handle, "types", 1_int64, status)
    call expect(status == perdure_ok, "checkpoint of types: "//perdure_error_text(handle))
    call expect_type(70, "i1")
    call expect_type(71, "i8")
    call expect_type(72, "f4")
    call expect_type(73, "c8")
    call expect_type(74, "c16")
    call expect_type(75, "i4")
    call expect_type(76, "v5")
    call expect_type(77, "v32")
    call expect_type(78, "{position:3f8,kind:i4,v4}")
    call unprotect_from(70, 9)
  end subroutine

  subroutine expect_type(id, text)
    integer, intent(in) :: id
    character(*), intent(in) :: text
    type(perdure_array_info) :: info
    call perdure_stored_array(handle, "types", 1_int64, id, info, status)
    call expect(status == perdure_ok .and. info%type == text, "elements of "//text//" are "//info%type)
  end subroutine

  subroutine restores_lists_and_what_is_replicated()
    real(real64), allocatable, target :: positions(:, :), own(:)
    integer(int64), target :: step
    type(perdure_array_info) :: info
    integer(int64) :: first(1), last(1)
    allocate (positions(3, 10), own(4))
    positions = 1.5_real64
    positions(:, 10) = [7, 8, 9]
    own = 1
    step = 12
    call perdure_protect_list(handle, 80, positions, "positions", status, unit="m")
    call expect(status == perdure_ok, "protect a list: "//perdure_error_text(handle))
    call perdure_protect_replicated(handle, 81, step, "step", status)
    call expect(status == perdure_ok, "protect what is replicated: "//perdure_error_text(handle))
    call perdure_protect(handle, 82, own, status)
    call perdure_describe(handle, 82, "own", status, unit="s")
    call expect(status == perdure_ok, "describe: "//perdure_error_text(handle))
    call perdure_describe(handle, 83, "none", status)
    call expect(status == perdure_not_found, "what is not registered is not described")
    call perdure_checkpoint(handle, "lists", 1_int64, status)
    call expect(status == perdure_ok, "checkpoint of a list: "//perdure_error_text(handle))
    deallocate (positions)
    step = 0
    call perdure_stored_array(handle, "lists", perdure_latest_version, 80, info, status)
    call expect(status == perdure_ok .and. all(info%extents == [3, 10]), "rows are counted by the last dimension")
    call perdure_block(handle, info%extents(2:2), first, last, status)
    allocate (positions(3, last(1) - first(1) + 1))
    call perdure_protect_list(handle, 80, positions, "positions", status, unit="m")
    call perdure_restore(handle, "lists", perdure_latest_version, status)
    call expect(status == perdure_ok, "restore of a list: "//perdure_error_text(handle))
    call expect(step == 12 .and. all(nint(positions(:, 10)) == [7, 8, 9]), "list and replicated value are back")
    call unprotect_from(80, 3)
  end subroutine

  subroutine refuses_parts_that_cannot_be()
    real, target :: field(4, 4)
    type(particle), target :: particles(3)
    field = 0
    call perdure_protect_global(handle, 90, field, "field", [4_int64], [1_int64, 1_int64], status)
    call expect_refused("as many integers as the array has dimensions")
    call perdure_protect_global(handle, 90, field, "field", [4_int64, 4_int64], [0_int64, 1_int64], status)
    call expect_refused("not inside of the array")
    call perdure_protect_global(handle, 90, field, "field", [4_int64, 4_int64], [1_int64, 2_int64], status)
    call expect_refused("not inside of the array")
    call perdure_protect_global(handle, 90, field, "field", [4_int64, 4_int64], [1_int64, 1_int64], status, type="f8")
    call expect_refused("has 8 bytes, its elements in memory have 4")
    call perdure_protect_list(handle, 90, particles, "bodies", status, type="{position:3f8,kind:i4}")
    call expect_refused("has 28 bytes, its elements in memory have 32")
    call perdure_protect_list(handle, 90, particles, "bodies", status, type="no type")
    call expect_refused("its type cannot be read")
    call perdure_protect_list(handle, 90, field(1:3, :), "rows", status)
    call expect_refused("not contiguous")
    call perdure_protect_list(handle, 90, field(1, 1), "rows", status)
    call expect_refused("a list has at least one dimension")
    call perdure_protect_global(handle, 90, field(1:0, :), "field", [4_int64, 4_int64], [1_int64, 1_int64], status)
    call expect(status == perdure_ok, "a part without elements is one: "//perdure_error_text(handle))
    call perdure_unprotect(handle, 90, status)
  end subroutine

  subroutine refuses_components_that_lie_elsewhere()
    type(grown), target :: one, some(3)
    type(linked), target :: list
    type(holder), target :: outer
    type(c_ptr), target :: address
    integer, target :: plain
    one%number = 1
    some%number = 2
    outer%inner%number = 3
    plain = 4
    address = c_null_ptr
    call perdure_protect(handle, 90, one, status)
    call expect_refused("allocatable or pointer components")
    call perdure_protect(handle, 90, some, status, bytes=.false.)
    call expect_refused("pass bytes=.true. where there are none")
    call perdure_protect(handle, 90, list, status)
    call expect_refused("allocatable or pointer components")
    call perdure_protect(handle, 90, outer, status)
    call expect_refused("allocatable or pointer components")
    call perdure_protect(handle, 90, address, status)
    call expect_refused("it is of a derived type or an address")
    call perdure_protect_all(handle, 89, status, plain, some)
    call expect(status == perdure_invalid_argument, "protect_all refuses a derived type")
    call expect(index(perdure_error_text(handle), "object 2 of 2 (id 90): region 90: it is of a derived type") == 1, &
                "and names it: "//perdure_error_text(handle))
    call perdure_protect_list(handle, 90, some, "some", status)
    call expect_refused("allocatable or pointer components")
    call perdure_protect_replicated(handle, 90, one, "one", status, bytes=.false.)
    call expect_refused("allocatable or pointer components")
    call perdure_protect_global(handle, 90, some, "some", [3], [1], status)
    call expect_refused("allocatable or pointer components")
    call perdure_unprotect(handle, 90, status)
    call expect(status == perdure_not_found, "nothing refused was registered")
  end subroutine

  subroutine takes_derived_types_that_are_said_to_be_bytes()
    type(particle), target :: particles(3), one
    character(5), target :: word
    particles%kind = [1, 2, 3]
    one%kind = 4
    word = "words"
    call perdure_protect(handle, 91, one, status, bytes=.true.)
    call expect(status == perdure_ok, "one: "//perdure_error_text(handle))
    call perdure_protect_global(handle, 92, particles, "particles", [3], [1], status, bytes=.true.)
    call expect(status == perdure_ok, "a part of an array: "//perdure_error_text(handle))
    call perdure_protect(handle, 93, word, status)
    call expect(status == perdure_ok, "texts are no derived types: "//perdure_error_text(handle))
    call perdure_checkpoint(handle, "bytes", 1, status)
    call expect(status == perdure_ok, "checkpoint: "//perdure_error_text(handle))
    particles%kind = 0
    one%kind = 0
    word = ""
    call perdure_restore(handle, "bytes", 1, status)
    call expect(all(particles%kind == [1, 2, 3]) .and. one%kind == 4 .and. word == "words", "they are back")
    call unprotect_from(91, 3)
  end subroutine

  subroutine takes_integers_of_any_kind()
    real(real64), target :: field(0:4, 0:3)
    integer :: nx, ny, first(2), last(2), version, bytes, count, level
    integer(int64) :: wide(6), count64, bytes64
    type(perdure_array_info) :: info
    nx = 3
    ny = 2
    wide = [3, -1, 2, -1, 1, -1]
    field = 7
    call perdure_block(handle, [nx, ny], first, last, status)
    call expect(status == perdure_ok .and. all(first == 1) .and. all(last == [nx, ny]), "a block of default integers")
    call perdure_block(handle, wide(1:3:2), first, last, status, grid=[1_int8, 1_int8])
    call expect(status == perdure_ok .and. all(last == [nx, ny]), "a section, and a grid of another kind")
    call perdure_protect_global(handle, 94, field(1:3, 1:2), "field", [nx, ny], first, status, ghosts=[1, 1])
    call expect(status == perdure_ok, "all of default integers: "//perdure_error_text(handle))
    call perdure_protect_global(handle, 94, field(1:3, 1:2), "field", wide(1:3:2), [1_int16, 1_int16], status, &
                                ghosts=[1_int64, 1_int64])
    call expect(status == perdure_ok, "each of another kind: "//perdure_error_text(handle))
    version = 41
    call perdure_checkpoint(handle, "kinds4", version, status)
    call expect(status == perdure_ok, "checkpoint: "//perdure_error_text(handle))
    version = 0
    call perdure_latest(handle, "kinds4", version, status)
    call expect(status == perdure_ok .and. version == 41, "the version as a default integer")
    call perdure_wait(handle, "kinds4", version, perdure_level_process, perdure_forever, status)
    call expect(status == perdure_ok, "wait: "//perdure_error_text(handle))
    call perdure_level_reached(handle, "kinds4", version, level, status)
    call expect(status == perdure_ok .and. level >= perdure_level_process, "level: "//perdure_error_text(handle))
    call perdure_stored_array(handle, "kinds4", version, 94, info, status)
    call expect(status == perdure_ok .and. all(info%extents == [3, 2]), "stored array: "//perdure_error_text(handle))
    call perdure_stored_size(handle, "kinds4", version, 94, bytes, count, status)
    call expect(status == perdure_ok .and. bytes == 8 .and. count == 6, "all of default integers")
    call perdure_stored_size(handle, "kinds4", version, 94, bytes64, count64, status)
    call expect(status == perdure_ok .and. count64 == 6, "the version alone")
    call perdure_stored_size(handle, "kinds4", perdure_latest_version, 94, bytes, count, status)
    call expect(status == perdure_ok .and. count == 6, "the sizes alone")
    field = 0
    call perdure_restore_regions(handle, "kinds4", version, [94], status)
    call expect(status == perdure_ok .and. all(nint(field(1:3, 1:2)) == 7), "restore regions")
    field = 0
    call perdure_restore(handle, "kinds4", 41, status)
    call expect(status == perdure_ok .and. all(nint(field(1:3, 1:2)) == 7), "restore: "//perdure_error_text(handle))
    call expect(nint(sum(field)) == 42, "ghosts are not touched")
    call perdure_retire(handle, "kinds4", 41, status)
    call expect(status == perdure_ok, "retire: "//perdure_error_text(handle))
    call perdure_unprotect(handle, 94, status)
  end subroutine

  subroutine refuses_what_is_no_integer_or_too_large()
    type(perdure_handle) :: other
    character(:), allocatable :: message
    real, target :: field(4, 4)
    integer :: version, first(1), last(1)
    integer(int64) :: wide_first(1), wide_last(1)
    field = 0
    call perdure_protect_global(handle, 90, field, "field", [4.0, 4.0], [1, 1], status)
    call expect_refused("as many integers as the array has dimensions")
    call perdure_protect_global(handle, 90, field, "field", [4, 4], [1, 1], status, ghosts=[.true., .true.])
    call expect_refused("as many integers as the array has dimensions")
    call perdure_block(handle, [1.0], first, last, status)
    call expect(status == perdure_invalid_argument .and. last(1) < first(1), "no block of what is no integer")
    call expect(index(perdure_error_text(handle), "block: ") == 1, "and why: "//perdure_error_text(handle))
    call perdure_block(handle, [8, 8], first, last, status)
    call expect(status == perdure_invalid_argument, "first and last have as many elements as there are dimensions")
    call perdure_block(handle, [2_int64**40], wide_first, wide_last, status)
    call expect(status == perdure_ok .and. wide_last(1) == 2_int64**40, "a large block: "//perdure_error_text(handle))
    call perdure_block(handle, [2_int64**40], first, last, status)
    call expect(status == perdure_invalid_argument .and. last(1) < first(1), "indices that do not fit are refused")
    call perdure_protect(handle, 95, field, status)
    call perdure_checkpoint(handle, "large", 2_int64**40, status)
    call expect(status == perdure_ok, "a large version: "//perdure_error_text(handle))
    call perdure_latest(handle, "large", version, status)
    call expect(status == perdure_invalid_argument .and. version == -1, "a version that does not fit is refused")
    call expect(index(perdure_error_text(handle), "integer(int64)") > 0, "and what would: "//perdure_error_text(handle))
    call perdure_unprotect(handle, 95, status)
    call perdure_open(other, status, communicator=1_int64, message=message)
    call expect(status == perdure_invalid_argument .and. index(message, "type(MPI_Comm)") > 0, "no communicator: "//message)
    call perdure_open(other, status, communicator=[1, 2], message=message)
    call expect(status == perdure_invalid_argument, "several are none: "//message)
    call perdure_open(other, status, communicator=1.0, message=message)
    call expect(status == perdure_invalid_argument, "nor is a real: "//message)
  end subroutine

  subroutine expect_refused(reason)
    character(*), intent(in) :: reason
    call expect(status == perdure_invalid_argument, "refused: "//reason)
    call expect(index(perdure_error_text(handle), reason) > 0, "it says "//reason//": "//perdure_error_text(handle))
    call expect(index(perdure_error_text(handle), "region 90") == 1, "it names it: "//perdure_error_text(handle))
  end subroutine
end program
