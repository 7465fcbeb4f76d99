/* A FAKE of FTI, for tests of bench/peers, declares the signatures of include/fti.h that the back end calls. */
#ifndef PERDURE_FAKE_FTI_H
#define PERDURE_FAKE_FTI_H

#include <mpi.h>
#include <stdint.h>

#define FTI_DONE 1
#define FTI_SCES 0
#define FTI_NSCS -1

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PERDURE_PEERS_OLD_FAKES
/* As until release 1.4. */
typedef struct FTIT_type {
  int id;
  int size;
} FTIT_type;
extern FTIT_type FTI_CHAR;
int FTI_Init(char* configFile, MPI_Comm globalComm);
int FTI_Protect(int id, void* ptr, long count, FTIT_type type);
#else
typedef int fti_id_t;
extern fti_id_t FTI_CHAR;
int FTI_Init(const char* configFile, MPI_Comm globalComm);
int FTI_Protect(int id, void* ptr, int32_t count, fti_id_t tid);
#endif
int FTI_Checkpoint(int id, int level);
int FTI_Recover();
int FTI_Finalize();

#ifdef __cplusplus
}
#endif

#endif
