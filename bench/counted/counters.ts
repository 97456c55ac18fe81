import { createHook } from 'node:async_hooks';

/** What one process has done between two calls. */
export interface Counts {
  readonly promises: number;
  readonly timers: number; // timeouts and immediates
  /** Bytes of a long body that were read or written by calls of the engine and of Node, or walked in JavaScript. */
  readonly walked: number;
  /** Bytes outside of the heap that were freed without a collection of garbage. */
  readonly freed: number;
}

/** Characters of a text, or bytes of a buffer, from which it counts as a part of a long body. */
const long = 16_384;

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Counts what the process does from now on, whatever else the machine does. It becomes slower by that, so this is for a process
 * whose time is not measured.
 *
 * @returns reads the counts so far
 */
export function startCounting(): () => Counts {
  let [promises, timers, walked, freed] = [0, 0, 0, 0];
  createHook({
    init: (_id, type) => {
      if (type === 'PROMISE') promises++;
      else if (type === 'Timeout' || type === 'Immediate') timers++;
    },
  }).enable();
  /** @param walks how many characters or bytes a call has read or written */
  const watch = (owner: object, name: string, walks: (self: unknown, args: unknown[], result: unknown) => number) => {
    const members = owner as Record<string, Callable>;
    const original = members[name] as Callable;
    members[name] = function watched(...args) {
      const result = original.apply(this, args);
      walked += walks(this, args, result);
      return result;
    };
  };
  watch(JSON, 'parse', (_self, [text]) => ofLong(text));
  watch(JSON, 'stringify', returned);
  watch(Buffer, 'concat', returned);
  watch(Buffer, 'from', (_self, [source]) => ofLong(source));
  for (const name of ['latin1Slice', 'utf8Slice']) watch(Buffer.prototype, name, returned);
  watch(Buffer.prototype, 'copy', (_self, _args, copied) => (Number(copied) >= long ? Number(copied) : 0));
  // Only as far as the search came.
  for (const name of ['indexOf', 'includes'] as const) {
    for (const owner of [String.prototype, Buffer.prototype])
      watch(owner, name, (self, [, from = 0], at) => {
        const length = ofLong(self);
        if (length === 0 || at === true) return 0;
        return (typeof at === 'number' && at >= 0 ? at : length) - Number(from);
      });
  }
  watch(RegExp.prototype, 'test', (_self, [text], isFound) => (isFound === true ? 0 : ofLong(text)));
  watch(String.prototype, 'charCodeAt', (text) => Math.min(ofLong(text), 1));
  const buffers = ArrayBuffer.prototype as { transfer(length?: number): ArrayBuffer };
  const { transfer } = buffers;
  buffers.transfer = function watched(this: ArrayBuffer, length = this.byteLength) {
    freed += this.byteLength - length;
    return transfer.call(this, length);
  };
  return () => ({ promises, timers, walked, freed });
}

function returned(_self: unknown, _args: unknown[], result: unknown): number {
  return ofLong(result);
}

/** The length of a text or of bytes that are long; 0 of everything else. */
function ofLong(value: unknown): number {
  const isBody = typeof value === 'string' || value instanceof Uint8Array;
  return isBody && value.length >= long ? value.length : 0;
}
