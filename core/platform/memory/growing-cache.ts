import { LRUCache } from 'lru-cache';

/**
 * Creates a cache that evicts the least recently used entry above `maxEntries`, and grows with its content. With lru-cache's own `max`, it
 * would allocate for all entries at once: 1 MB for 20,000, at every start.
 */
export function createGrowingCache<Value extends {}>(
  maxEntries: number,
  options: LRUCache.OptionsBase<string, Value, unknown> = {},
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
}
