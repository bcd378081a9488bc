"""Ways out of a sandbox, as cells: each is the body of a function that gives True when it got what it must not get.

`place` holds what is there outside: paths as texts, numbers of processes and ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BEGIN: Final = """
import ctypes, errno, fcntl, json, mmap, os, signal, socket, sqlite3, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
place = json.loads({place!r})
outside, secret, work = place["outside"], place["secret"], place["work"]
def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "denied")
    return result
def said(program):
    return subprocess.run(program, shell=isinstance(program, str), capture_output=True, text=True).stdout
def has_secret(data):
    return ("hush-hush" if isinstance(data, str) else b"hush-hush") in data
"""

FILES: Final = {
    "read a file outside": "return has_secret(open(secret).read())",
    "read it as bytes by a system call": (
        "fd = libc.open(secret.encode(), 0)\nreturn fd >= 0 and has_secret(os.read(fd, 100))"
    ),
    "read it by a system call with its number": (
        "return has_secret(os.read(call(257, -100, secret.encode(), 0, 0), 100))"
    ),
    "map it into memory": (
        "fd = os.open(secret, os.O_RDONLY)\nreturn has_secret(mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:])"
    ),
    "list a folder outside": "return 'secret.txt' in os.listdir(outside)",
    "walk to it from the working directory": "return 'journal.sqlite' in os.listdir('..')",
    "open it relative to a folder": (
        "folder = os.open('.', os.O_RDONLY)\n"
        "return has_secret(open(os.open('../../outside/secret.txt', 0, dir_fd=folder)).read())"
    ),
    "change into its folder first": (
        "try:\n    os.chdir(outside)\n    return has_secret(open('secret.txt').read())\nfinally:\n    os.chdir(work)"
    ),
    "read it by way of the root of a process": "return has_secret(open(f'/proc/self/root{secret}').read())",
    "read it by way of the root of nbcc": "return has_secret(open(f'/proc/{place[\"nbcc\"]}/root{secret}').read())",
    "read it by way of a process's folder": "return has_secret(open('/proc/self/cwd/../../outside/secret.txt').read())",
    "read it through a link made before": "return has_secret(open('link-made-before').read())",
    "read it through a symbolic link": "os.symlink(secret, 'link')\nreturn has_secret(open('link').read())",
    "read it through a hard link": "os.link(secret, 'hard')\nreturn has_secret(open('hard').read())",
    "read it by a program": "return has_secret(said(['cat', secret]))",
    "read it by a shell": "return has_secret(said(f'cat < {secret}'))",
    "copy it by a program": "said(['cp', secret, 'copied'])\nreturn has_secret(open('copied').read())",
    "write a file outside": "open(outside + '/new.txt', 'w').write('x')\nreturn True",
    "write a file outside by a shell": "return os.system(f'echo x > {outside}/new.txt') == 0",
    "append to a file outside": "open(secret, 'a').write('x')\nreturn True",
    "empty a file outside": "os.truncate(secret, 0)\nreturn True",
    "delete a file outside": "os.unlink(outside + '/removable.txt')\nreturn True",
    "delete a folder outside": "os.rmdir(outside + '/removable')\nreturn True",
    "delete a folder by an attribute chain": (
        "import pandas as pd\n"
        "pd.io.common.os.system(f'rm -rf {outside}/removable')\n"
        "return pd.io.common.os.system(f'test -e {outside}/removable/file') != 0 and 'removed'"
    ),
    "make a folder outside": "os.mkdir(outside + '/folder')\nreturn True",
    "move a file in": "os.rename(outside + '/removable.txt', 'moved.txt')\nreturn True",
    "move a file out": "open('own.txt', 'w').close()\nos.rename('own.txt', outside + '/own.txt')\nreturn True",
    "change the mode of a file": "os.chmod(secret, 0o777)\nreturn os.stat(secret).st_mode & 0o777 == 0o777",
    "change the owner of a file": "os.chown(secret, 12345, 12345)\nreturn True",
    "change the times of a file": "os.utime(secret, (1, 1))\nreturn os.stat(secret).st_mtime == 1",
    "mark a file with an attribute": "os.setxattr(secret, 'user.nbcc', b'x')\nreturn True",
    "read a key in the home": "return has_secret(open(place['home'] + '/.ssh/id_rsa').read())",
    "list the home": "return '.ssh' in os.listdir(place['home'])",
    "read the passwords of the machine": "return bool(open('/etc/shadow').read())",
    "write into the settings of the machine": "open('/etc/nbcc-escape', 'w')\nreturn True",
    "write into the programs of the machine": "open('/usr/bin/nbcc-escape', 'w')\nreturn True",
    "write into the packages": "open(os.path.join(sys.prefix, 'nbcc-escape.pth'), 'w')\nreturn True",
    "change the standard library": "open(os.__file__, 'a')\nreturn True",
    "write into the inputs": "open(place['inputs'] + '/data.csv', 'a')\nreturn True",
    "delete an input": "os.unlink(place['inputs'] + '/data.csv')\nreturn True",
    "list temporary files of others": "return os.path.basename(place['temporary']) in os.listdir('/tmp')",
    "read temporary files of others": "return has_secret(open(place['temporary']).read())",
    "read shared memory of others": "return has_secret(open(place['shared_memory']).read())",
    "make a device": "os.mknod('device', 0o600 | 0o60000, os.makedev(254, 0))\nreturn True",
    "open the memory of the machine": "open('/dev/mem', 'rb')\nreturn True",
    "open a disk": (
        "disks = [f'/dev/{one}' for one in ('vda', 'sda', 'nvme0n1')]\n"
        "return any(open(one, 'rb') for one in disks if os.path.exists(one))"
    ),
}
JOURNAL: Final = {
    "read the journal": "return has_secret(open(place['run'] + '/journal.sqlite', 'rb').read())",
    "write into the journal": "open(place['run'] + '/journal.sqlite', 'ab').write(b'x')\nreturn True",
    "open the journal as a database": (
        "sqlite3.connect(place['run'] + '/journal.sqlite').execute('create table x (y)')\nreturn True"
    ),
    "delete the journal": "os.unlink(place['run'] + '/journal.sqlite')\nreturn True",
    "take the lock": "fcntl.flock(open(place['run'] + '/run.lock', 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)\nreturn True",
    "delete the lock": "os.unlink(place['run'] + '/run.lock')\nreturn True",
    "put another folder in place of its own": "os.rename(work, work + '-moved')\nreturn True",
}
NETWORK: Final = {
    "connect to a service of this machine": "socket.create_connection(('127.0.0.1', place['tcp']), 2)\nreturn True",
    "connect by IPv6": "socket.create_connection(('::1', place['tcp']), 2)\nreturn True",
    "connect to another machine": "socket.create_connection(('192.0.2.1', 80), 0.2)\nreturn True",
    "send a datagram": (
        "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "one.sendto(b'out', ('127.0.0.1', place['udp']))\nreturn 'look outside'"
    ),
    "send a datagram by a program": (
        "said(['bash', '-c', f'echo out > /dev/udp/127.0.0.1/{place[\"udp\"]}'])\nreturn 'look outside'"
    ),
    "fetch a page": (
        "import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{place[\"tcp\"]}', timeout=2)\nreturn True"
    ),
    "listen for others": (
        "one = socket.socket()\none.bind(('0.0.0.0', place['free']))\none.listen()\n"
        "keep.append(one)\nreturn 'look outside'"
    ),
    "open a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\nreturn True",
    "open a packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\nreturn True",
    "speak to the host of a virtual machine": "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\nreturn True",
    "open a socket for the kernel's cryptography": "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)\nreturn True",
    "set up io_uring, which makes sockets of its own": "call(425, 8, ctypes.create_string_buffer(120))\nreturn True",
    "connect to a unix socket": ("socket.socket(socket.AF_UNIX).connect(place['stream_socket'])\nreturn True"),
    "send to a unix socket": (
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'out', place['datagram_socket'])\nreturn True"
    ),
    "send to a unix socket from a pair": (
        "one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "one.sendto(b'out', place['datagram_socket'])\nreturn True"
    ),
    "send to a unix socket from a raw pair": (
        "one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)\n"
        "one.sendto(b'out', place['datagram_socket'])\nreturn True"
    ),
    "connect to an abstract socket": "socket.socket(socket.AF_UNIX).connect(place['abstract'].encode())\nreturn True",
    "connect by a program": (
        "return said([sys.executable, '-c', 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); "
        "print(1)', place['stream_socket']]) == '1\\n'"
    ),
}
PROCESSES: Final = {
    "read the environment of the parent": "return has_secret(open(f'/proc/{os.getppid()}/environ').read())",
    "read the environment of nbcc": "return has_secret(open(f'/proc/{place[\"nbcc\"]}/environ').read())",
    "read it by a program": "return has_secret(said(f'cat /proc/{place[\"nbcc\"]}/environ'))",
    "find a secret in its own environment": "return has_secret(json.dumps(dict(os.environ)))",
    "find a secret where it began": "return has_secret(open('/proc/self/environ').read())",
    "find a key in its own environment": "return 'OPENAI_API_KEY' in os.environ or 'SSH_AUTH_SOCK' in os.environ",
    "see other processes": "return str(place['other']) in os.listdir('/proc')",
    "see other processes by a program": "return 'nbcc-other-process' in said('ps axww')",
    "read the command of another process": (
        "return b'nbcc-other-process' in open(f'/proc/{place[\"other\"]}/cmdline', 'rb').read()"
    ),
    "open the memory of nbcc": "open(f'/proc/{place[\"nbcc\"]}/mem', 'rb')\nreturn True",
    "list the open files of nbcc": "return bool(os.listdir(f'/proc/{place[\"nbcc\"]}/fd'))",
    "take a file of nbcc": "return call(438, os.pidfd_open(place['nbcc']), 0, 0) >= 0",
    "trace another process": "return call(101, 16, place['other'], 0, 0) == 0",
    "read the memory of nbcc": (
        "text = ctypes.create_string_buffer(8)\n"
        "vector = (ctypes.c_uint64 * 2)(ctypes.addressof(text), 8)\n"
        "other = (ctypes.c_uint64 * 2)(place['address'], 8)\n"
        "return call(310, place['nbcc'], vector, 1, other, 1, 0) == 8"
    ),
    "change the limits of nbcc": (
        "import resource\nresource.prlimit(place['nbcc'], resource.RLIMIT_CORE, (0, 0))\nreturn True"
    ),
    "change the priority of another process": "os.setpriority(os.PRIO_PROCESS, place['other'], 19)\nreturn True",
    "use a message queue of the machine": "return call(68, 0x6E626363, 0o1666) >= 0 and place['message_queue']",
    "search the keys of the user": "return call(250, 0, -4 & 0xFFFFFFFF, 0) >= 0",
}
SIGNALS: Final = {
    "signal another process": "os.kill(place['other'], 0)\nreturn True",
    "signal nbcc": "os.kill(place['nbcc'], 0)\nreturn True",
    "signal by a descriptor": "signal.pidfd_send_signal(os.pidfd_open(place['other']), 0)\nreturn True",
    "signal by a program": "return os.system(f'kill -0 {place[\"other\"]} 2>/dev/null') == 0",
}
PRIVILEGES: Final = {
    "mount something": "return libc.mount(b'none', work.encode(), b'tmpfs', 0, None) == 0",
    "take another root": "os.chroot(work)\nreturn True",
    "become root of a new namespace and mount": (
        "done = said(f'unshare -rm mount -t tmpfs none {work} && echo yes')\n"
        "return done == 'yes\\n' and has_secret(open(secret).read())"
    ),
    "join the namespaces of nbcc": (
        "return call(308, os.open(f'/proc/{place[\"nbcc\"]}/ns/mnt', 0), 0) == 0 and has_secret(open(secret).read())"
    ),
    "name the machine otherwise": ("return libc.sethostname(b'nbcc', 4) == 0 and place['is_shared_host']"),
    "set the clock": "import time\ntime.clock_settime(time.CLOCK_REALTIME, time.time())\nreturn True",
    "change a setting of the system": "open('/proc/sys/vm/swappiness', 'w').write('60')\nreturn True",
    "trigger the system": "open('/proc/sysrq-trigger', 'w')\nreturn True",
    "make a control group": "os.mkdir('/sys/fs/cgroup/nbcc-escape')\nreturn True",
    "load a filter into the kernel": "return call(321, 5, ctypes.create_string_buffer(120), 120) >= 0",
    "keep a capability": "return int(open('/proc/self/status').read().split('CapEff:')[1].split()[0], 16) != 0",
}

ESCAPES: Final[Mapping[str, str]] = {**FILES, **JOURNAL, **NETWORK, **PROCESSES, **SIGNALS, **PRIVILEGES}


def cell(body: str) -> str:
    """The cell that tries; it prints True, what else it gave, or why it failed."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return (
        f"keep = globals().setdefault('keep', [])\ndef attempt():\n{lines}\n"
        "try:\n    print(attempt())\nexcept BaseException as error:\n    print(type(error).__name__, error)\n"
    )
