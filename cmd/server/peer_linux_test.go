package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// dialAs connects to an abstract socket as uid: the kernel notes the credentials
// of the connecting thread. Only root can be somebody else.
func dialAs(t *testing.T, name string, uid int) net.Conn {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	become(t, uid)
	defer become(t, os.Getuid())
	conn, err := net.Dial("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// become changes the effective user of this thread alone.
func become(t *testing.T, uid int) {
	t.Helper()
	keep := ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		t.Fatalf("uid %d: %v", uid, errno)
	}
}

// abstract is a socket name that no other run of these tests has. It is in no
// directory, so every user reaches it.
func abstract(t *testing.T) string {
	return fmt.Sprintf("@confined-%s-%d", t.Name(), os.Getpid())
}

func TestThePeerIsWhoTheKernelSays(t *testing.T) {
	name := abstract(t)
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	uids := []int{os.Getuid()}
	if os.Getuid() == 0 {
		uids = append(uids, 65534)
	}
	for _, uid := range uids {
		there := dialAs(t, name, uid)
		here, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		got, err := peerOf(here)
		if err != nil || got.UID != uid || got.PID != os.Getpid() {
			t.Errorf("%+v, %v; want uid %d, pid %d", got, err, uid, os.Getpid())
		}
		here.Close()
		there.Close()
	}
}

func TestAConnectionWithoutAPeerGetsNone(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	ctx := context.Background()
	if withPeer(ctx, a) != ctx {
		t.Error("a pipe has a peer")
	}
}

// TestAnotherUserIsRefused connects as another user to a server like the daemon's.
func TestAnotherUserIsRefused(t *testing.T) {
	d := newTestDaemon(t)
	name := abstract(t)
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	go d.server.Serve(l)
	defer d.server.Close()
	want := map[int]int{os.Getuid(): http.StatusOK}
	if os.Getuid() == 0 {
		want[65534] = http.StatusForbidden
	}
	for uid, status := range want {
		client := http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				return dialAs(t, name, uid), nil
			},
		}}
		answer, err := client.Get("http://confined/healthz")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != status {
			t.Errorf("uid %d: %s, want %d", uid, answer.Status, status)
		}
	}
}
