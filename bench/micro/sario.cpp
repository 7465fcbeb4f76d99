// Runs sario, the derivative of pario (D5.4, 3.1.2): one aggregated file per node.
#include "file_program.hpp"

int main(int argc, char** argv) {
  return perdure::micro::run_file_program(argc, argv, "sario", perdure::micro::Layout::aggregated);
}
