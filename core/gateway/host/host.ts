import { FreshValue, type FreshValueOptions } from '#core/platform/timing/fresh-value.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { type FolderFile, noFiles } from '#core/platform/read-folder.ts';
import type { Section, SectionValue, SectionValues } from '#core/config/section.ts';
import { isPublicDemo, productionOf } from '#core/config/sections/production.ts';
import { listen, service } from '#core/config/sections/core-sections.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Jobs } from '#core/platform/jobs/jobs.ts';
import type { ProcessMemory } from '#core/platform/memory/budget.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import type { Job } from '#core/platform/jobs/job.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StageDocumentation } from './api-documentation.ts';
import type { EventPublisher } from '../events/event-handler.ts';

/** The gateway's public name and addresses; from `service` in gateway.yaml. */
export interface Service {
  readonly name: string;
  /** First part of API keys, before the underscore. */
  readonly prefix: string;
  /** Name in response headers: `daypass` in `x-daypass-notes`. */
  readonly slug: string;
  /** Public URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly contact: string | undefined;
  /** URLs of the terms of service and the privacy policy. */
  readonly terms?: string | undefined;
  readonly privacy?: string | undefined;
  /** True if strangers can reach sandbox payments, demo upstreams or local sign-in; every page shows it. */
  readonly isPublicDemo?: boolean;
}

/** Parts that live as long as the process and survive reloads: connections, the clock, objects kept by stages. */
export interface Services {
  /** Unique to this process. */
  readonly instance: string;
  /** Folder for all data on disk. */
  readonly dataFolder: string;
  /** NODE_ENV is `production`; in a host also true if its public URL is not on this machine and no option allows demos. */
  readonly isProduction: boolean;
  readonly log: Logger;
  readonly database: Database;
  readonly shared: Shared;
  readonly jobs: Jobs;
  readonly events: EventPublisher;
  /** Memory budget of bodies and caches. */
  readonly memory: ProcessMemory;
  /** Wall-clock epoch ms, for records, ids, people and the database. It may be set, even backwards. Tests set their own. */
  now(): number;
  /** Monotonic ms, for everything that this process waits for. Meaningless to other processes. */
  monotonic(): number;
  /**
   * Returns the object for this key; `create` makes it on the first call, in any pipeline. For state that survives reloads: breakers,
   * journals, connection pools. Disposed when the process stops, newest first.
   */
  keep<T extends object>(key: string, create: () => T): T;
}

/** Services for stages, handlers and jobs; one host for each loaded configuration. */
export interface Host extends Services {
  readonly service: Service;
  readonly catalog: Catalog;
  /** Number of the variant with this configuration; undefined for the main one. */
  readonly variant?: number | undefined;
  /** The plugin's section of gateway.yaml, validated and with defaults. */
  section<S extends Section>(section: S): SectionValue<S>;
  /** Files of the section's `folder` by name, as of when the configuration was loaded. */
  files(section: Section): ReadonlyMap<string, FolderFile>;
  /** Configured stages, in order. */
  readonly stages: readonly StageInForce[];
  /** API documentation of the stages. */
  documentation(): readonly StageDocumentation[];
}

interface StageInForce {
  readonly definition: {
    readonly name: string;
    documentation?(options: unknown, host: Host): StageDocumentation;
  };
  readonly options: unknown;
}

/** Creates the host for one configuration. */
export function createHost(
  services: Services,
  config: SectionValues,
  catalog: Catalog,
  stages: readonly StageInForce[] = [],
  variant?: number,
): Host {
  const { name, prefix, base_url: baseUrl = '', contact, terms, privacy } = config.get(service);
  const reachedAt = baseUrl === '' ? `http://localhost:${config.get(listen).port}` : baseUrl;
  const host: Host = {
    ...services,
    isProduction: productionOf(config, services.isProduction) !== undefined,
    service: {
      name,
      prefix,
      slug: serviceSlug(name, prefix),
      baseUrl: reachedAt.replace(/\/+$/, ''),
      contact,
      terms,
      privacy,
      isPublicDemo: isPublicDemo(config, services.isProduction),
    },
    catalog,
    variant,
    section: (section) => config.get(section),
    files: (section) => config.files?.(section) ?? noFiles.files,
    stages,
    documentation: () => stages.map(({ definition, options }) => definition.documentation?.(options, host) ?? {}),
  };
  return host;
}

/** Returns the name in lower-case letters and digits, joined by hyphens; the key prefix if the name has neither. */
export function serviceSlug(name: string, prefix: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words?.join('-') ?? prefix;
}

/** A job as defined by plugins and core; its context is the host. */
export type JobDefinition<Data extends JsonObject = JsonObject> = Job<Host, Data>;

/** Returns a cached value per catalog, which is read again once it is too old. Concurrent callers share one read. */
export function sharedReading<T>(
  options: Omit<FreshValueOptions<T>, 'read' | 'now'>,
  read: (host: Host) => Promise<T>,
): (host: Host) => FreshValue<T> {
  return perCatalog((host) => new FreshValue({ ...options, now: () => host.monotonic(), read: () => read(host) }));
}

/** Memoizes `create` per catalog. A reload creates a new catalog, and thus a new value. */
export function perCatalog<T extends object>(create: (host: Host) => T): (host: Host) => T {
  const created = new WeakMap<Catalog, T>();
  return (host) => {
    const value = created.get(host.catalog) ?? create(host);
    created.set(host.catalog, value);
    return value;
  };
}
