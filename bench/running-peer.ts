/** A gateway that is already running, such as one in another language. */
export interface RunningPeer {
  readonly name: string;
  readonly port: number;
  readonly processId: number;
}

/** @param text `NAME=URL=PID` */
export function readRunningPeer(text: string): RunningPeer {
  const [, name, url, pid] = /^([^=]+)=(http:\/\/127\.0\.0\.1:\d+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined || url === undefined)
    throw new Error(`--peer is NAME=http://127.0.0.1:PORT=PID, and this is ${text}`);
  return { name, port: Number(new URL(url).port), processId: Number(pid) };
}
