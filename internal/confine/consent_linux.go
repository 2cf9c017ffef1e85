package confine

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif.
type notification struct {
	id                 uint64
	pid, flags         uint32
	number             int32
	architecture       uint32
	instructionPointer uint64
	arguments          [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// consentOnce lets the child's one exec pass, see lockExec. It ends with the child's end of the socket or with the listener, whatever
// becomes of the child; whoever asks after that, or is not recognised, is told ENOSYS by the kernel, since nobody holds the listener.
func (c *child) consentOnce() {
	listener, err := receive(c.lock)
	_ = c.lock.Close() // Wait may have closed it before
	if err != nil {
		return // the child did not come this far, and has said why
	}
	defer listener.Close()
	_ = whenReadable(listener, func(fd int) error {
		err := consent(fd, c.PID)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
			return unix.EAGAIN // the kernel withdrew the question, no consent was given: it may ask again
		}
		return err
	})
}

// receive takes the listener from the socket. An end of file is an error.
func receive(socket *os.File) (listener *os.File, err error) {
	control := make([]byte, unix.CmsgSpace(4))
	var data [1]byte
	got := 0
	err = whenReadable(socket, func(fd int) error {
		for { // the child's first word is still there if awaitChild has given it up
			n, size, _, _, err := unix.Recvmsg(fd, data[:], control, unix.MSG_CMSG_CLOEXEC)
			if got = size; err != nil || n == 0 || got > 0 {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:got])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("%d messages: %w", len(messages), errors.Join(err, unix.EBADMSG))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	err = unix.SetNonblock(fds[0], true)
	return os.NewFile(uintptr(fds[0]), "listener"), err
}

// whenReadable calls act when the file has something to say, until it says anything but EAGAIN. At a hangup it says EPIPE.
func whenReadable(f *os.File, act func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = conn.Read(func(fd uintptr) (done bool) {
		switch ready := readiness(int(fd)); {
		case ready&unix.POLLIN != 0:
			result = act(int(fd))
			return !errors.Is(result, unix.EAGAIN)
		case ready != 0:
			result = unix.EPIPE
			return true
		}
		return false
	})
	return errors.Join(err, result)
}

// readiness asks without waiting: a seccomp listener knows no reading that does not wait.
func readiness(fd int) int16 {
	polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(polled, 0); err != nil {
		return 0
	}
	return polled[0].Revents
}

// consent answers one question: is it that child, and does it ask to execute the descriptor that is Node?
func consent(listener, child int) error {
	var n notification
	if err := notifyControl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
		return err
	}
	if n.pid != uint32(child) || n.number != unix.SYS_EXECVEAT || n.arguments[0] != nodeFD || n.arguments[4] != unix.AT_EMPTY_PATH {
		return fmt.Errorf("a call that is not the launch's: %+v", n)
	}
	yes := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	return notifyControl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&yes))
}

func notifyControl(listener int, request uintptr, argument unsafe.Pointer) error {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), request, uintptr(argument))
	return orNil(e)
}

func orNil(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
