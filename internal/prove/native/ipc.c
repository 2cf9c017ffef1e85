// Ways for two processes to meet without a file between them, and the ones a process has with itself.
#include "probe.h"
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#ifdef __linux__
#include <linux/futex.h>
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#endif

static int plain_pipe(void) {
	int p[2];
	return result(pipe(p));
}

// made is for what outlasts the process: it was made, and that is the act, whatever comes of taking it away again.
static int made(int removed) {
	if (removed == -1) snprintf(said, sizeof said, "made, and not removed: %s", strerror(errno));
	return 0;
}

static int shared_memory(void) {
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	return id == -1 ? errno : made(shmctl(id, IPC_RMID, NULL));
}
static int semaphores(void) {
	int id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	return id == -1 ? errno : made(semctl(id, 0, IPC_RMID));
}
static int messages(void) {
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	return id == -1 ? errno : made(msgctl(id, IPC_RMID, NULL));
}
static const char *name(void) {
	static char text[64];
	snprintf(text, sizeof text, "/confined-probe-%d", getpid());
	return text;
}
static int named_memory(void) {
	int fd = shm_open(name(), O_CREAT | O_EXCL | O_RDWR, 0600);
	return fd < 0 ? errno : made(shm_unlink(name()));
}
static int named_semaphore(void) {
	sem_t *s = sem_open(name(), O_CREAT | O_EXCL, 0600, 1);
	if (s == SEM_FAILED) return errno;
	sem_close(s);
	return made(sem_unlink(name()));
}

#ifdef __linux__
static int attach_memory(void) { // an id that may be nobody's: unconfined the kernel looks for it
	int r = shmat(0x7fffffff, NULL, SHM_RDONLY) == (void *)-1 ? errno : 0;
	return r == EINVAL || r == EIDRM ? 0 : r;
}
static int list_memory(void) {
	struct shmid_ds d;
	return result(shmctl(0, SHM_INFO, &d));
}
static int message_queue(void) {
	mqd_t q = mq_open(name(), O_CREAT | O_EXCL | O_RDWR, 0600, NULL);
	return q == (mqd_t)-1 ? errno : made(mq_unlink(name()));
}
static int owned_futex(void) { // owned by another process: the answer would say whether it exists
	uint32_t w = 0;
	return result(syscall(SYS_futex, &w, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
}
static int wake_futex(void) {
	uint32_t w = 0;
	return result(syscall(SYS_futex, &w, FUTEX_WAKE, 1, NULL, NULL, 0));
}
static int packet_pipe(void) {
	int p[2];
	return result(pipe2(p, O_DIRECT));
}
static int packets_later(void) {
	int p[2];
	if (pipe2(p, 0)) return errno;
	return result(fcntl(p[1], F_SETFL, O_DIRECT));
}
static int notification_pipe(void) { // O_EXCL is O_NOTIFICATION_PIPE here
	int p[2];
	return result(pipe2(p, O_EXCL));
}
static int pipe_size(void) {
	int p[2];
	return pipe(p) == -1 ? errno : result(fcntl(p[1], F_SETPIPE_SZ, 4096));
}
static int pipe_size_asked(void) { return result(fcntl(1, F_GETPIPE_SZ)); }
static int event_counter(void) { return result(eventfd(0, EFD_CLOEXEC)); }
static int epoll(void) { return result(epoll_create1(EPOLL_CLOEXEC)); }
static int timer_descriptor(void) { return result(timerfd_create(CLOCK_MONOTONIC, 0)); }
#endif

const struct act ipc[] = {
	ACT(plain_pipe), ACT(shared_memory), ACT(semaphores), ACT(messages), ACT(named_memory), ACT(named_semaphore),
#ifdef __linux__
	ACT(attach_memory), ACT(list_memory), ACT(message_queue), ACT(owned_futex), ACT(wake_futex), ACT(packet_pipe), ACT(packets_later), ACT(notification_pipe), ACT(pipe_size), ACT(pipe_size_asked),
	ACT(event_counter), ACT(epoll), ACT(timer_descriptor),
#endif
	END};
