// Sockets of every kind, and what one does with them.
#include "probe.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#ifdef __linux__
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <net/ethernet.h>
#endif

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static socklen_t ipv4(union address *a, const char *port) {
	memset(a, 0, sizeof *a);
	a->in.sin_family = AF_INET;
	a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a->in.sin_port = htons(number(port));
	return sizeof a->in;
}

static socklen_t ipv6(union address *a, const char *port) {
	memset(a, 0, sizeof *a);
	a->in6.sin6_family = AF_INET6;
	a->in6.sin6_addr = in6addr_loopback;
	a->in6.sin6_port = htons(number(port));
	return sizeof a->in6;
}

// local is a Unix socket; a leading @ stands for the byte 0 that abstract names begin with.
static socklen_t local(union address *a, const char *name) {
	memset(a, 0, sizeof *a);
	a->un.sun_family = AF_UNIX;
	size_t length = strlen(name) < sizeof a->un.sun_path ? strlen(name) : sizeof a->un.sun_path;
	memcpy(a->un.sun_path, name, length);
	if (*name != '@') return sizeof a->un;
	a->un.sun_path[0] = 0;
	return offsetof(struct sockaddr_un, sun_path) + length;
}

static int reach(int type, const union address *a, socklen_t length) {
	int fd = socket(a->any.sa_family, type, 0);
	return fd < 0 ? errno : result(connect(fd, &a->any, length));
}

// stay binds and leaves the socket open.
static int stay(int type, const union address *a, socklen_t length) {
	int fd = socket(a->any.sa_family, type, 0);
	if (fd < 0 || bind(fd, &a->any, length) == -1) return errno;
	return type == SOCK_STREAM ? result(listen(fd, 1)) : 0;
}

static int connect_ipv4(void) { union address a; return reach(SOCK_STREAM, &a, ipv4(&a, "tcp4")); }
static int connect_ipv6(void) { union address a; return reach(SOCK_STREAM, &a, ipv6(&a, "tcp6")); }
static int connect_unix(void) { union address a; return reach(SOCK_STREAM, &a, local(&a, world("unix"))); }
static int connect_abstract(void) { union address a; return reach(SOCK_STREAM, &a, local(&a, world("abstract"))); }
static int connect_daemon(void) { union address a; return reach(SOCK_STREAM, &a, local(&a, world("daemonSocket"))); }
static int listen_ipv4(void) { union address a; return stay(SOCK_STREAM, &a, ipv4(&a, "ports.listen4")); }
static int listen_ipv6(void) { union address a; return stay(SOCK_STREAM, &a, ipv6(&a, "ports.listen6")); }
static int listen_unix(void) { union address a; return stay(SOCK_STREAM, &a, local(&a, world("names.path"))); }
static int listen_abstract(void) { union address a; return stay(SOCK_STREAM, &a, local(&a, world("names.abstract"))); }
static int bind_datagrams(void) { union address a; return stay(SOCK_DGRAM, &a, ipv4(&a, "ports.bind")); }
static int send_datagram(void) {
	union address a;
	socklen_t length = ipv4(&a, "udp");
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	return fd < 0 ? errno : result(sendto(fd, "x", 1, 0, &a.any, length));
}

static int pair(void) {
	int p[2];
	return result(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
}
static int ping(void) { return result(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP)); }
static int raw_ipv4(void) { return result(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }
static int raw_ipv6(void) { return result(socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6)); }

// every_family asks for each family there may be, in each type.
static int every_family(void) {
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
	int refusal = 0;
	size_t length = 0;
	for (int family = 0; family < 64; family++)
		for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
			int fd = socket(family, types[i], 0);
			if (fd >= 0 && length < sizeof said - 16) length += snprintf(said + length, sizeof said - length, "%d/%d ", family, types[i]);
			if (fd < 0 && (refusal == 0 || errno != EPERM)) refusal = errno;
			if (fd >= 0) close(fd);
		}
	return length > 0 ? 0 : refusal;
}

#ifdef __linux__
static int netlink(void) { return result(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)); }
static int packets(void) { return result(socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL))); }
static int vsock(void) {
	struct sockaddr_vm a = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = 1};
	int fd = socket(AF_VSOCK, SOCK_STREAM, 0);
	return fd < 0 ? errno : result(connect(fd, (struct sockaddr *)&a, sizeof a));
}
static int kernel_crypto(void) { return result(socket(AF_ALG, SOCK_SEQPACKET, 0)); }
static int pairs_of_datagrams(void) {
	int p[2];
	return result(socketpair(AF_UNIX, SOCK_DGRAM, 0, p));
}
#endif

const struct act network[] = {
	ACT(connect_ipv4), ACT(connect_ipv6), ACT(connect_unix), ACT(connect_abstract), ACT(connect_daemon), LASTING(listen_ipv4), LASTING(listen_ipv6),
	LASTING(listen_unix), LASTING(listen_abstract), LASTING(bind_datagrams), ACT(send_datagram), ACT(pair), ACT(ping), ACT(raw_ipv4), ACT(raw_ipv6),
	ACT(every_family),
#ifdef __linux__
	ACT(netlink), ACT(packets), ACT(vsock), ACT(kernel_crypto), ACT(pairs_of_datagrams),
#endif
	END};
