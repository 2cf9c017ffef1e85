// What native/mac.c declares itself and the numbers it has, held against the headers of macOS: compiled before it.
#include <libproc.h>
#include <mach/mach.h>
#include <stdio.h>
#include <sys/clonefile.h>
#include <sys/proc_info.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysctl.h>

_Static_assert(MACH_PORT_RIGHT_RECEIVE == 1 && MACH_MSG_TYPE_MAKE_SEND == 20, "Mach ports");
_Static_assert(CTL_KERN == 1 && KERN_PROC == 14 && KERN_PROC_ALL == 0 && KERN_PROC_PID == 1 && KERN_PROCARGS2 == 49, "sysctl");
_Static_assert(PROC_PIDT_SHORTBSDINFO == 13 && PROC_PIDT_SHORTBSDINFO_SIZE == 64, "proc_info");
_Static_assert(RENAME_SWAP == 2 && UF_NODUMP == 1, "files");
_Static_assert(AF_SYSTEM == 32 && AF_ROUTE == 17, "sockets");
