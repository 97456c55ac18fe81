import { hungWork } from '#core/platform/hung-work.ts';
import { firstOrTimeout, timedOut } from '#core/platform/timing/deadline.ts';
import { type Disk, DiskSilent } from './contract.ts';
import { DiskThread, errorOf, threadScript } from './disk-thread.ts';
import type { FileIdentity } from './files.ts';
import { makesFile, type OpenFile, type Operations } from './operations.ts';
import { Ring, type Unwritten, word } from './ring.ts';
import type { ThreadAnswer, Failure } from './thread.ts';
import { isRunnable } from './thread-state.ts';

const lineTimeoutMs = 200;
const lookIntervalMs = 40;
const roomIntervalMs = 5;
const operationTimeoutMs = 2_000;
/** Maximum ms that the thread may wait for the processor while there is no room for lines. */
const processorTimeoutMs = 2_000;
const startTimeoutMs = 20_000; // on a busy machine
const endTimeoutMs = 1_000;

interface Waiting {
  readonly position: number;
  since: number;
  readonly resolve: () => void;
}

interface Asked {
  since: number;
  readonly name: keyof Operations;
  readonly path: unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** The disk behind a thread; only the thread waits for it. After the thread ends, the disk counts as silent until the next starts. */
export class ThreadedDisk implements Disk, AsyncDisposable {
  onSilent: () => void = () => {};
  onFailure: Disk['onFailure'] = () => {};
  onAnswer: () => void = () => {};
  readonly #ring = new Ring();
  readonly #thread: DiskThread;
  readonly #waiting: Waiting[] = [];
  readonly #asked = new Map<number, Asked>();
  /** Paths of files to remove once created, by the id of the operation that creates them. */
  readonly #unwanted = new Map<number, string>();
  readonly #timer: NodeJS.Timeout;
  #isWatching = false;
  #lookDue = 0;
  #isListening = false;
  #isSilent = false;
  /** Ms left for waits for room in this turn of the event loop. */
  #roomLeft = lineTimeoutMs;
  #lastId = 0;
  #pendingResults = 0;
  #answer = Promise.withResolvers<void>();

  /** @param script URL of the thread's script; tests have their own */
  constructor(script: URL = threadScript) {
    this.#thread = new DiskThread(script, this.#ring, {
      onAnswer: (answer) => this.#hear(answer),
      onEnd: (error) => this.#noteEnd(error),
    });
    this.#timer = setTimeout(() => this.#look(), lookIntervalMs).unref();
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  append(file: number, bytes: Buffer, offset: number, length: number): number {
    let taken = 0;
    if (!this.#isSilent)
      taken = this.#ring.append(file, bytes, offset, length) || this.#appendLater(file, bytes, offset, length);
    if (taken > 0) return taken;
    this.#fallSilent();
    throw new DiskSilent();
  }

  wake(): void {
    const { control } = this.#ring;
    if (Atomics.exchange(control, word.isAsleep, 0) === 0) return;
    Atomics.add(control, word.bell, 1);
    Atomics.notify(control, word.bell, 1);
  }

  get position(): number {
    return this.#ring.head;
  }

  written(position: number = this.#ring.head): Promise<void> | undefined {
    if (this.#isSilent || this.#ring.hasWritten(position)) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ position, since: performance.now(), resolve });
    this.#listen();
    this.#watch();
    return promise;
  }

  async answers(patience: number): Promise<boolean> {
    if (this.#isSilent) await firstOrTimeout([this.#answer.promise], patience);
    return !this.#isSilent;
  }

  unwritten(): Unwritten[] {
    return this.#ring.unwritten();
  }

  ask<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Operations[Name]>>();
    if (this.#isSilent) {
      reject(new DiskSilent());
      return promise;
    }
    // A caller waits for the result, so the process must not exit before.
    this.#thread.hold(true);
    const id = this.#send(name, values);
    this.#asked.set(id, { name, path: values[0], since: performance.now(), resolve, reject });
    this.#watch();
    return promise;
  }

  post<Name extends keyof Operations>(name: Name, ...values: Parameters<Operations[Name]>): void {
    this.#send(name, values);
  }

  /** Ends the thread; a hanging one is left behind. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    if (hungWork.has(this)) return;
    const result = await firstOrTimeout([this.#thread.end()], endTimeoutMs);
    if (result === timedOut) hungWork.add(this);
  }

  /** Blocks until there is room: lines arrive faster than the disk writes them. */
  #appendLater(file: number, bytes: Buffer, offset: number, length: number): number {
    const { control } = this.#ring;
    const busy = this.#hasStarted ? processorTimeoutMs : startTimeoutMs;
    // A failed write frees no room: its lines are taken back in a later turn.
    const mayWait = () =>
      !this.#is(word.hasFailed) && (this.#roomLeft > 0 || (!this.#isAtWork && this.#roomLeft > -busy));
    // Many lines may be appended in one turn; all their waits together take at most the timeout of one line.
    if (this.#roomLeft === lineTimeoutMs) setImmediate(() => (this.#roomLeft = lineTimeoutMs));
    while (mayWait()) {
      const began = performance.now();
      const { done } = this.#ring;
      Atomics.store(control, word.isAwaited, 1);
      this.wake();
      Atomics.wait(control, word.done, done, roomIntervalMs);
      const taken = this.#ring.append(file, bytes, offset, length);
      // Time that the turn spends between waits does not count against the disk.
      this.#roomLeft -= performance.now() - began;
      if (taken > 0) return taken;
    }
    return 0;
  }

  #send(name: keyof Operations, values: readonly unknown[]): number {
    const id = ++this.#lastId;
    this.#pendingResults++;
    this.#thread.send({ id, name, values });
    this.wake();
    return id;
  }

  #listen(): void {
    if (this.#isListening) return;
    const { done } = this.#ring;
    this.#settle();
    if (this.#waiting.length === 0 && (!this.#isSilent || this.#ring.isEmpty)) return;
    const change = this.#ring.nextWritten(done);
    if (change === undefined) return this.#listen();
    this.#isListening = true;
    change.then(this.#onWritten).catch((error: Error) => this.onFailure(error, []));
  }

  readonly #onWritten = (): void => {
    this.#isListening = false;
    // A thread that has ended since then sends no answers.
    if (this.#is(word.hasStarted)) this.#noteAnswer();
    this.#listen();
  };

  #settle(): void {
    let count = 0;
    while (count < this.#waiting.length && this.#ring.hasWritten((this.#waiting[count] as Waiting).position)) count++;
    for (const { resolve } of this.#waiting.splice(0, count)) resolve();
  }

  #hear(answer: ThreadAnswer): void {
    if (answer.kind === 'result') this.#pendingResults--;
    this.#noteAnswer();
    if (answer.kind === 'failed') this.#fail(errorOf(answer.failure));
    else if (answer.kind === 'result') this.#resolve(answer.id, answer.result, answer.failure);
  }

  #resolve(id: number, result: unknown, failure: Failure | undefined): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (this.#asked.size === 0) this.#thread.hold(false);
    if (asked === undefined) this.#removeLate(id, failure === undefined, result as Partial<OpenFile> | undefined);
    else if (failure === undefined) asked.resolve(result as never);
    else asked.reject(errorOf(failure));
  }

  /** Closes a file that was opened too late, and removes it if it is new. */
  #removeLate(id: number, isDone: boolean, late: Partial<OpenFile> | undefined): void {
    const path = this.#unwanted.get(id);
    this.#unwanted.delete(id);
    if (isDone && path !== undefined) this.post('removeOwn', path, late as FileIdentity);
    if (late?.file !== undefined) this.post('close', late.file);
  }

  #fail(error: Error): void {
    const unwritten = this.#ring.unwritten();
    this.#ring.clear();
    this.#settle();
    this.onFailure(error, unwritten);
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#lookDue = performance.now() + lookIntervalMs;
    this.#timer.refresh();
  }

  #look(): void {
    this.#isWatching = false;
    this.#settle();
    const now = performance.now();
    const [asked] = this.#asked.values();
    const [line] = this.#waiting;
    if (asked === undefined && line === undefined) return;
    // While the event loop was blocked, the thread may not have been woken.
    const stall = now - this.#lookDue;
    if (stall > lookIntervalMs) for (const wait of [...this.#waiting, ...this.#asked.values()]) wait.since += stall;
    const isLineLate = ({ since }: Waiting) => now - since > lineTimeoutMs - lookIntervalMs;
    const isLate =
      (line !== undefined && isLineLate(line)) || (asked !== undefined && now - asked.since >= operationTimeoutMs);
    if (isLate && this.#isAtWork) this.#fallSilent();
    else this.#watch();
    if (!isLate || !this.#hasStarted) return;
    // A wait this long ends, whatever its cause.
    while (this.#waiting[0] !== undefined && isLineLate(this.#waiting[0])) this.#waiting.shift()?.resolve();
  }

  /** True if the thread has started or its start has timed out. */
  get #hasStarted(): boolean {
    return this.#is(word.hasStarted) || performance.now() - this.#thread.startedAt > startTimeoutMs;
  }

  /** False while the thread waits for the processor or is starting: then the disk is not to blame. */
  get #isAtWork(): boolean {
    if (!this.#is(word.isAtWork)) return this.#hasStarted && !this.#is(word.hasStarted);
    return !isRunnable(Atomics.load(this.#ring.control, word.threadId));
  }

  #is(state: number): boolean {
    return Atomics.load(this.#ring.control, state) === 1;
  }

  /** @param reason error for callers that wait for an answer */
  #fallSilent(reason = new DiskSilent()): void {
    if (this.#isSilent) return;
    this.#isSilent = true;
    this.#answer = Promise.withResolvers();
    hungWork.add(this);
    this.#listen();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    for (const [id, { name, path, reject }] of this.#asked) {
      if (makesFile.has(name)) this.#unwanted.set(id, path as string);
      reject(reason);
    }
    this.#asked.clear();
    this.#thread.hold(false);
    // The appending caller must finish first.
    queueMicrotask(() => {
      this.onSilent();
      // The disk has already answered everything.
      if (this.#isIdle) this.#noteAnswer();
    });
  }

  get #isIdle(): boolean {
    return this.#ring.isEmpty && this.#pendingResults === 0 && this.#is(word.hasStarted);
  }

  #noteAnswer(): void {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    hungWork.delete(this);
    this.#answer.resolve();
    this.onAnswer();
  }

  /** Takes over the lines that the thread has not written, and rejects all pending operations. */
  #noteEnd(error: Error): void {
    const { control } = this.#ring;
    Atomics.store(control, word.hasStarted, 0);
    Atomics.store(control, word.hasFailed, 1);
    this.#pendingResults = 0;
    this.#fallSilent(new DiskSilent(error.message));
    hungWork.delete(this);
    this.#unwanted.clear();
    this.#fail(error);
  }
}
