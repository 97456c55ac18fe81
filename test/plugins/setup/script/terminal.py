"""Runs a command on a terminal and types answers: terminal.py '[["prompt", "answer"], ...]' COMMAND...

An answer is typed once its prompt has been printed, Ctrl-C again every two seconds: bash loses one that comes just before it waits
for input, as people know who press it twice. Standard input of the command is a pipe with the rest of ours; its output
goes to the terminal. Prints everything that the terminal showed, then the exit status on a separate line.
"""
import json, os, pty, select, signal, subprocess, sys

script = sys.stdin.buffer.read()
answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, restore_signals=True)
    try:
        process.stdin.write(script)
        process.stdin.close()
    except BrokenPipeError:
        pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = process.wait()
    os._exit(status if status >= 0 else 128 - status)

CTRL_C = b"\x03"
shown, place, typed, silence = b"", 0, b"", 0
while True:
    ready, _, _ = select.select([terminal], [], [], 2)
    silence = 0 if ready else silence + 2
    if not ready and silence < 20:
        if typed == CTRL_C:
            os.write(terminal, CTRL_C)
        continue
    if not ready:
        os.kill(child, signal.SIGKILL)
        break
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if answers and answers[0][0].encode() in shown[place:]:
        place = len(shown)
        typed = answers.pop(0)[1].encode()
        os.write(terminal, typed)
_, status = os.waitpid(child, 0)
sys.stdout.write("%s\n%d\n" % (shown.decode(errors="replace").replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)))
