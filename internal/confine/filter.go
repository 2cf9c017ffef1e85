package confine

import "fmt"

// instruction is one step of a classic BPF program, laid out as the kernel's struct sock_filter.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// The opcodes in use.
const (
	opLoad   = 0x20 // accumulator = 32 bits of struct seccomp_data at offset k
	opAnd    = 0x54 // accumulator &= k
	opEqual  = 0x15 // skip jt instructions if accumulator == k, else jf
	opReturn = 0x06 // the verdict is k
)

// Offsets in struct seccomp_data, little-endian: nr, arch, instruction pointer, six arguments of 64 bits.
const (
	offsetNumber       = 0
	offsetArchitecture = 4
	offsetArguments    = 16
)

// Verdicts.
const (
	verdictKill   = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	verdictErrno  = 0x00050000 // SECCOMP_RET_ERRNO, plus the number
	verdictNotify = 0x7fc00000 // SECCOMP_RET_USER_NOTIF
	verdictAllow  = 0x7fff0000 // SECCOMP_RET_ALLOW
)

// maxJump is the furthest a conditional jump reaches.
const maxJump = 255

// compile turns the rules into the program for one architecture, for the process whose id is self. It is a chain of blocks, one for each
// call: "is it this number? then ... and a verdict", in the order of the rules.
func (f *filter) compile(a architecture, self uint32) ([]instruction, error) {
	program := []instruction{
		{code: opLoad, k: offsetArchitecture},
		{code: opEqual, k: a.audit(), jt: 1},
		{code: opReturn, k: verdictKill},
		{code: opLoad, k: offsetNumber},
	}
	for _, call := range f.calls() {
		nr, known := syscallNumbers(call.name)
		if !known {
			return nil, fmt.Errorf("filter: unknown call %q", call.name)
		}
		if nr.on(a) == absent {
			continue
		}
		block, err := call.block(self)
		if err != nil {
			return nil, err
		}
		program = append(program, instruction{code: opEqual, k: uint32(nr.on(a)), jf: uint8(len(block))})
		program = append(program, block...)
	}
	eperm, _ := errno("EPERM")
	return append(program, instruction{code: opReturn, k: verdictErrno | uint32(eperm)}), nil
}

// lockProgram asks the listener about execveat and lets the rest pass, for the profile's own filter to judge: of two filters' verdicts the
// kernel takes the stricter, and a question is stricter than consent (seccomp(2)). Foreign architectures are killed by the other.
func lockProgram(a architecture) []instruction {
	execveat, _ := syscallNumbers("execveat")
	return []instruction{
		{code: opLoad, k: offsetNumber},
		{code: opEqual, k: uint32(execveat.on(a)), jf: 1},
		{code: opReturn, k: verdictNotify},
		{code: opReturn, k: verdictAllow},
	}
}

// childProgram is the program of a process that does not exist yet: own are the instructions whose operand is to become its id.
type childProgram struct {
	instructions []instruction
	own          []int
}

// compileForChild is compile for this host. What differs between two processes is what their ids decide.
func (f *filter) compileForChild() (childProgram, error) {
	arch, err := hostArchitecture()
	if err != nil {
		return childProgram{}, err
	}
	p := childProgram{}
	if p.instructions, err = f.compile(arch, 0); err != nil {
		return childProgram{}, err
	}
	another, err := f.compile(arch, 1)
	for i := range another {
		if p.instructions[i] != another[i] {
			p.own = append(p.own, i)
		}
	}
	return p, err
}

// call gathers all lines that name one system call.
type call struct {
	name         string
	alternatives [][]condition
	verdict      uint32 // if an alternative holds, or there is none to hold
	otherwise    uint32 // if there are alternatives and none holds
}

// calls sorts the rules by call, in order of first appearance. Only parsed rules come here, so an unknown answer is impossible.
func (f *filter) calls() []call {
	var calls []call
	index := map[string]int{}
	for _, r := range f.rules {
		for _, name := range r.names {
			i, seen := index[name]
			if !seen {
				i = len(calls)
				index[name] = i
				calls = append(calls, call{name: name, verdict: r.verdict(), otherwise: r.otherwise()})
			}
			if len(r.when) > 0 {
				calls[i].alternatives = append(calls[i].alternatives, r.when)
			}
		}
	}
	return calls
}

func (r rule) verdict() uint32 {
	switch r.verb {
	case verbAllow, verbOnce: // what is allowed once, the exec lock asks about besides
		return verdictAllow
	}
	return r.otherwise()
}

// otherwise is the verdict that the rule's answer stands for.
func (r rule) otherwise() uint32 {
	n, _ := errno(r.answer)
	return verdictErrno | uint32(n)
}

// block is what follows once the number is known to be the call's.
func (c call) block(self uint32) ([]instruction, error) {
	if len(c.alternatives) == 0 {
		return []instruction{{code: opReturn, k: c.verdict}}, nil
	}
	var block []instruction
	for _, conditions := range c.alternatives {
		block = append(block, alternative(conditions, c.verdict, self)...)
	}
	block = append(block, instruction{code: opReturn, k: c.otherwise})
	if len(block) > maxJump {
		return nil, fmt.Errorf("filter: the conditions of %s are too long: %d instructions", c.name, len(block))
	}
	return block, nil
}

// alternative returns the verdict if every condition holds, and else falls through to what follows it.
func alternative(conditions []condition, verdict, self uint32) []instruction {
	tail := []instruction{{code: opReturn, k: verdict}}
	for i := len(conditions) - 1; i >= 0; i-- {
		tail = append(conditions[i].test(len(tail), self), tail...)
	}
	return tail
}

// test goes on to what follows it if the condition holds, and skips that many instructions more if not. An upper half whose bits are all
// masked away is not looked at.
func (c condition) test(skip int, self uint32) []instruction {
	values := c.values
	if c.self {
		values = []uint64{uint64(self)}
	}
	low := half(c.arg, 0, uint32(c.mask), lower(values), skip)
	if upper := uint32(c.mask >> 32); upper != 0 {
		return append(half(c.arg, 1, upper, []uint32{uint32(values[0] >> 32)}, skip+len(low)), low...)
	}
	return low
}

func lower(values []uint64) []uint32 {
	low := make([]uint32, len(values))
	for i, v := range values {
		low[i] = uint32(v)
	}
	return low
}

// half tests 32 bits of an argument against any of the values.
func half(arg, upper int, mask uint32, values []uint32, skip int) []instruction {
	block := []instruction{{code: opLoad, k: uint32(offsetArguments + 8*arg + 4*upper)}}
	if mask != ^uint32(0) {
		block = append(block, instruction{code: opAnd, k: mask})
	}
	for i, v := range values {
		left := len(values) - 1 - i
		miss := 0
		if left == 0 {
			miss = skip
		}
		block = append(block, instruction{code: opEqual, k: v, jt: uint8(left), jf: uint8(miss)})
	}
	return block
}
