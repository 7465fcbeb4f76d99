! A program asks which version a restore took, and which it passed over, and restores from branches that were left. Run by ctest
! with the directory to work in as argument. Status 1 when something failed.
program lineage_test
  use iso_fortran_env, only: int8, int64, real64
  use expectation
  use perdure
  implicit none
  type(perdure_handle) :: handle
  type(perdure_restored_info) :: info
  type(perdure_passed_over_info) :: passed
  real(real64), target :: field(1000)
  character(1024) :: directory
  integer :: status

  call get_command_argument(1, directory)
  call says_what_it_took()
  call takes_a_branch_that_was_left()
  call says_that_it_passes_over_a_damaged_version()
  if (failures > 0) error stop 1
  print '(a)', "all passed"

contains

  subroutine open()
    call perdure_open(handle, status, options="store.path="//trim(directory)//"/store;node.path="//trim(directory)// &
                      "/node;tier.file.path="//trim(directory)//"/file;tier.memory.max_bytes=64MiB;retention.keep_last=9")
    call expect(status == perdure_ok, "open")
    call perdure_protect(handle, 0, field, status)
    call expect(status == perdure_ok, "protect")
  end subroutine

  subroutine close()
    call perdure_close(handle, status)
    call expect(status == perdure_ok, "close")
  end subroutine

  subroutine good(what)
    character(*), intent(in) :: what
    call expect(status == perdure_ok, what//": "//perdure_error_text(handle))
  end subroutine

  subroutine writes(name, first, last)
    character(*), intent(in) :: name
    integer, intent(in) :: first, last
    integer :: version
    do version = first, last
      field = version
      call perdure_checkpoint(handle, name, version, status)
      call good("checkpoint")
    end do
  end subroutine

  subroutine says_what_it_took()
    call open()
    call perdure_restored(handle, info, status)
    call expect(status == perdure_not_found, "nothing was restored yet")
    call writes("app", 1, 3)
    call perdure_restore(handle, "app", perdure_latest_version, status)
    call good("restore")
    call perdure_restored(handle, info, status)
    call good("restored")
    call expect(info%name == "app" .and. info%version == 3 .and. info%passed_over == 0, "it took the newest")
    call expect(len(info%branch) == 6 .and. info%created_ns > 0 .and. info%age_s >= 0, "which has a branch and an age")
    call perdure_passed_over(handle, 1, passed, status)
    call expect(status == perdure_not_found, "and passed over nothing")
    call perdure_passed_over(handle, 0, passed, status)
    call expect(status == perdure_not_found, "numbers begin with 1")
    call close()
  end subroutine

  subroutine takes_a_branch_that_was_left()
    character(:), allocatable :: left
    left = info%branch
    call open()
    call perdure_restore(handle, "app", 1, status)
    call good("go back")
    call writes("app", 2, 2)
    field = 0
    call perdure_restore_branch(handle, "app", left, 3, status)
    call good("restore the branch")
    call expect(all(field == 3.0_real64), "it has what it had")
    call perdure_restored(handle, info, status)
    call expect(status == perdure_ok .and. info%version == 3 .and. info%branch == left, "and is told")
    call perdure_restore_branch(handle, "app", "no branch", perdure_latest_version, status)
    call expect(status == perdure_invalid_argument, "no name of a branch")
    call close()
  end subroutine

  ! Inverts bytes of a file of this version.
  subroutine damages(name, version)
    character(*), intent(in) :: name, version
    character(2048) :: path
    integer(int8) :: bytes(4)
    integer :: unit, ended
    call execute_command_line("rm -rf "//trim(directory)//"/node "//trim(directory)//"/file; ls "//trim(directory)// &
                              "/store/"//name//"/"//version//"/* > "//trim(directory)//"/paths")
    open (newunit=unit, file=trim(directory)//"/paths", action="read", status="old")
    read (unit, "(a)", iostat=ended) path
    close (unit)
    call expect(ended == 0, "there is a file of version "//version)
    open (newunit=unit, file=trim(path), access="stream", form="unformatted", status="old", action="readwrite")
    read (unit, pos=5001) bytes
    write (unit, pos=5001) not(bytes)
    close (unit)
  end subroutine

  subroutine says_that_it_passes_over_a_damaged_version()
    call open()
    call writes("damaged", 1, 3)
    call close()
    call damages("damaged", "3")
    call open()
    field = 0
    call perdure_restore(handle, "damaged", perdure_latest_version, status)
    call good("restore")
    call expect(all(field == 2.0_real64), "it took the one before")
    call perdure_restored(handle, info, status)
    call good("restored")
    call expect(info%version == 2 .and. info%passed_over == 1, "and says so")
    call perdure_passed_over(handle, 1, passed, status)
    call good("passed over")
    call expect(passed%version == 3 .and. passed%created_ns >= info%created_ns, "which it passed over")
    call expect(len(passed%why) > 0, "and why")
    print '(2a)', "passed over: ", passed%why
    call perdure_passed_over(handle, 2, passed, status)
    call expect(status == perdure_not_found, "that was all")
    call close()
  end subroutine
end program
