// What native/mac.c declares itself, and the numbers that it and mac_read.go have, held against the headers of macOS: compiled before it.
#include <libproc.h>
#include <mach/mach.h>
#include <stdio.h>
#include <sys/clonefile.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysctl.h>

_Static_assert(MACH_PORT_RIGHT_RECEIVE == 1 && MACH_MSG_TYPE_MAKE_SEND == 20, "Mach ports");
_Static_assert(CTL_KERN == 1 && KERN_PROC == 14 && KERN_PROC_ALL == 0 && KERN_PROC_PID == 1 && KERN_PROCARGS2 == 49, "sysctl");
_Static_assert(SIDL == 1 && SRUN == 2 && SSLEEP == 3 && SSTOP == 4 && SZOMB == 5, "states of processes");
_Static_assert(PROC_PIDT_SHORTBSDINFO == 13 && PROC_PIDT_SHORTBSDINFO_SIZE == 64, "proc_info");
_Static_assert(RENAME_SWAP == 2 && UF_NODUMP == 1, "files");
_Static_assert(AF_SYSTEM == 32 && AF_ROUTE == 17, "sockets");
