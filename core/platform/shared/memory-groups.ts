import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { createReclaimable, type ProcessMemory, unlimitedMemory } from '../memory/budget.ts';
import type { GroupCache, GroupLimits } from './shared.ts';

const entryOverheadBytes = 500; // without key and value

interface Entry {
  readonly group: string;
  readonly name: string;
  readonly value: Buffer;
  readonly expiresAt: number; // ms
}

interface Group {
  readonly names: Set<string>;
  bytes: number;
}

/** Groups of a gateway with one process. All groups share one size limit. */
export class MemoryGroups implements GroupCache {
  readonly #now: () => number;
  readonly #groups = new Map<string, Group>();
  readonly #memory: ProcessMemory;
  readonly #entries: LRUCache<string, Entry>;

  constructor(now: () => number, memory: ProcessMemory = unlimitedMemory, maxBytes: number = bounds.memoryGroups) {
    this.#now = now;
    this.#memory = memory;
    this.#entries = new LRUCache<string, Entry>({
      maxSize: maxBytes,
      sizeCalculation: ({ value }, key) => value.length + key.length + entryOverheadBytes,
      dispose: (entry) => this.#forget(entry),
    });
    memory.registerCache(createReclaimable(this.#entries));
  }

  async get(group: string, names: readonly string[]): Promise<Map<string, Buffer>> {
    const now = this.#now();
    const values = new Map<string, Buffer>();
    for (const name of names) {
      const entry = this.#entries.get(createKey(group, name));
      if (entry !== undefined && entry.expiresAt > now) values.set(name, entry.value);
    }
    return values;
  }

  async set(group: string, entries: ReadonlyMap<string, Buffer>, limits: GroupLimits): Promise<void> {
    const expiresAt = this.#now() + limits.seconds * 1000;
    for (const [name, value] of entries) {
      // Copied, because a small buffer is a slice of a large pool and would keep the whole pool alive.
      const copy = Buffer.allocUnsafeSlow(value.length);
      value.copy(copy);
      this.#entries.delete(createKey(group, name));
      if (!this.#memory.canCache(copy.length)) continue;
      this.#store({ group, name, value: copy, expiresAt });
    }
    this.#evict(group, limits);
  }

  #store(entry: Entry): void {
    const { group, name, value } = entry;
    const members = this.#groups.get(group) ?? { names: new Set<string>(), bytes: 0 };
    this.#groups.set(group, members);
    members.names.add(name);
    members.bytes += value.length;
    this.#entries.set(createKey(group, name), entry);
    // The cache rejects an entry that is larger than the whole cache.
    if (!this.#entries.has(createKey(group, name))) this.#forget(entry);
  }

  #evict(group: string, { entries, bytes }: GroupLimits): void {
    const members = this.#groups.get(group);
    for (const name of members?.names ?? []) {
      const { expiresAt = 0 } = this.#entries.peek(createKey(group, name)) ?? {};
      const isOver = (members?.names.size ?? 0) > entries || (members?.bytes ?? 0) > bytes;
      if (!isOver && expiresAt > this.#now()) return;
      this.#entries.delete(createKey(group, name));
    }
  }

  #forget({ group, name, value }: Entry): void {
    const members = this.#groups.get(group);
    if (members?.names.delete(name) !== true) return;
    members.bytes -= value.length;
    if (members.names.size === 0) this.#groups.delete(group);
  }
}

function createKey(group: string, name: string): string {
  return `${group}\n${name}`;
}
