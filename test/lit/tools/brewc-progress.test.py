"""Compiles a deep net on a terminal. The process is stopped for more than three seconds as soon as
it has a second thread, which shows the progress."""
import os
import pty
import signal
import sys
import time

brewc = sys.argv[1]
with open("net.prototxt", "w") as net:
    net.write('layer { name: "0" type: "Input" top: "0" input_param { shape { dim: 1 dim: 8 dim: 64 dim: 64 } } }\n')
    for i in range(200):
        net.write('layer { name: "%d" type: "Convolution" bottom: "%d" top: "%d" convolution_param { num_output: 8 '
                  'kernel_size: 3 pad: 1 } }\n' % (i + 1, i, i + 1))
pid, terminal = pty.fork()
if pid == 0:
    os.execv(brewc, [brewc, "net.prototxt", "--phase=test", "-o", "net.plan"])
while len(os.listdir("/proc/%d/task" % pid)) < 2:
    time.sleep(.001)
os.kill(pid, signal.SIGSTOP)
time.sleep(3.2)
os.kill(pid, signal.SIGCONT)
output = b""
try:
    while part := os.read(terminal, 65536):
        output += part
except OSError:  # the end of the terminal
    pass
_, status = os.waitpid(pid, 0)
print(output.decode().replace("\r\n", "\n").replace("\r", "<CR>").replace("\x1b[K", "<ERASE>"))
sys.exit(os.waitstatus_to_exitcode(status))
