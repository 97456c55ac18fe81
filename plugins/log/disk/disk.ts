import { hungWork } from '#core/platform/hung-work.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { type Disk, DiskUnresponsive } from './contract.ts';
import { DiskThread, toError, threadScript } from './disk-thread.ts';
import type { FileIdentity } from './files.ts';
import { fileCreatingOperations, type OpenFile, type Operations } from './operations.ts';
import { Ring, type UnwrittenLines, controlWord } from './ring.ts';
import { isRunnable } from './thread-state.ts';
import type { ThreadMessage, Failure } from './thread.ts';

const lineTimeoutMs = 200;
const checkIntervalMs = 40;
const roomCheckIntervalMs = 5;
const operationTimeoutMs = 2_000;
const processorTimeoutMs = 2_000; // how long the thread may wait for a processor while there is no room for lines
const startTimeoutMs = 20_000; // on a busy machine
const endTimeoutMs = 1_000;

interface PendingWrite {
  readonly position: number;
  since: number;
  readonly resolve: () => void;
}

interface PendingOperation {
  since: number;
  readonly name: keyof Operations;
  readonly path: unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Only the thread waits for the disk. When the thread ends, the disk is unresponsive until the next one starts. */
export class ThreadedDisk implements Disk, AsyncDisposable {
  onUnresponsive: () => void = () => {};
  onFailure: Disk['onFailure'] = () => {};
  onResponse: () => void = () => {};
  readonly #ring = new Ring();
  readonly #thread: DiskThread;
  readonly #pendingWrites: PendingWrite[] = [];
  readonly #pendingOperations = new Map<number, PendingOperation>();
  readonly #filesToRemove = new Map<number, string>(); // paths to remove once created, by the id of the operation that creates them
  readonly #timer: NodeJS.Timeout;
  #isTimerRunning = false;
  #nextCheckAt = 0;
  #isAwaitingWrites = false;
  #isUnresponsive = false;
  #remainingWaitMs = lineTimeoutMs; // left to wait for room in this turn of the event loop
  #lastId = 0;
  #pendingResults = 0;
  #nextResponse = Promise.withResolvers<void>();

  constructor(script: URL = threadScript) {
    this.#thread = new DiskThread(script, this.#ring, {
      onMessage: (message) => this.#onMessage(message),
      onEnd: (error) => this.#onThreadEnd(error),
    });
    this.#timer = setTimeout(() => this.#checkTimeouts(), checkIntervalMs).unref();
  }

  get isUnresponsive(): boolean {
    return this.#isUnresponsive;
  }

  append(file: number, bytes: Buffer, offset: number, length: number): number {
    let appendedBytes = 0;
    if (!this.#isUnresponsive)
      appendedBytes =
        this.#ring.append(file, bytes, offset, length) || this.#appendWhenRoom(file, bytes, offset, length);
    if (appendedBytes > 0) return appendedBytes;
    this.#becomeUnresponsive();
    throw new DiskUnresponsive();
  }

  wake(): void {
    const { control } = this.#ring;
    if (Atomics.exchange(control, controlWord.isAsleep, 0) === 0) return;
    Atomics.add(control, controlWord.wakeCount, 1);
    Atomics.notify(control, controlWord.wakeCount, 1);
  }

  get position(): number {
    return this.#ring.head;
  }

  whenWritten(position: number = this.#ring.head): Promise<void> | undefined {
    if (this.#isUnresponsive || this.#ring.hasWritten(position)) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pendingWrites.push({ position, since: performance.now(), resolve });
    this.#awaitWrites();
    this.#startTimer();
    return promise;
  }

  async waitForResponse(timeoutMs: number): Promise<void> {
    if (this.#isUnresponsive) await waitForFirst([this.#nextResponse.promise], timeoutMs);
  }

  copyUnwritten(): UnwrittenLines[] {
    return this.#ring.copyUnwritten();
  }

  run<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Operations[Name]>>();
    if (this.#isUnresponsive) {
      reject(new DiskUnresponsive());
      return promise;
    }
    // A caller waits for the result, so the process must not exit yet.
    this.#thread.ref();
    const id = this.#send(name, values);
    this.#pendingOperations.set(id, { name, path: values[0], since: performance.now(), resolve, reject });
    this.#startTimer();
    return promise;
  }

  post<Name extends keyof Operations>(name: Name, ...values: Parameters<Operations[Name]>): void {
    this.#send(name, values);
  }

  /** A thread that hangs is abandoned. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    if (hungWork.has(this)) return;
    const result = await waitForFirst([this.#thread.end()], endTimeoutMs);
    if (result === notSettled) hungWork.add(this);
  }

  #appendWhenRoom(file: number, bytes: Buffer, offset: number, length: number): number {
    const { control } = this.#ring;
    const busyTimeoutMs = this.#hasStartedOrTimedOut ? processorTimeoutMs : startTimeoutMs;
    // After a failed write, waiting does not help: its lines are only taken back in a later turn.
    const canWait = () =>
      !this.#isSet(controlWord.hasFailed) &&
      (this.#remainingWaitMs > 0 || (!this.#isThreadWorking && this.#remainingWaitMs > -busyTimeoutMs));
    // Many lines may be appended in one turn. All their waits together take no longer than the timeout of one line.
    if (this.#remainingWaitMs === lineTimeoutMs) setImmediate(() => (this.#remainingWaitMs = lineTimeoutMs));
    // Lines arrive faster than the disk writes them.
    while (canWait()) {
      const startedAt = performance.now();
      const { done } = this.#ring;
      Atomics.store(control, controlWord.isAwaited, 1);
      this.wake();
      Atomics.wait(control, controlWord.done, done, roomCheckIntervalMs);
      const appendedBytes = this.#ring.append(file, bytes, offset, length);
      // The turn's own work between waits does not count against the disk.
      this.#remainingWaitMs -= performance.now() - startedAt;
      if (appendedBytes > 0) return appendedBytes;
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

  #awaitWrites(): void {
    if (this.#isAwaitingWrites) return;
    const { done } = this.#ring;
    this.#resolveWritten();
    if (this.#pendingWrites.length === 0 && (!this.#isUnresponsive || this.#ring.isEmpty)) return;
    const change = this.#ring.awaitNextWrite(done);
    if (change === undefined) return this.#awaitWrites();
    this.#isAwaitingWrites = true;
    change.then(this.#onWritten).catch((error: Error) => this.onFailure(error, []));
  }

  readonly #onWritten = (): void => {
    this.#isAwaitingWrites = false;
    // If the thread has ended in the meantime, it was not the disk that responded.
    if (this.#isSet(controlWord.hasStarted)) this.#noteResponse();
    this.#awaitWrites();
  };

  #resolveWritten(): void {
    let count = 0;
    while (
      count < this.#pendingWrites.length &&
      this.#ring.hasWritten((this.#pendingWrites[count] as PendingWrite).position)
    )
      count++;
    for (const { resolve } of this.#pendingWrites.splice(0, count)) resolve();
  }

  #onMessage(message: ThreadMessage): void {
    if (message.kind === 'result') this.#pendingResults--;
    this.#noteResponse();
    if (message.kind === 'failed') this.#reportFailure(toError(message.failure));
    else if (message.kind === 'result') this.#settleOperation(message.id, message.result, message.failure);
  }

  #settleOperation(id: number, result: unknown, failure: Failure | undefined): void {
    const operation = this.#pendingOperations.get(id);
    this.#pendingOperations.delete(id);
    if (this.#pendingOperations.size === 0) this.#thread.unref();
    if (operation === undefined)
      this.#discardLateFile(id, failure === undefined, result as Partial<OpenFile> | undefined);
    else if (failure === undefined) operation.resolve(result as never);
    else operation.reject(toError(failure));
  }

  #discardLateFile(id: number, isDone: boolean, lateFile: Partial<OpenFile> | undefined): void {
    const path = this.#filesToRemove.get(id);
    this.#filesToRemove.delete(id);
    if (isDone && path !== undefined) this.post('removeOwn', path, lateFile as FileIdentity);
    if (lateFile?.file !== undefined) this.post('close', lateFile.file);
  }

  #reportFailure(error: Error): void {
    const unwritten = this.#ring.copyUnwritten();
    this.#ring.clear();
    this.#resolveWritten();
    this.onFailure(error, unwritten);
  }

  #startTimer(): void {
    if (this.#isTimerRunning) return;
    this.#isTimerRunning = true;
    this.#nextCheckAt = performance.now() + checkIntervalMs;
    this.#timer.refresh();
  }

  #checkTimeouts(): void {
    this.#isTimerRunning = false;
    this.#resolveWritten();
    const now = performance.now();
    const [operation] = this.#pendingOperations.values();
    const [pendingWrite] = this.#pendingWrites;
    if (operation === undefined && pendingWrite === undefined) return;
    // While the event loop was blocked, the thread may not have been woken.
    const delayMs = now - this.#nextCheckAt;
    if (delayMs > checkIntervalMs)
      for (const pending of [...this.#pendingWrites, ...this.#pendingOperations.values()]) pending.since += delayMs;
    const isWriteOverdue = ({ since }: PendingWrite) => now - since > lineTimeoutMs - checkIntervalMs;
    const isOverdue =
      (pendingWrite !== undefined && isWriteOverdue(pendingWrite)) ||
      (operation !== undefined && now - operation.since >= operationTimeoutMs);
    if (isOverdue && this.#isThreadWorking) this.#becomeUnresponsive();
    else this.#startTimer();
    if (!isOverdue || !this.#hasStartedOrTimedOut) return;
    // A wait this long ends, whatever caused it.
    while (this.#pendingWrites[0] !== undefined && isWriteOverdue(this.#pendingWrites[0]))
      this.#pendingWrites.shift()?.resolve();
  }

  get #hasStartedOrTimedOut(): boolean {
    return this.#isSet(controlWord.hasStarted) || performance.now() - this.#thread.startedAt > startTimeoutMs;
  }

  get #isThreadWorking(): boolean {
    // While the thread is starting or waits for the processor, the disk has not caused the delay.
    if (!this.#isSet(controlWord.isWorking)) return this.#hasStartedOrTimedOut && !this.#isSet(controlWord.hasStarted);
    return !isRunnable(Atomics.load(this.#ring.control, controlWord.threadId));
  }

  #isSet(state: number): boolean {
    return Atomics.load(this.#ring.control, state) === 1;
  }

  #becomeUnresponsive(reason = new DiskUnresponsive()): void {
    if (this.#isUnresponsive) return;
    this.#isUnresponsive = true;
    this.#nextResponse = Promise.withResolvers();
    hungWork.add(this);
    this.#awaitWrites();
    for (const { resolve } of this.#pendingWrites.splice(0)) resolve();
    for (const [id, { name, path, reject }] of this.#pendingOperations) {
      if (fileCreatingOperations.has(name)) this.#filesToRemove.set(id, path as string);
      reject(reason);
    }
    this.#pendingOperations.clear();
    this.#thread.unref();
    // The appending caller must finish first.
    queueMicrotask(() => {
      this.onUnresponsive();
      // The disk has already responded to everything.
      if (this.#isIdle) this.#noteResponse();
    });
  }

  get #isIdle(): boolean {
    return this.#ring.isEmpty && this.#pendingResults === 0 && this.#isSet(controlWord.hasStarted);
  }

  #noteResponse(): void {
    if (!this.#isUnresponsive) return;
    this.#isUnresponsive = false;
    hungWork.delete(this);
    this.#nextResponse.resolve();
    this.onResponse();
  }

  #onThreadEnd(error: Error): void {
    const { control } = this.#ring;
    Atomics.store(control, controlWord.hasStarted, 0);
    Atomics.store(control, controlWord.hasFailed, 1);
    this.#pendingResults = 0;
    this.#becomeUnresponsive(new DiskUnresponsive(error.message));
    hungWork.delete(this);
    this.#filesToRemove.clear();
    this.#reportFailure(error);
  }
}
