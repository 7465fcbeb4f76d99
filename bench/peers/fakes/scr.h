/* A FAKE of SCR, for tests of bench/peers, declares the signatures of src/scr.h that the back end calls. */
#ifndef PERDURE_FAKE_SCR_H
#define PERDURE_FAKE_SCR_H

#ifdef __cplusplus
extern "C" {
#endif

#define SCR_SUCCESS (0)
#define SCR_MAX_FILENAME 1024
#define SCR_FLAG_CHECKPOINT (1 << 0)

int SCR_Init(void);
int SCR_Finalize(void);
int SCR_Route_file(const char* name, char* file);
int SCR_Have_restart(int* flag, char* name);
int SCR_Start_restart(char* name);
int SCR_Complete_restart(int valid);
int SCR_Start_output(const char* name, int flags);
int SCR_Complete_output(int valid);
#ifndef PERDURE_PEERS_OLD_FAKES
int SCR_Flushing(const char* name, int* flag);
#endif

#ifdef __cplusplus
}
#endif

#endif
