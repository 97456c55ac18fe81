import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { Section, SectionValue, SectionValues } from '#core/config/section.ts';
import { listen, service } from '#core/config/sections/core-sections.ts';
import { isPublicDemo, findProductionReason } from '#core/config/sections/production.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Job } from '#core/platform/jobs/job.ts';
import type { Jobs } from '#core/platform/jobs/jobs.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { ProcessMemory } from '#core/platform/memory/budget.ts';
import { type FolderFile, emptyFolder } from '#core/platform/read-folder.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import { FreshValue, type FreshValueOptions } from '#core/platform/timing/fresh-value.ts';
import type { EventPublisher } from '../events/event-handler.ts';
import type { StageDocumentation } from './api-documentation.ts';

/** The gateway's public name and addresses, from `service` in gateway.yaml. */
export interface Service {
  readonly name: string;
  /** First part of API keys, before the underscore. */
  readonly prefix: string;
  /** Name in response headers, such as `daypass` in `x-daypass-notes`. */
  readonly slug: string;
  /** Public URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly contact: string | undefined;
  /** URLs of the terms of service and the privacy policy. */
  readonly terms?: string | undefined;
  readonly privacy?: string | undefined;
  /** True if strangers can reach sandbox payments, demo upstreams or the local sign-in. Every page shows a warning. */
  readonly isPublicDemo?: boolean;
}

/** Services that live as long as the process and survive reloads, such as connections, clocks and objects kept by stages. */
export interface Services {
  /** Id that is unique to this process. */
  readonly instance: string;
  /** Folder for all data on disk. */
  readonly dataFolder: string;
  /** True if NODE_ENV is `production`. In a host, also true if the public URL is not on this machine and no option allows demos. */
  readonly isProduction: boolean;
  readonly log: Logger;
  readonly database: Database;
  readonly shared: Shared;
  readonly jobs: Jobs;
  readonly events: EventPublisher;
  /** Memory budget of bodies and caches. */
  readonly memory: ProcessMemory;
  /** Returns wall-clock time as epoch ms, for records, ids, people and the database. This clock may jump, even backwards. */
  now(): number;
  /** Returns monotonic ms, for everything that this process times. Meaningless to other processes. */
  monotonic(): number;
  /**
   * Returns the object for a key, for state that survives reloads, such as breakers, journals and connection pools. The first call in any
   * pipeline creates the object. Objects are disposed when the process stops, newest first.
   */
  keep<T extends object>(key: string, create: () => T): T;
}

/** Services for stages, handlers and jobs; one host for each loaded configuration. */
export interface Host extends Services {
  readonly service: Service;
  readonly catalog: Catalog;
  /** Number of the variant that uses this configuration; undefined for the main configuration. */
  readonly variant?: number | undefined;
  /** Returns a section of gateway.yaml, validated and with defaults. */
  section<S extends Section>(section: S): SectionValue<S>;
  /** Returns the files of the section's `folder` by name, as they were when the configuration was loaded. */
  files(section: Section): ReadonlyMap<string, FolderFile>;
  /** Configured stages, in order. */
  readonly stages: readonly HostStage[];
  /** Returns the API documentation of the stages. */
  documentation(): readonly StageDocumentation[];
}

interface HostStage {
  readonly definition: {
    readonly name: string;
    documentation?(options: unknown, host: Host): StageDocumentation;
  };
  readonly options: unknown;
}

export function createHost(
  services: Services,
  config: SectionValues,
  catalog: Catalog,
  stages: readonly HostStage[] = [],
  variant?: number,
): Host {
  const { name, prefix, base_url: baseUrl = '', contact, terms, privacy } = config.get(service);
  const publicUrl = baseUrl === '' ? `http://localhost:${config.get(listen).port}` : baseUrl;
  const host: Host = {
    ...services,
    isProduction: findProductionReason(config, services.isProduction) !== undefined,
    service: {
      name,
      prefix,
      slug: createServiceSlug(name, prefix),
      baseUrl: publicUrl.replace(/\/+$/, ''),
      contact,
      terms,
      privacy,
      isPublicDemo: isPublicDemo(config, services.isProduction),
    },
    catalog,
    variant,
    section: (section) => config.get(section),
    files: (section) => config.files?.(section) ?? emptyFolder.files,
    stages,
    documentation: () => stages.map(({ definition, options }) => definition.documentation?.(options, host) ?? {}),
  };
  return host;
}

/** Returns the name in lower-case letters and digits, joined by hyphens; the key prefix if the name has no letters or digits. */
export function createServiceSlug(name: string, prefix: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words?.join('-') ?? prefix;
}

/** A job of core or a plugin. Its context is the host. */
export type JobDefinition<Data extends JsonObject = JsonObject> = Job<Host, Data>;

/** Caches a reading per catalog, and reads again when the value is too old. Concurrent callers share one read. */
export function cacheReading<T>(
  options: Omit<FreshValueOptions<T>, 'read' | 'now'>,
  read: (host: Host) => Promise<T>,
): (host: Host) => FreshValue<T> {
  return memoizePerCatalog(
    (host) => new FreshValue({ ...options, now: () => host.monotonic(), read: () => read(host) }),
  );
}

/** Memoizes `create` per catalog. A reload creates a new catalog, and therefore a new value. */
export function memoizePerCatalog<T extends object>(create: (host: Host) => T): (host: Host) => T {
  const values = new WeakMap<Catalog, T>();
  return (host) => {
    const value = values.get(host.catalog) ?? create(host);
    values.set(host.catalog, value);
    return value;
  };
}
