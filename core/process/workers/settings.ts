import type { WorkerStatus } from '#core/gateway/health/worker-status.ts';
import type { ForwardedResponse, ForwardedRequest } from '#core/gateway/operator-listener/server.ts';
import type { StopOrder } from '../stop-signals.ts';

export interface WorkerSettings {
  readonly number: number; // from 1; a successor gets the same number
  readonly workerCount: number;
  readonly socketDescriptors: readonly number[];
  readonly isAlone: boolean; // true if no other worker is serving when this one starts
}

/** The last crash of any worker, for the health checks of all workers. */
export interface WorkerCrash {
  readonly worker: number;
  readonly how: string;
  /** Epoch ms. */
  readonly at: number;
  /** Time between the crash and the order, because the wall clock may be changed. Supervisors of earlier versions omit it. */
  readonly ageMs?: number;
}

export type WorkerOrder =
  | { readonly kind: 'stop'; readonly order: StopOrder }
  | { readonly kind: 'reload'; readonly id: number }
  | { readonly kind: 'greet'; readonly operatorUrl: string | undefined }
  /** After each of the next `connections` responses, closes the connection, so that clients move to other workers. */
  | { readonly kind: 'shed'; readonly connections: number }
  /** Sent when a worker becomes ready or crashes. */
  | { readonly kind: 'workers'; readonly workers: readonly WorkerStatus[]; readonly crash: WorkerCrash | undefined }
  | { readonly kind: 'ask'; readonly id: number; readonly question: ForwardedRequest };

export type WorkerReport =
  | { readonly kind: 'ready' }
  /** Sent every two seconds. */
  | { readonly kind: 'load'; readonly running: number }
  /** Answer to `ask` or `reload`; for `reload`, false if gateway.yaml was refused. */
  | { readonly kind: 'answer'; readonly id: number; readonly answer: ForwardedResponse | boolean | undefined };

const workerVariable = 'DAYPASS_WORKER';
const firstDescriptor = 4; // follows stdio and the IPC channel

/** Undefined if the process has no supervisor. */
export function readWorkerSettings(environment: NodeJS.ProcessEnv = process.env): WorkerSettings | undefined {
  const [number, workerCount, sockets, aloneFlag] = environment[workerVariable]?.split('/').map(Number) ?? [];
  if (!process.connected || number === undefined || workerCount === undefined || sockets === undefined)
    return undefined;
  const socketDescriptors = Array.from({ length: sockets }, (_, index) => firstDescriptor + index);
  return { number, workerCount, socketDescriptors, isAlone: aloneFlag === 1 };
}

/** Creates the environment variable that passes the settings to a worker. Its sockets get consecutive descriptors. */
export function createWorkerEnvironment({
  number,
  workerCount,
  sockets,
  isAlone,
}: Omit<WorkerSettings, 'socketDescriptors'> & { readonly sockets: number }): Record<string, string> {
  return { [workerVariable]: [number, workerCount, sockets, isAlone ? 1 : 0].join('/') };
}
