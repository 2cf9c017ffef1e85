confined-linux/1
limit cpu 10
limit descriptors 64
limit core 0
limit file 0
limit threads 128
limit data 4294967296
limit stack 8388608
limit memlock 0
limit msgqueue 0
limit sigpending 128
oom-score-adj 1000
coredump-filter 0
user 65534 outside 61003
group 65534 outside 61003
root 262144 bytes 512 inodes
file "/usr/lib/x86_64-linux-gnu/libc.so.6" 66306:13 read
file "/opt/node/bin/node" 66306:11 read execute
file "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" 66306:12 read execute
alias "/lib64" "usr/lib64"
alias "/usr/lib64/ld-linux-x86-64.so.2" "../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
alias "/proc/self/exe" "/opt/node/bin/node"
tree "/srv/confined/root/slot-3/program" 66307:21 read list
tree "/srv/confined/root/slot-3/input" 66307:22 read list
dir "/srv/confined/root/slot-3/home" list
canary "/srv/confined/root/slot-3/canary" 66307:24
device "/dev/null" 1:3 read
proc "/proc/self/stat" read
proc "/proc/self/statm" read
proc "/proc/self/status" read
proc "/proc/self/maps" read
proc "/proc/cpuinfo" read
proc "/proc/stat" read
proc "/proc/meminfo" read
text "/proc/self/cgroup" "0::/\n" read
text "/srv/confined/root/slot-3/preload.cjs" "// The program's gate. Node loads this file before the program, in the main thread and again in every worker, where it only tidies up.\n// It proves that each of the three layers denies one act that the host would allow, waits for the host's word, says so on descriptor 3\n// and lets the program load. Whatever goes wrong, the program does not load. It leaves nothing behind that the program could use.\n'use strict';\nconst { isMainThread } = require('node:worker_threads');\nconst Module = require('node:module');\n\nif (isMainThread) {\n  const fs = require('node:fs');\n  const slot = process.env.HOME.slice(0, -'/home'.length);\n\n  const say = (word) => {\n    fs.writeSync(3, `sf-confined/1 ${word}\\n`);\n    fs.closeSync(3);\n  };\n  const refuse = (reason) => {\n    try {\n      if (reason) fs.writeSync(2, `confined: preload: ${reason}\\n`);\n      say('refused');\n    } finally {\n      process.reallyExit(125);\n    }\n  };\n  const denied = (code, act) => {\n    try {\n      act();\n    } catch (error) {\n      return error.code === code;\n    }\n    return false;\n  };\n\n  // Node resolves this file again in each worker, from the working directory, where a package.json can claim any name. If\n  // it cannot be resolved at all, workers fail by themselves.\n  const replacedInWorkers = () => {\n    const preloading = new Module('internal/preload', null);\n    preloading.paths = Module._nodeModulePaths(process.cwd());\n    try {\n      return Module._resolveFilename(__filename, preloading, false) !== __filename;\n    } catch {\n      return false;\n    }\n  };\n\n  try {\n    const proven =\n      // Landlock: the launch stage has just read this very file, as the same user.\n      denied('EACCES', () => fs.readFileSync(`${slot}/canary`)) &&\n      // The private root: every Linux host has this directory.\n      denied('ENOENT', () => fs.statSync('/proc/self/fd')) &&\n      // The filter: nothing else stands between a process and the statistics of a directory it can reach.\n      denied('EPERM', () => fs.statfsSync(process.env.HOME));\n    const gate = Buffer.alloc(1);\n    if (!proven || fs.readSync(0, gate, 0, 1, null) !== 1 || gate[0] !== 0x67) refuse();\n    process.chdir(`${slot}/input`);\n    if (replacedInWorkers()) refuse('package.json of the input answers for the preload in workers: rename that package');\n    say('admitted');\n  } catch {\n    refuse();\n  }\n}\n\nprocess.execArgv.length = 0;\ndelete require.cache[__filename];\nfor (const key of Object.keys(Module._pathCache)) {\n  if (Module._pathCache[key] === __filename) delete Module._pathCache[key];\n}\n" read
environment LC_ALL "C"
environment TZ "UTC"
environment HOME "/srv/confined/root/slot-3/home"
environment TMPDIR "/srv/confined/root/slot-3/home"
environment OPENSSL_CONF "/dev/null"
chdir "/"
execute "/opt/node/bin/node"
foreign-architecture kill
default EPERM
allow read write readv writev pread64 preadv close lseek dup dup2 dup3
allow fstat newfstatat statx stat lstat access faccessat faccessat2 readlink readlinkat getcwd chdir
allow openat open getdents64 umask
allow mprotect munmap mremap brk pkey_alloc pkey_mprotect pkey_free
allow epoll_create1 epoll_ctl epoll_wait epoll_pwait poll ppoll eventfd2
allow rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall
allow getpid getppid gettid getuid geteuid getgid getegid getgroups
allow exit exit_group set_tid_address set_robust_list rseq sched_yield
allow getrandom nanosleep gettimeofday time getrusage sysinfo uname
allow clone when arg0 = 0x3d0f00 else EPERM
return ENOSYS clone3 openat2 io_uring_setup
allow futex when arg1 & 0xfffffe7f = 0 1 3 4 5 9 10 else ENOSYS
allow kill when arg0 & 0xffffffff = self else EPERM
allow tgkill when arg0 & 0xffffffff = self else EPERM
allow getpriority when arg0 & 0xffffffff = 0 and arg1 & 0xffffffff = 0 else EPERM
allow sched_getaffinity when arg0 & 0xffffffff = 0 else ENOSYS
return 0 sched_getparam sched_getscheduler
allow prlimit64 when arg0 & 0xffffffff = 0 and arg2 = 0 else EPERM
allow clock_gettime when arg0 & 0x80000000 = 0 else EINVAL
allow clock_gettime when arg0 & 0x80000004 = 0x80000004 else EINVAL
allow clock_getres when arg0 & 0x80000000 = 0 else EINVAL
allow clock_getres when arg0 & 0x80000004 = 0x80000004 else EINVAL
allow clock_nanosleep when arg0 & 0x80000000 = 0 else EINVAL
allow clock_nanosleep when arg0 & 0x80000004 = 0x80000004 else EINVAL
allow mmap when arg3 & 0x42101 = 0 else EPERM
allow mmap when arg3 & 0x42120 = 0 else EPERM
allow madvise when arg2 & 0xffffffff = 0 1 2 3 4 8 10 14 15 16 17 18 19 else EINVAL
allow membarrier when arg0 & 0xffffffff = 0 8 16 32 64 else EINVAL
allow ioctl when arg1 & 0xffffffff = 0x5401 0x802c542a 0x5413 0x541b 0x5421 0x5451 0x5450 else ENOTTY
allow fcntl when arg1 & 0xffffffff = 0 0x406 1 2 3 6 0x408 else EPERM
allow fcntl when arg1 & 0xffffffff = 4 and arg2 & 0x16000 = 0 else EPERM
allow pipe2 when arg1 & 0xfff7f7ff = 0 else EINVAL
allow prctl when arg0 & 0xffffffff = 15 16 0x53564d41 else EPERM
allow arch_prctl when arg0 & 0xffffffff = 0x1002 else EINVAL
once execveat
