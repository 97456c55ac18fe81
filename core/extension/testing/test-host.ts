import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { Section, SectionValue } from '#core/config/section.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createLogger } from '#core/platform/logger.ts';
import { unlimitedMemory } from '#core/platform/memory/budget.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { Keeper } from '../keeper.ts';
import { fillIn } from './fill-in.ts';

export interface TestHostOptions {
  /** Time on the clock, in epoch ms. Only the test advances it. */
  readonly now?: number;
  /** Sections as written in gateway.yaml. All others have their defaults. */
  readonly sections?: Readonly<Record<string, unknown>>;
  /** Text files in a section's `folder`, by section name and file name. */
  readonly files?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly catalog?: Catalog;
  readonly database?: Database;
}

/** An in-memory host with a stopped clock. It records the plugin's log lines, jobs and events. */
export interface TestHost extends Host, AsyncDisposable {
  /** `advance` moves both clocks. Setting `now` changes only the wall clock, as NTP or an operator might. */
  readonly clock: { now: number; readonly monotonic: number; advance(ms: number): void };
  /** Log lines, without timestamps. */
  readonly lines: readonly string[];
  readonly addedJobs: readonly { readonly name: string; readonly data: JsonObject }[];
  readonly publishedEvents: readonly { readonly name: string; readonly payload: EventTypes[keyof EventTypes] }[];
}

const emptyCatalog: Catalog = {
  models: [],
  listed: [],
  upstreams: [],
  unavailable: [],
  resolve: () => undefined,
  suggest: () => undefined,
  isUnavailable: () => false,
};

/** Creates a host for testing a plugin. Its database throws when used, unless the options contain one. */
export function createTestHost(options: TestHostOptions = {}): TestHost {
  const clock = {
    now: options.now ?? Date.UTC(2026, 0, 1),
    monotonic: 1_000,
    advance(ms: number) {
      clock.now += ms;
      clock.monotonic += ms;
    },
  };
  const lines: string[] = [];
  const addedJobs: TestHost['addedJobs'][number][] = [];
  const publishedEvents: TestHost['publishedEvents'][number][] = [];
  const keeper = new Keeper();
  const files = new Map(
    Object.entries(options.files ?? {}).map(([section, texts]) => [
      section,
      new Map(Object.entries(texts).map(([name, text]) => [name, { text }])),
    ]),
  );
  const monotonic = () => clock.monotonic;
  return {
    clock,
    lines,
    addedJobs,
    publishedEvents,
    instance: 'test',
    dataFolder: '/nonexistent',
    isProduction: false,
    log: createLogger((line) => lines.push(line.slice(line.indexOf(' ') + 1).trimEnd())),
    database: options.database ?? createMissingDatabase(),
    shared: new MemoryShared(monotonic),
    jobs: {
      backend: 'postgres',
      add: async (name, data) => {
        addedJobs.push({ name, data });
      },
      state: async () => ({ waiting: 0, running: 0, oldestWaitMs: 0, failed: [] }),
      schedules: { lateSince: new Map(), rescheduleCount: 0 },
      [Symbol.asyncDispose]: async () => undefined,
    },
    events: {
      publish: async (name, payload) => {
        publishedEvents.push({ name, payload });
      },
    },
    service: {
      name: 'Daypass',
      prefix: 'dp',
      slug: 'daypass',
      baseUrl: 'http://localhost:8080',
      contact: undefined,
    },
    memory: unlimitedMemory,
    catalog: options.catalog ?? emptyCatalog,
    now: () => clock.now,
    monotonic,
    stages: [],
    documentation: () => [],
    keep: (key, create) => keeper.keep(key, create),
    section: <S extends Section>({ name, schema }: S) =>
      fillIn(options.sections?.[name] ?? schema.default ?? {}, schema, name) as SectionValue<S>,
    files: ({ name }) => files.get(name) ?? new Map(),
    [Symbol.asyncDispose]: () => keeper[Symbol.asyncDispose](),
  };
}

function createMissingDatabase(): Database {
  return new Proxy({} as Database, {
    get(_target, member) {
      throw new Error(`this test host has no database, and the plugin uses database.${String(member)}`);
    },
  });
}
