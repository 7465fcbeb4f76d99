/* A FAKE of VeloC, for tests of bench/peers, declares the signatures of include/veloc.h that the back end calls. */
#ifndef PERDURE_FAKE_VELOC_H
#define PERDURE_FAKE_VELOC_H

#include <mpi.h>
#include <stddef.h>

#define VELOC_SUCCESS (0)
#define VELOC_FAILURE (-1)

#ifdef __cplusplus
extern "C" {
#endif

int VELOC_Init(MPI_Comm comm, const char* cfg_file);
int VELOC_Finalize(int cleanup);
int VELOC_Mem_protect(int id, void* ptr, size_t count, size_t base_size);
int VELOC_Checkpoint_begin(const char* name, int version);
int VELOC_Checkpoint_mem();
int VELOC_Checkpoint_end(int success);
int VELOC_Checkpoint_wait();
int VELOC_Restart(const char* name, int version);

#ifdef __cplusplus
}
#endif

#endif
