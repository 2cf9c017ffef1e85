// What would change the host itself, or who this process is to it. Where a call would do harm if it were let through, its arguments are such that
// the kernel refuses them afterwards.
#include "probe.h"
#include <grp.h>
#include <sys/time.h>
#ifdef __linux__
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#endif

static int become_self(void) { return result(setuid(getuid())); }
static int become_own_group(void) { return result(setgid(getgid())); }
static int drop_groups(void) { return result(setgroups(0, NULL)); }

#ifdef __linux__
static int become_root(void) { return result(setresuid(0, 0, 0)); }
static int become_self_thrice(void) { return result(setresuid(getuid(), getuid(), getuid())); }
static int file_user(void) { // setfsuid tells no error: its answer is the id before, and inside that it is refused
	long r = syscall(SYS_setfsuid, (long)getuid());
	return result(r);
}
static int set_capabilities(void) {
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2] = {{0, 0, 0}, {0, 0, 0}};
	return result(syscall(SYS_capset, &h, d));
}
static int name_host(void) { return result(syscall(SYS_sethostname, "probe", -1)); }
static int name_domain(void) { return result(syscall(SYS_setdomainname, "probe", -1)); }
static int set_time(void) {
	struct timeval never = {-1, -1};
	return result(syscall(SYS_settimeofday, &never, NULL));
}
static int set_clock(void) {
	struct timespec never = {-1, -1};
	return result(syscall(SYS_clock_settime, CLOCK_REALTIME, &never));
}
static int adjust_clock(void) {
	struct timex t = {.modes = 0}; // only asks
	return result(adjtimex(&t));
}
static int adjust_this_clock(void) {
	struct timex t = {.modes = 0};
	return result(syscall(SYS_clock_adjtime, CLOCK_REALTIME, &t));
}
static int restart(void) { return result(syscall(SYS_reboot, 0, 0, 0, NULL)); } // without the numbers that mean it
static int load_kernel(void) { return result(syscall(SYS_kexec_load, 0, 0, NULL, ~0UL)); }
static int load_kernel_file(void) { return result(syscall(SYS_kexec_file_load, -1, -1, 0, NULL, ~0UL)); }
static int load_module(void) { return result(syscall(SYS_init_module, NULL, 0, "")); }
static int load_module_file(void) { return result(syscall(SYS_finit_module, -1, "", 0)); }
static int unload_module(void) { return result(syscall(SYS_delete_module, "no such module", O_NONBLOCK)); }
static int swap_on(void) { return result(syscall(SYS_swapon, "/nonexistent", 0)); }
static int swap_off(void) { return result(syscall(SYS_swapoff, "/nonexistent")); }
static int account(void) { return result(syscall(SYS_acct, "/nonexistent")); }
static int hang_up(void) { return result(syscall(SYS_vhangup)); }
static int kernel_log(void) { return result(syscall(SYS_syslog, 10, NULL, 0)); } // SYSLOG_ACTION_SIZE_BUFFER
static int quota(void) { return result(syscall(SYS_quotactl, 0x800007 << 8, NULL, 0, NULL)); } // Q_GETQUOTA
static int flush_all(void) { return result(syscall(SYS_syncfs, open(".", O_RDONLY))); }
#endif

const struct act host[] = {
	ACT(become_self), ACT(become_own_group), ACT(drop_groups),
#ifdef __linux__
	ACT(become_root), ACT(become_self_thrice), ACT(file_user), ACT(set_capabilities), ACT(name_host), ACT(name_domain), ACT(set_time),
	ACT(set_clock), ACT(adjust_clock), ACT(adjust_this_clock), ACT(restart), ACT(load_kernel), ACT(load_kernel_file), ACT(load_module),
	ACT(load_module_file), ACT(unload_module), ACT(swap_on), ACT(swap_off), ACT(account), ACT(hang_up), ACT(kernel_log), ACT(quota), ACT(flush_all),
#endif
	END};
