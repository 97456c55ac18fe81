import type { Catalog, Vendor } from '../catalog/catalog.ts';
import type { Command } from './command.ts';
import type { Mistake } from '../config/mistake.ts';
import type { Section } from '../config/section.ts';
import type { Gauge } from './gauge.ts';
import type { Host } from '../host.ts';
import type { JobDefinition } from '../jobs/definition.ts';
import type { Endpoint } from '../pipeline/exchange.ts';
import type { AssetSource, Page } from '../pages/page.ts';
import type { Texts } from '../pages/texts.ts';
import type { AnyStageDefinition, Observer } from '../pipeline/stage.ts';

/** Something in the catalog that cannot work, at a route of a model. */
export interface CatalogProblem {
  readonly model: string;
  readonly route: string; // upstream/model-there
  readonly wrong: string;
  readonly right: string;
}

/** What a plugin has to say about a catalog before it is used. */
export interface CatalogReview {
  /** Mistakes: the configuration is refused. */
  problems(catalog: Catalog): CatalogProblem[];
  /** Lines that `gateway check` prints. */
  describe(catalog: Catalog): string[];
}

/** What a plugin says about itself at `/readyz?verbose`, to whoever asks from the same machine. */
export interface StatusReport {
  readonly name: string;
  /** Something that JSON can say, without secrets. */
  report(host: Host): unknown;
}

/**
 * Everything that plugins have brought: stage types, sections of gateway.yaml, endpoints, jobs, vendors, commands, gauges.
 * Filled while plugins register, only read afterwards. Names are unique; a second one of the same name is refused.
 */
export class Registry {
  readonly stages = new Map<string, AnyStageDefinition>();
  readonly sections = new Map<string, Section>();
  readonly endpoints: Endpoint[] = [];
  readonly jobs = new Map<string, JobDefinition>();
  readonly vendors = new Map<string, Vendor>();
  readonly commands = new Map<string, Command>();
  readonly catalogReviews: CatalogReview[] = [];
  readonly statusReports = new Map<string, StatusReport>();
  readonly gauges = new Map<string, Gauge>();
  readonly observers = new Map<string, Observer>();
  readonly pages: Page[] = [];
  readonly assetSources = new Map<string, AssetSource>();
  readonly pageTexts: Texts[] = [];
  /** Plugins of gateway.yaml that could not be loaded, as mistakes of it: what they would have brought is not known. */
  readonly unloaded: Mistake[] = [];

  stage(definition: AnyStageDefinition): void {
    add(this.stages, 'stage', definition);
  }

  section(section: Section): void {
    add(this.sections, 'section', section);
  }

  endpoint(endpoint: Endpoint): void {
    const taken = this.endpoints.find(({ method, path }) => method === endpoint.method && path === endpoint.path);
    if (taken !== undefined) throw new Error(`endpoint ${endpoint.method} ${endpoint.path} is registered twice`);
    this.endpoints.push(endpoint);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each job's data is checked against its own schema before it runs
  job(job: JobDefinition<any>): void {
    add(this.jobs, 'job', job);
  }

  vendor(vendor: Vendor): void {
    add(this.vendors, 'vendor', vendor);
  }

  statusReport(report: StatusReport): void {
    add(this.statusReports, 'status report', report);
  }

  gauge(gauge: Gauge): void {
    add(this.gauges, 'gauge', gauge);
  }

  observer(observer: Observer): void {
    add(this.observers, 'observer', observer);
  }

  page(page: Page): void {
    if (this.pages.some(({ path }) => path === page.path)) throw new Error(`page "${page.path}" is registered twice`);
    this.pages.push(page);
  }

  /** Files that browsers may load. */
  assets(source: AssetSource): void {
    add(this.assetSources, 'asset', source);
  }

  /** The texts of the plugin's pages. */
  texts(texts: Texts): void {
    this.pageTexts.push(texts);
  }

  catalogReview(review: CatalogReview): void {
    this.catalogReviews.push(review);
  }

  command(command: Command): void {
    add(this.commands, 'command', command);
  }
}

function add<T extends { readonly name: string }>(map: Map<string, T>, kind: string, entry: T): void {
  if (map.has(entry.name)) throw new Error(`${kind} "${entry.name}" is registered twice`);
  map.set(entry.name, entry);
}
