import { spawn } from 'node:child_process';

/** Stops the server and removes its folder, $0, when standard input ends. Does nothing if both are gone. */
const script = `
read -r _
pid=$(head -n 1 "$0/postgres/postmaster.pid") || { rm -rf "$0"; exit; }
kill -QUIT "$pid"
turn=0
while kill -0 "$pid" && [ $turn -lt 50 ]; do sleep 0.1; turn=$((turn + 1)); done
rm -rf "$0"
`;

/**
 * Starts a process that stops the PostgreSQL of a temporary folder if this process ends without doing so, for example by a signal.
 * Otherwise the server would keep running and its files would take up memory. Disposing it has the same effect.
 */
export function reapWithProcess(folder: string): Disposable {
  const reaper = spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // If there is no `sh`, as on Windows, nothing is reaped.
  reaper.on('error', () => undefined);
  reaper.stdin.on('error', () => undefined);
  reaper.unref();
  return { [Symbol.dispose]: () => void reaper.stdin.end() };
}
