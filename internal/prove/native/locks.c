// Locks, leases and watches: files shared by snapshots of several runs must carry no message, and no host process may be held up.
#include "probe.h"
#include <sys/file.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/fanotify.h>
#include <sys/inotify.h>
#endif

static int lock_by(int command, short type) {
	struct flock l = {.l_type = type, .l_whence = SEEK_SET};
	return result(fcntl(writable(shared("f")), command, &l));
}
static int lock_whole(void) { return result(flock(open(shared("f"), O_RDONLY), LOCK_EX | LOCK_NB)); }
static int lock_to_read(void) { return lock_by(F_SETLK, F_RDLCK); }
static int lock_to_write(void) { return lock_by(F_SETLK, F_WRLCK); }
static int lock_waiting(void) { return lock_by(F_SETLKW, F_RDLCK); }
static int lock_asked(void) { return lock_by(F_GETLK, F_WRLCK); }

#ifdef __linux__
static int lock_of_description(void) { return lock_by(F_OFD_SETLK, F_RDLCK); }
static int lease(void) { return result(fcntl(open(shared("f"), O_RDONLY), F_SETLEASE, F_RDLCK)); }
static int notice(void) { return result(fcntl(open(".", O_RDONLY | O_DIRECTORY), F_NOTIFY, DN_ACCESS)); }
static int watch(void) {
	int fd = inotify_init1(IN_CLOEXEC);
	return fd < 0 ? errno : result(inotify_add_watch(fd, ".", IN_ALL_EVENTS));
}
static int watch_all(void) {
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY);
	return fd < 0 ? errno : result(fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "."));
}
#endif

const struct act locks[] = {
	ACT(lock_whole), ACT(lock_to_read), ACT(lock_to_write), ACT(lock_waiting), ACT(lock_asked),
#ifdef __linux__
	ACT(lock_of_description), ACT(lease), ACT(notice), ACT(watch), ACT(watch_all),
#endif
	END};
