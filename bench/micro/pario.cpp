// Runs the DEEP-ER benchmark pario (D5.4, 3.1.1): task-local files.
#include "file_program.hpp"

int main(int argc, char** argv) {
  return perdure::micro::run_file_program(argc, argv, "pario", perdure::micro::Layout::task_local);
}
