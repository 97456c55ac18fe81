import { writeSync } from 'node:fs';
import type { Disk } from '../../../plugins/log/disk/contract.ts';
import { type Operations, operations } from '../../../plugins/log/disk/operations.ts';
import { Ring, controlWord } from '../../../plugins/log/disk/ring.ts';

/** The disk without a thread: what is asked of it happens at once. For tests with clocks of their own, and many journals. */
export class InlineDisk implements Disk {
  readonly isUnresponsive = false;
  onUnresponsive: Disk['onUnresponsive'] = () => {};
  onFailure: Disk['onFailure'] = () => {};
  onResponse: Disk['onResponse'] = () => {};
  readonly #ring = new Ring();

  get position(): number {
    return this.#ring.head;
  }

  append(file: number, bytes: Buffer, offset: number, length: number): number {
    const taken = this.#ring.append(file, bytes, offset, length);
    if (taken > 0) return taken;
    this.wake();
    return this.#ring.append(file, bytes, offset, length);
  }

  wake(): void {
    try {
      this.#ring.writeFrames(writeSync, () => {});
    } catch (error) {
      this.#ring.control[controlWord.hasFailed] = 1;
      const unwritten = this.#ring.copyUnwritten();
      this.#ring.clear();
      this.onFailure(error as Error, unwritten);
    }
  }

  whenWritten(): undefined {
    this.wake();
  }

  async waitForResponse(): Promise<void> {}

  copyUnwritten: Disk['copyUnwritten'] = () => this.#ring.copyUnwritten();

  async run<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    this.wake();
    return this.#perform(name, values);
  }

  post<Name extends keyof Operations>(name: Name, ...values: Parameters<Operations[Name]>): void {
    this.wake();
    this.#perform(name, values);
  }

  #perform<Name extends keyof Operations>(name: Name, values: readonly unknown[]): ReturnType<Operations[Name]> {
    return (operations[name] as (...values: readonly unknown[]) => ReturnType<Operations[Name]>)(...values);
  }
}
