! People change the code between two starts. This runs the table of tests/data/changes.table in Fortran, which knows types and
! shapes without being told. Run by ctest with the directory to work in and the table as arguments. Status 1 when something
! failed.
program changed_code_test
  use iso_fortran_env, only: int64, real64
  use expectation
  use perdure
  implicit none
  integer, parameter :: n = 100
  type(perdure_handle) :: handle
  character(1024) :: directory, table
  integer :: status
  real(real64), target :: a(n), b(n), extra(5)
  logical :: restored

  call get_command_argument(1, directory)
  call get_command_argument(2, table)
  call writes_x_and_y()
  call carries_out_the_table()
  call hears_of_another_size_type_or_shape()
  call refuses_what_cannot_be_declared()
  if (failures > 0) error stop 1
  print '(a)', "all passed"

contains

  subroutine open()
    call perdure_open(handle, status, options="store.path="//trim(directory)//"/store;node.path="//trim(directory)// &
                      "/node;tier.file.path="//trim(directory)//"/file;tier.memory.max_bytes=64MiB")
    call expect(status == perdure_ok, "open")
    a = -1
    b = -1
    extra = -1
  end subroutine

  subroutine close()
    call perdure_close(handle, status)
    call expect(status == perdure_ok, "close")
  end subroutine

  subroutine protect(id, region, name)
    integer, intent(in) :: id
    real(real64), intent(inout), target :: region(:)
    character(*), intent(in) :: name
    call perdure_protect(handle, id, region, status)
    call expect(status == perdure_ok, "protect "//name)
    call perdure_describe(handle, id, name, status)
    call expect(status == perdure_ok, "describe "//name)
  end subroutine

  subroutine expect_told(part)
    character(*), intent(in) :: part
    call perdure_restore(handle, "app", perdure_latest_version, status)
    call expect(status == perdure_mismatch, "no first start: "//part)
    call expect(index(perdure_error_text(handle), part) > 0, part//" is in: "//perdure_error_text(handle))
    call expect(all(a == -1.0_real64), "nothing was touched: "//part)
  end subroutine

  subroutine writes_x_and_y()
    call open()
    call protect(0, a, "x")
    call protect(1, b, "y")
    a = 1
    b = 2
    call perdure_checkpoint(handle, "app", 500_int64, status)
    call expect(status == perdure_ok, "checkpoint: "//perdure_error_text(handle))
    call close()
  end subroutine

  ! Takes the part before the first of the letters `at`, and drops that letter.
  subroutine take(text, at, part)
    character(*), intent(inout) :: text
    character(*), intent(in) :: at
    character(*), intent(out) :: part
    integer :: where
    where = index(trim(text), at)
    if (where == 0) then
      part = adjustl(text)
      text = ""
    else
      part = adjustl(text(:where - 1))
      text = adjustl(text(where + len(at):))
    end if
  end subroutine

  subroutine carries_out_the_table()
    character(1024) :: line, what, now, declared, wanted, words, filled
    integer :: unit, ended, rows
    open (newunit=unit, file=trim(table), action="read", status="old")
    rows = 0
    do
      read (unit, "(a)", iostat=ended) line
      if (ended /= 0) exit
      if (len_trim(line) == 0 .or. line(1:1) == "#") cycle
      call take(line, "|", what)
      call take(line, "|", now)
      call take(line, "|", declared)
      call take(line, "|", wanted)
      call take(line, "|", words)
      call take(line, "|", filled)
      call carries_out(trim(what), now, declared, trim(wanted), words, filled)
      rows = rows + 1
    end do
    close (unit)
    call expect(rows > 15, "the table has its rows")
  end subroutine

  ! Regions have the memory of their place in the row.
  subroutine carries_out(what, regions, declared, wanted, words, filled)
    character(*), intent(in) :: what, regions, declared, wanted, words, filled
    real(real64), target :: reals(200, 4)
    integer(int64), target :: integers(200, 4)
    integer :: ids(4), counts(4), many, i
    character(8) :: kinds(4)
    character(1024) :: rest, region
    call open()
    reals = -1
    integers = -1
    rest = regions
    many = 0
    do while (len_trim(rest) > 0)
      call take(rest, " ", region)
      many = many + 1
      call protects(region, reals(:, many), integers(:, many), ids(many), counts(many), kinds(many))
    end do
    call declares(declared)
    call perdure_restore(handle, "app", perdure_latest_version, status)
    if (wanted == "ok") then
      call expect(status == perdure_ok, what//": "//perdure_error_text(handle))
    else
      call expect(status == perdure_mismatch, what//" is a mismatch")
      call tells(what, words)
    end if
    do i = 1, many
      call has(what, ids(i), filled, reals(:counts(i), i), integers(:counts(i), i), kinds(i))
    end do
    call close()
  end subroutine

  subroutine protects(said, reals, integers, id, elements, kind)
    character(*), intent(in) :: said
    real(real64), intent(inout), target :: reals(:)
    integer(int64), intent(inout), target :: integers(:)
    integer, intent(out) :: id, elements
    character(*), intent(out) :: kind
    character(1024) :: rest, part, name
    rest = said
    call take(rest, ":", part)
    read (part, *) id
    call take(rest, ":", name)
    call take(rest, ":", part)
    read (part, *) elements
    call take(rest, ":", kind)
    if (kind == "f8") then
      call perdure_protect(handle, id, reals(:elements), status)
    else
      call perdure_protect(handle, id, integers(:elements), status)
    end if
    call expect(status == perdure_ok, "protect "//trim(said))
    if (len_trim(name) > 0) call perdure_describe(handle, id, trim(name), status)
    call expect(status == perdure_ok, "describe "//trim(said))
  end subroutine

  subroutine declares(declared)
    character(*), intent(in) :: declared
    character(1024) :: rest, one, kind, before
    integer :: id
    rest = declared
    if (rest == "-") return
    do while (len_trim(rest) > 0)
      call take(rest, " ", one)
      call take(one, ":", kind)
      select case (kind)
      case ("optional")
        read (one, *) id
        call perdure_set_presence(handle, id, perdure_optional, status)
      case ("passed_over")
        call perdure_pass_over(handle, trim(one), status)
      case default
        call take(one, ">", before)
        call perdure_renamed(handle, trim(before), trim(one), status)
      end select
      call expect(status == perdure_ok, "declare "//trim(declared)//": "//perdure_error_text(handle))
    end do
  end subroutine

  subroutine tells(what, words)
    character(*), intent(in) :: what, words
    character(1024) :: rest, part
    rest = words
    do while (len_trim(rest) > 0)
      call take(rest, ";", part)
      call expect(index(perdure_error_text(handle), trim(part)) > 0, &
                  what//": '"//trim(part)//"' is in: "//perdure_error_text(handle))
    end do
  end subroutine

  ! Restored data is all of x or y; all other data is as it was.
  subroutine has(what, id, filled, reals, integers, kind)
    character(*), intent(in) :: what, filled, kind
    integer, intent(in) :: id
    real(real64), intent(in) :: reals(:)
    integer(int64), intent(in) :: integers(:)
    character(1024) :: rest, one, region
    integer :: there
    real(real64) :: value
    value = -1
    rest = filled
    do while (rest /= "-" .and. len_trim(rest) > 0)
      call take(rest, " ", one)
      call take(one, "=", region)
      read (region, *) there
      if (there == id) value = merge(1, 2, one == "x")
    end do
    call perdure_was_restored(handle, id, restored, status)
    call expect(status == perdure_ok .and. (restored .eqv. value > 0), what//": it says what was restored")
    if (kind == "f8") call expect(all(reals == value), what//": what came")
    if (kind /= "f8") call expect(all(integers == int(value, int64)), what//": what came")
  end subroutine

  subroutine hears_of_another_size_type_or_shape()
    integer(int64), target :: whole(n)
    real(real64), target :: square(10, 10)
    call open()
    whole = -1
    square = -1
    call protect(0, a(1:n - 1), "x")
    call protect(1, b, "y")
    call expect_told("region 0 'x': it was stored as 100 elements of 8 bytes, and is protected as 99 elements of 8 bytes")
    call perdure_protect(handle, 0, whole, status)
    call expect_told("region 0 'x': its element type was stored as f8, and is protected as i8")
    call perdure_protect(handle, 0, square, status)
    call expect_told("region 0 'x': its shape was stored as 100, and is protected as 10x10")
    call expect(all(whole == -1) .and. all(square == -1.0_real64), "nothing was touched")
    call close()
  end subroutine

  subroutine refuses_what_cannot_be_declared()
    call open()
    call perdure_renamed(handle, "x", "x", status)
    call expect(status == perdure_invalid_argument, "a circle of names")
    call perdure_pass_over(handle, "no name", status)
    call expect(status == perdure_invalid_argument, "no name")
    call perdure_set_presence(handle, 0, perdure_optional, status)
    call expect(status == perdure_not_found, "it is not protected")
    call perdure_was_restored(handle, 0, restored, status)
    call expect(status == perdure_not_found .and. .not. restored, "it was not restored either")
    call close()
  end subroutine
end program
