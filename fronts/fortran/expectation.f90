! Checks expectations in tests of the Fortran front, and prints those that failed.
module expectation
  implicit none
  integer :: failures = 0
contains
  subroutine expect(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what
    if (truth) return
    failures = failures + 1
    print '(2a)', "FAILED: ", what
  end subroutine
end module
