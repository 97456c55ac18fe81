import type { Server, ServerRoute } from '@hapi/hapi';
import type { ReadAllowance } from '#core/business/accounts/allowance.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import { wakeAlertSenders, wakeMailSender } from '#core/business/mail/jobs.ts';
import type { ReadCheckups, ReadCredits } from '#core/business/model-health/readings.ts';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { PaymentProvider } from '#core/business/payments/payment-provider.ts';
import type { AbilityReader } from '#core/config/catalog/abilities.ts';
import type { Catalog, Vendor } from '#core/config/catalog/catalog.ts';
import type { WireFormat } from '#core/config/catalog/formats.ts';
import type { Command } from './commands/command.ts';
import type { UsageFiguresReader } from './commands/usage-figures.ts';
import type { VariantSource } from './variants.ts';
import type { Mistake } from '#core/config/file/mistake.ts';
import type { Section } from '#core/config/section.ts';
import { checkTableNames, type PluginTables } from '#core/platform/database/tables.ts';
import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { HealthCheck } from '#core/gateway/health/health-check.ts';
import type { StatusReport } from '#core/gateway/health/status-report.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import { checkSchedule } from '#core/platform/jobs/job.ts';
import type { SocketEndpoint } from '#core/gateway/http/upgrades.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { ReadStory } from '#core/web/pages/account-story.ts';
import type { CheckoutStep } from '#core/web/pages/checkout-step.ts';
import type { ReadCostsBeside } from '#core/web/pages/costs-beside.ts';
import type { NoticeSource } from '#core/web/pages/notices.ts';
import type { AssetSource, Page } from '#core/web/pages/page.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import type { ReadSiteLinks } from '#core/web/markdown/site-links.ts';
import { locateAssets, locateTemplates } from '#core/web/pages/views.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';
import { type OperatorResource, readingOf } from '#core/web/resources/resource.ts';
import type { Texts } from '#core/web/texts/texts.ts';
import type { AnyStageDefinition, Observer } from '#core/gateway/pipeline/stage.ts';
import type { EventHandler, EventName } from '#core/gateway/events/event-handler.ts';

/** A route of a model that cannot work. */
export interface CatalogProblem {
  readonly model: string;
  readonly route: string; // upstream/model
  readonly wrong: string;
  readonly right: string;
}

/** A configuration for reviews, without open services. */
export type ReviewedHost = Pick<Host, 'section' | 'files' | 'stages' | 'isProduction' | 'catalog'>;

/** A plugin section's summary in `daypass check`. */
export interface ConfigReview {
  /** Name of the line in `daypass check`. */
  readonly name: string;
  /** The configured value in a few words, with optional warnings about it; undefined to omit the line. */
  describe(host: ReviewedHost): { readonly value: string; readonly notice?: string | readonly string[] } | undefined;
}

/** Files that `daypass init` writes next to or below gateway.yaml. */
interface StarterFiles {
  /** Folder of the files, for messages: `pages`. */
  readonly name: string;
  /** @returns path, relative to gateway.yaml, and text; existing files are kept */
  write(host: ReviewedHost): Promise<readonly (readonly [path: string, text: string])[]>;
}

/** A plugin's check of a catalog before it is used, and its description for the operator. */
export interface CatalogReview {
  /** Mistakes: the configuration is refused. */
  problems(catalog: Catalog): CatalogProblem[];
  /** Lines that `daypass check` prints. */
  describe(catalog: Catalog): string[];
}

/**
 * Runs once, when the configuration is valid and the services are open, before any socket listens. It is for registrations that hapi
 * needs before it starts, such as auth strategies and routes that depend on a section. It does not run again when gateway.yaml is
 * reloaded, so a section that it reads must be `fixed`. An exception stops the start.
 */
/** Maximum ms of a hook; the start waits for it. */
export const hookTimeout = 30_000;

export type ConfiguredHook = (server: Server, host: Host) => void | Promise<void>;

/**
 * The registrations of all plugins. Filled while plugins register, and only read afterwards. Names are unique: a second registration
 * under the same name throws.
 */
export class Registry {
  readonly stages = new Map<string, AnyStageDefinition>();
  readonly sections = new Map<string, Section>();
  /** Name of the plugin that registered each section. */
  readonly sectionPlugins = new Map<string, string>();
  readonly endpoints: Endpoint[] = [];
  readonly sockets: SocketEndpoint[] = [];
  readonly databaseTables = new Map<string, PluginTables>();
  /** Tables of third-party plugins. */
  readonly foreignTables: PluginTables[] = [];
  readonly jobs = new Map<string, JobDefinition>();
  readonly eventHandlers: EventHandler<Host>[] = [];
  readonly mailKinds = new Map<EventName, MailKind>();
  readonly formats = new Map<string, WireFormat>();
  readonly vendors = new Map<string, Vendor>();
  readonly paymentProviders = new Map<string, PaymentProvider>();
  readonly checkoutSteps = new Map<string, CheckoutStep>();
  readonly actions = new Map<string, ActionKind>();
  readonly commands = new Map<string, Command>();
  readonly #subcommands = new Map<string, readonly Command['define'][]>();
  readonly catalogReviews: CatalogReview[] = [];
  readonly configReviews: ConfigReview[] = [];
  readonly statusReports = new Map<string, StatusReport>();
  readonly healthChecks = new Map<string, HealthCheck>();
  readonly problems = new Map<string, ProblemKind>();
  readonly gauges = new Map<string, Gauge>();
  readonly diagnoses = new Map<string, Diagnosis>();
  readonly observers = new Map<string, Observer>();
  readonly operatorRoutes: ServerRoute[] = [];
  /** Readings by path. */
  readonly operatorReadings = new Map<string, OperatorReading>();
  readonly pages: Page[] = [];
  readonly noticeSources = new Map<string, NoticeSource>();
  readonly storySources: ReadStory[] = [];
  /** Sources of notes about routes, for operators. */
  readonly routeNoteSources: NoteSource[] = [];
  /** Sources of notes about models, for customers. */
  readonly modelNoteSources: NoteSource[] = [];
  readonly assetSources = new Map<string, AssetSource>();
  readonly pageTexts: Texts[] = [];
  readonly configuredHooks: { readonly plugin: string; readonly hook: ConfiguredHook }[] = [];
  /** Mistakes for plugins of gateway.yaml that could not be loaded; an unknown name may belong to one of them. */
  readonly unloaded: Mistake[] = [];
  /** Loaded third-party plugins by name, with the files of their modules. */
  readonly foreignPlugins = new Map<string, string>();
  /** Names of the stages of third-party plugins. */
  readonly foreignStages = new Set<string>();
  /** Describes model capabilities; undefined if no plugin implements formats. */
  abilityReader: AbilityReader | undefined;
  /** Reads an account's remaining allowance; undefined if no plugin limits it. */
  allowanceReader: ReadAllowance | undefined;
  /** Cost of usage, for the operator pages and `daypass usage`; undefined if no plugin knows prices. */
  costsReader: { readonly beside: ReadCostsBeside; readonly usage: UsageFiguresReader } | undefined;
  /** Runs variants of the configuration; undefined without such a plugin. */
  variantSource: VariantSource | undefined;
  /** Links texts of the shop; undefined if no plugin provides them. */
  siteLinksReader: ReadSiteLinks | undefined;
  readonly starterFiles: StarterFiles[] = [];
  /** Reads the time credited to customers; undefined if no plugin grants credits. */
  creditReader: ReadCredits | undefined;
  checkupReader: ReadCheckups | undefined;
  #plugin = 'core';

  /** Runs `register`; its registrations belong to the plugin of this name. Plugins register one after another. */
  async registering(plugin: string, register: () => Promise<void>): Promise<void> {
    this.#plugin = plugin;
    const known = new Set(this.databaseTables.values());
    try {
      await register();
      for (const tables of this.databaseTables.values()) if (!known.has(tables)) await checkTableNames(tables);
    } finally {
      this.#plugin = 'core';
    }
  }

  stage(definition: AnyStageDefinition): void {
    if (typeof definition.create !== 'function') throw new Error(`stage "${definition.name}" has no function "create"`);
    add(this.stages, 'stage', definition);
  }

  section(section: Section): void {
    add(this.sections, 'section', section);
    this.sectionPlugins.set(section.name, this.#plugin);
  }

  endpoint(endpoint: Endpoint): void {
    if (!/^\/v1(beta)?\//.test(endpoint.path))
      throw new Error(`endpoint ${endpoint.method} ${endpoint.path}: the path must begin with /v1/ or /v1beta/`);
    const taken = this.endpoints.find(({ method, path }) => method === endpoint.method && path === endpoint.path);
    if (taken !== undefined) throw new Error(`endpoint ${endpoint.method} ${endpoint.path} is registered twice`);
    this.endpoints.push(endpoint);
  }

  /** Serves an endpoint over WebSockets as well. */
  socket(socket: SocketEndpoint): void {
    this.sockets.push(socket);
  }

  tables(tables: PluginTables): void {
    add(this.databaseTables, 'tables', tables);
    if (this.foreignPlugins.has(this.#plugin)) this.foreignTables.push(tables);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each job's data is checked against its own schema before it runs
  job(job: JobDefinition<any>): void {
    checkSchedule(job);
    add(this.jobs, 'job', job);
  }

  format(format: WireFormat): void {
    add(this.formats, 'format', format);
  }

  /**
   * Calls `handle` on every instance for each event of this type. Events may be missed, and every instance handles them: enqueue work
   * that must happen exactly once as a job with an id. Errors of `handle` are logged.
   */
  on<Name extends EventName>(
    event: Name,
    handle: (payload: EventTypes[Name], host: Host) => void | Promise<void>,
  ): void {
    this.eventHandlers.push({ event, plugin: this.#plugin, handle });
  }

  /** Turns an event into a mail to a customer. Its texts are registered with it. */
  mail(kind: MailKind): void {
    if (this.mailKinds.has(kind.event)) throw new Error(`mails about ${kind.event} are registered twice`);
    this.mailKinds.set(kind.event, kind);
    if (!this.pageTexts.includes(kind.texts)) this.texts(kind.texts);
    this.on(kind.event, (_payload: unknown, host) => wakeMailSender(host));
  }

  onConfigured(hook: ConfiguredHook): void {
    this.configuredHooks.push({ plugin: this.#plugin, hook });
  }

  vendor(vendor: Vendor): void {
    add(this.vendors, 'vendor', vendor);
  }

  paymentProvider(provider: PaymentProvider): void {
    add(this.paymentProviders, 'payment provider', provider);
  }

  /** A question or notice at the checkout, which is stored with the order. */
  checkoutStep(step: CheckoutStep): void {
    for (const other of this.checkoutSteps.values()) {
      const taken = Object.keys(step.fields).find((name) => name in other.fields);
      if (taken !== undefined)
        throw new Error(`checkout step "${step.name}": the field "${taken}" belongs to "${other.name}"`);
    }
    add(this.checkoutSteps, 'checkout step', step);
  }

  /** An operator action on pages, by commands and over the API; each run is recorded. */
  action(action: ActionKind): void {
    add(this.actions, 'action', action);
  }

  statusReport(report: StatusReport): void {
    add(this.statusReports, 'status report', report);
  }

  /** A check for faults while requests are served: reported to the operator, and logged when its verdict changes. */
  healthCheck(check: HealthCheck): void {
    add(this.healthChecks, 'health check', check);
  }

  /** A problem that an operator must decide or fix. The name of a kind is unique. */
  problem(kind: ProblemKind): void {
    add(this.problems, 'problem', kind);
    if (kind.alert !== undefined) this.on(kind.alert.event, (_payload: unknown, host) => wakeAlertSenders(host));
  }

  /** Checks of `daypass doctor` that call other services. */
  diagnosis(diagnosis: Diagnosis): void {
    add(this.diagnoses, 'diagnosis', diagnosis);
  }

  gauge(gauge: Gauge): void {
    add(this.gauges, 'gauge', gauge);
  }

  /** A hapi route on the operator listener, for data that only operators may read. Access has been checked before the handler. */
  operatorRoute(route: ServerRoute): void {
    this.operatorRoutes.push(route);
  }

  /** A reading of the operator's API, with its description. */
  operatorReading(reading: OperatorReading): void {
    if (this.operatorReadings.has(reading.path)) throw new Error(`two plugins read "${reading.path}" for operators`);
    this.operatorReadings.set(reading.path, reading);
  }

  /** A resource that operators list; the operator's API serves it under the plural of its name. */
  resource(resource: OperatorResource): void {
    this.operatorReading(readingOf(resource));
  }

  /** Notes about routes, shown on the operators' page of routes. */
  routeNotes(source: NoteSource): void {
    this.routeNoteSources.push(source);
  }

  /** Notes about models, shown on the customers' pages of models. */
  modelNotes(source: NoteSource): void {
    this.modelNoteSources.push(source);
  }

  observer(observer: Observer): void {
    add(this.observers, 'observer', observer);
  }

  /** Temporary notices to customers, on the status page and on their home page. */
  notices(source: NoticeSource): void {
    add(this.noticeSources, 'source of notices', source);
  }

  /** Events of an account, shown on its operator page. */
  story(read: ReadStory): void {
    this.storySources.push(read);
  }

  page(page: Page): void {
    if (this.pages.some(({ path }) => path === page.path)) throw new Error(`page "${page.path}" is registered twice`);
    this.pages.push(locateTemplates(page));
  }

  /** Files that browsers may load. */
  assets(source: AssetSource): void {
    add(this.assetSources, 'asset', locateAssets(source));
  }

  /** The texts of the plugin's pages. */
  texts(texts: Texts): void {
    this.pageTexts.push(texts);
  }

  /** Reads the allowance of an account for pages. */
  allowance(reader: ReadAllowance): void {
    if (this.allowanceReader !== undefined) throw new Error('two plugins read the allowance of accounts');
    this.allowanceReader = reader;
  }

  /** Cost of usage, shown with usage on the operator pages and in `daypass usage`. */
  costs(beside: ReadCostsBeside, usage: UsageFiguresReader): void {
    if (this.costsReader !== undefined) throw new Error('two plugins know what use has cost');
    this.costsReader = { beside, usage };
  }

  /** Runs a variant of the configuration for some of the accounts. */
  variants(source: VariantSource): void {
    if (this.variantSource !== undefined) throw new Error('two plugins try second configurations');
    this.variantSource = source;
  }

  /** Time credited to customers for each incident, for the status page. */
  credits(reader: ReadCredits): void {
    if (this.creditReader !== undefined) throw new Error('two plugins give time back for incidents');
    this.creditReader = reader;
  }

  /** The last checks of each model's routes, for the status page. */
  checkups(reader: ReadCheckups): void {
    if (this.checkupReader !== undefined) throw new Error('two plugins check the routes of models');
    this.checkupReader = reader;
  }

  /** Texts of the shop, for the footer, the sign-in and the checkout. */
  siteLinks(reader: ReadSiteLinks): void {
    if (this.siteLinksReader !== undefined) throw new Error('two plugins link the texts of the shop');
    this.siteLinksReader = reader;
  }

  /** Files that `daypass init` writes. */
  starter(files: StarterFiles): void {
    this.starterFiles.push(files);
  }

  catalogReview(review: CatalogReview): void {
    this.catalogReviews.push(review);
  }

  configReview(review: ConfigReview): void {
    this.configReviews.push(review);
  }

  /** Reads the abilities of a model for pages; at most one plugin provides them. */
  abilities(reader: AbilityReader): void {
    if (this.abilityReader !== undefined) throw new Error('abilities of models are registered twice');
    this.abilityReader = reader;
  }

  command(command: Command): void {
    const { name } = command;
    const define: Command['define'] = (parser, context) => {
      command.define(parser, context);
      for (const defineMore of this.#subcommands.get(name) ?? []) defineMore(parser, context);
    };
    add(this.commands, 'command', { name, define });
  }

  /** Adds subcommands to a command of another plugin; has no effect if that command is missing. */
  subcommands(of: string, define: Command['define']): void {
    this.#subcommands.set(of, [...(this.#subcommands.get(of) ?? []), define]);
  }
}

function add<T extends { readonly name: string }>(map: Map<string, T>, kind: string, entry: T): void {
  if (map.has(entry.name)) throw new Error(`${kind} "${entry.name}" is registered twice`);
  map.set(entry.name, entry);
}
