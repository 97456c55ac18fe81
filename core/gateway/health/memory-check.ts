import { type MemoryLevel, remembered } from '#core/platform/memory/budget.ts';
import { actions } from '#core/platform/memory/watch.ts';
import type { Gauge } from './gauge.ts';
import type { HealthCheck } from './health-check.ts';

const levels: readonly MemoryLevel[] = ['normal', 'large', 'all'];

/** Fails while memory is scarce, and for a minute after something has not fit. */
export const memoryCheck: HealthCheck = {
  name: 'memory',
  check({ memory, now, monotonic }) {
    const { level, refusals, refusedAt, refusedSince } = memory;
    const hasRefused = monotonic() - refusedAt <= remembered;
    if (level === 'normal' && !hasRefused) return { ok: true };
    const { body, reply, request } = refusals;
    const action = level === 'normal' ? 'what does not fit is refused' : actions[level];
    const counts = `since the start ${body} request bodies, ${reply} responses and ${request} requests`;
    const reason = `Memory is scarce: ${action} (${counts}). Give the gateway more, or raise memory.max_bytes.`;
    return { ok: false, reason, since: hasRefused ? refusedSince : now() };
  },
};

export const memoryGauges: readonly Gauge[] = [
  {
    name: 'memory_capacity_bytes',
    description: 'Bytes that bodies and caches may hold together.',
    read: ({ memory }) => [{ value: memory.capacity }],
  },
  {
    name: 'memory_reserved_bytes',
    description: 'Bytes of that which are reserved for bodies, and which the caches hold.',
    labels: ['for'],
    read: ({ memory }) => [
      { value: memory.reserved, labels: { for: 'bodies' } },
      { value: memory.kept, labels: { for: 'caches' } },
    ],
  },
  {
    name: 'memory_level',
    description: 'How scarce memory is: 0 normal, 1 large bodies are refused, 2 new requests are refused.',
    read: ({ memory }) => [{ value: levels.indexOf(memory.level) }],
  },
  {
    name: 'memory_refusals_total',
    description: 'What was refused because it did not fit into memory.',
    labels: ['what'],
    isCounter: true,
    read: ({ memory }) => Object.entries(memory.refusals).map(([what, value]) => ({ value, labels: { what } })),
  },
];
