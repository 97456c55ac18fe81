/** Script of the thread that writes the journal. It imports none of the gateway's core modules and uses blocking calls. */
import { writeSync } from 'node:fs';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { operations } from './operations.ts';
import { Ring, controlWord } from './ring.ts';
import { readThreadId } from './thread-state.ts';

export interface ThreadRequest {
  readonly id: number;
  readonly name: keyof typeof operations;
  readonly values: readonly unknown[];
}

export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

export type ThreadMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'result'; readonly id: number; readonly result?: unknown; readonly failure?: Failure }
  | { readonly kind: 'failed'; readonly failure: Failure };

const mainThread = parentPort as MessagePort;
const ring = new Ring(workerData as SharedArrayBuffer);
const { control } = ring;
let handledRequests = 0;

Atomics.store(control, controlWord.threadId, readThreadId());
Atomics.store(control, controlWord.hasStarted, 1);
post({ kind: 'started' });
for (;;) {
  const wakeCount = Atomics.load(control, controlWord.wakeCount);
  Atomics.store(control, controlWord.isWorking, 1);
  writeLines();
  while (Atomics.load(control, controlWord.requestCount) !== handledRequests) {
    const received = receiveMessageOnPort(mainThread);
    if (received === undefined) break;
    handledRequests = (handledRequests + 1) | 0;
    // Writes what was appended before the operation, which may read it.
    writeLines();
    runOperation(received.message as ThreadRequest);
  }
  Atomics.store(control, controlWord.isWorking, 0);
  Atomics.store(control, controlWord.isAsleep, 1);
  if (!hasWork()) Atomics.wait(control, controlWord.wakeCount, wakeCount);
  Atomics.store(control, controlWord.isAsleep, 0);
}

function hasWork(): boolean {
  if (Atomics.load(control, controlWord.requestCount) !== handledRequests) return true;
  return Atomics.load(control, controlWord.hasFailed) === 0 && !ring.isEmpty;
}

function writeLines(): void {
  if (Atomics.load(control, controlWord.hasFailed) === 1) return;
  try {
    ring.writeFrames(writeSync, notifyWritten);
  } catch (error) {
    Atomics.store(control, controlWord.hasFailed, 1);
    post({ kind: 'failed', failure: describeFailure(error) });
  }
}

function notifyWritten(): void {
  if (Atomics.exchange(control, controlWord.isAwaited, 0) === 1) Atomics.notify(control, controlWord.done);
}

function runOperation({ id, name, values }: ThreadRequest): void {
  try {
    const result = (operations[name] as (...values: readonly unknown[]) => unknown)(...values);
    post({ kind: 'result', id, result }, result instanceof Uint8Array ? [result.buffer as ArrayBuffer] : []);
  } catch (error) {
    post({ kind: 'result', id, failure: describeFailure(error) });
  }
}

function post(message: ThreadMessage, transferred: ArrayBuffer[] = []): void {
  mainThread.postMessage(message, transferred);
}

function describeFailure(error: unknown): Failure {
  return error instanceof Error
    ? { message: error.message, code: (error as NodeJS.ErrnoException).code }
    : { message: String(error), code: undefined };
}
