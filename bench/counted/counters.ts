import { createHook } from 'node:async_hooks';

export interface Counts {
  readonly promises: number;
  readonly timers: number; // timeouts and immediates
  readonly walked: number; // bytes of long bodies that calls of V8 and Node read or wrote, or that JavaScript iterated over
  readonly freed: number; // bytes outside the heap, freed without garbage collection
}

const minLongLength = 16_384; // characters or bytes

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/** The counts do not depend on the machine's load. Counting slows the process down, so its time must not be measured. */
export function startCounting(): () => Counts {
  let [promises, timers, walked, freed] = [0, 0, 0, 0];
  createHook({
    init: (_id, type) => {
      if (type === 'PROMISE') promises++;
      else if (type === 'Timeout' || type === 'Immediate') timers++;
    },
  }).enable();
  /** @param walks returns how many characters or bytes a call read or wrote */
  const watch = (owner: object, name: string, walks: (self: unknown, args: unknown[], result: unknown) => number) => {
    const members = owner as Record<string, Callable>;
    const original = members[name] as Callable;
    members[name] = function watched(...args) {
      const result = original.apply(this, args);
      walked += walks(this, args, result);
      return result;
    };
  };
  watch(JSON, 'parse', (_self, [text]) => lengthIfLong(text));
  watch(JSON, 'stringify', lengthOfResult);
  watch(Buffer, 'concat', lengthOfResult);
  watch(Buffer, 'from', (_self, [source]) => lengthIfLong(source));
  for (const name of ['latin1Slice', 'utf8Slice']) watch(Buffer.prototype, name, lengthOfResult);
  watch(Buffer.prototype, 'copy', (_self, _args, copied) => (Number(copied) >= minLongLength ? Number(copied) : 0));
  // Counts only up to where the search ended.
  for (const name of ['indexOf', 'includes'] as const) {
    for (const owner of [String.prototype, Buffer.prototype])
      watch(owner, name, (self, [, from = 0], at) => {
        const length = lengthIfLong(self);
        if (length === 0 || at === true) return 0;
        return (typeof at === 'number' && at >= 0 ? at : length) - Number(from);
      });
  }
  watch(RegExp.prototype, 'test', (_self, [text], isFound) => (isFound === true ? 0 : lengthIfLong(text)));
  watch(String.prototype, 'charCodeAt', (text) => Math.min(lengthIfLong(text), 1));
  const buffers = ArrayBuffer.prototype as { transfer(length?: number): ArrayBuffer };
  const { transfer } = buffers;
  buffers.transfer = function watched(this: ArrayBuffer, length = this.byteLength) {
    freed += this.byteLength - length;
    return transfer.call(this, length);
  };
  return () => ({ promises, timers, walked, freed });
}

function lengthOfResult(_self: unknown, _args: unknown[], result: unknown): number {
  return lengthIfLong(result);
}

function lengthIfLong(value: unknown): number {
  const isBody = typeof value === 'string' || value instanceof Uint8Array;
  return isBody && value.length >= minLongLength ? value.length : 0;
}
