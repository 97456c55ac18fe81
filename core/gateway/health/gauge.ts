import type { Awaitable } from '#core/platform/timing/when-settled.ts';
import type { Host } from '../host/host.ts';

/** One value of a gauge. Label values come from gateway.yaml or from the code, never from client input. */
export interface Reading {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A metric that is read only when metrics are scraped. */
export interface Gauge {
  /** Name in snake_case that ends with the unit, without the common prefix: `journal_waiting_bytes`. */
  readonly name: string;
  /** Description in one line. */
  readonly description: string;
  /** Names of the readings' labels. */
  readonly labels?: readonly string[];
  /** True for a count that only grows; its name ends with `_total`. */
  readonly isCounter?: true;
  /** Reads the values. An error is logged, and the metric is omitted. */
  read(host: Host): Iterable<Reading> | Promise<Iterable<Reading>>;
}

type LabelledValue = readonly [...labels: string[], value: number];

/** Defines a gauge with a single value, omitted while the value is undefined. It is a counter if the name ends with `_total`. */
export function gauge(name: string, description: string, read: (host: Host) => Awaitable<number | undefined>): Gauge {
  return {
    name,
    description,
    ...kindOf(name),
    async read(host) {
      const value = await read(host);
      return value === undefined ? [] : [{ value }];
    },
  };
}

/** Defines a gauge with labels. It is a counter if the name ends with `_total`. */
export function gaugeBy(
  labels: readonly string[],
  name: string,
  description: string,
  read: (host: Host) => Awaitable<Iterable<LabelledValue>>,
): Gauge {
  return {
    name,
    description,
    labels,
    ...kindOf(name),
    read: async (host) =>
      Array.from(await read(host), (row) => ({
        value: row.at(-1) as number,
        labels: Object.fromEntries(labels.map((label, index) => [label, String(row[index])])),
      })),
  };
}

function kindOf(name: string): Pick<Gauge, 'isCounter'> {
  return name.endsWith('_total') ? { isCounter: true } : {};
}
