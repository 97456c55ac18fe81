/** The thread that writes the journal. It imports no modules of the gateway's core, and uses blocking calls. */
import { writeSync } from 'node:fs';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { operations } from './operations.ts';
import { Ring, word } from './ring.ts';
import { ownThreadId } from './thread-state.ts';

export interface ThreadQuestion {
  readonly id: number;
  readonly name: keyof typeof operations;
  readonly values: readonly unknown[];
}

export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

/** Messages of this thread: it has started, an operation's result, or lines could not be written. */
export type ThreadAnswer =
  | { readonly kind: 'started' }
  | { readonly kind: 'result'; readonly id: number; readonly result?: unknown; readonly failure?: Failure }
  | { readonly kind: 'failed'; readonly failure: Failure };

const main = parentPort as MessagePort;
const ring = new Ring(workerData as SharedArrayBuffer);
const { control } = ring;
let answered = 0;

Atomics.store(control, word.threadId, ownThreadId());
Atomics.store(control, word.hasStarted, 1);
tell({ kind: 'started' });
for (;;) {
  const bell = Atomics.load(control, word.bell);
  Atomics.store(control, word.isAtWork, 1);
  writeLines();
  while (Atomics.load(control, word.asked) !== answered) {
    const question = receiveMessageOnPort(main);
    if (question === undefined) break;
    answered = (answered + 1) | 0;
    // Writes the lines that were appended before the operation, because it may read them.
    writeLines();
    answer(question.message as ThreadQuestion);
  }
  Atomics.store(control, word.isAtWork, 0);
  Atomics.store(control, word.isAsleep, 1);
  if (!hasWork()) Atomics.wait(control, word.bell, bell);
  Atomics.store(control, word.isAsleep, 0);
}

function hasWork(): boolean {
  if (Atomics.load(control, word.asked) !== answered) return true;
  return Atomics.load(control, word.hasFailed) === 0 && !ring.isEmpty;
}

function writeLines(): void {
  if (Atomics.load(control, word.hasFailed) === 1) return;
  try {
    ring.writeFrames(writeSync, tellWritten);
  } catch (error) {
    Atomics.store(control, word.hasFailed, 1);
    tell({ kind: 'failed', failure: describe(error) });
  }
}

function tellWritten(): void {
  if (Atomics.exchange(control, word.isAwaited, 0) === 1) Atomics.notify(control, word.done);
}

function answer({ id, name, values }: ThreadQuestion): void {
  try {
    const result = (operations[name] as (...values: readonly unknown[]) => unknown)(...values);
    tell({ kind: 'result', id, result }, result instanceof Uint8Array ? [result.buffer as ArrayBuffer] : []);
  } catch (error) {
    tell({ kind: 'result', id, failure: describe(error) });
  }
}

function tell(what: ThreadAnswer, transferred: ArrayBuffer[] = []): void {
  main.postMessage(what, transferred);
}

function describe(error: unknown): Failure {
  return error instanceof Error
    ? { message: error.message, code: (error as NodeJS.ErrnoException).code }
    : { message: String(error), code: undefined };
}
