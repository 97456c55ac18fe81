import type { Server, ServerRoute } from '@hapi/hapi';
import type { ReadAllowance } from '#core/business/accounts/allowance.ts';
import { wakeAlertSenders, wakeMailSender } from '#core/business/mail/jobs.ts';
import type { ReadCheckups, ReadCredits } from '#core/business/model-health/readings.ts';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { PaymentProvider } from '#core/business/payments/payment-provider.ts';
import type { AbilityReader } from '#core/config/catalog/abilities.ts';
import type { Catalog, Vendor } from '#core/config/catalog/catalog.ts';
import type { WireFormat } from '#core/config/catalog/formats.ts';
import type { Mistake } from '#core/config/file/mistake.ts';
import type { Section } from '#core/config/section.ts';
import type { Diagnosis } from '#core/gateway/diagnosis/diagnosis.ts';
import type { EventHandler, EventName } from '#core/gateway/events/event-handler.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { HealthCheck } from '#core/gateway/health/health-check.ts';
import type { StatusReport } from '#core/gateway/health/status-report.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import type { SocketEndpoint } from '#core/gateway/http/upgrades.ts';
import type { MailKind } from '#core/gateway/mails/mail-kind.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { AnyStageDefinition, Observer } from '#core/gateway/pipeline/stage.ts';
import { checkTableNames, type PluginTables } from '#core/platform/database/tables.ts';
import { checkSchedule } from '#core/platform/jobs/job.ts';
import type { ReadSiteLinks } from '#core/web/markdown/site-links.ts';
import type { ReadTimeline } from '#core/web/pages/account-timeline.ts';
import type { CheckoutStep } from '#core/web/pages/checkout-step.ts';
import type { NoticeSource } from '#core/web/pages/notices.ts';
import type { AssetSource, Page } from '#core/web/pages/page.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import type { ReadUsageCosts } from '#core/web/pages/usage-costs.ts';
import { resolveAssetPath, resolveTemplatePaths } from '#core/web/pages/views.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';
import { type OperatorResource, createReading } from '#core/web/resources/resource.ts';
import type { Texts } from '#core/web/texts/texts.ts';
import type { Command } from './commands/command.ts';
import { listActions, resourceCommand, type ResourceWords } from './commands/resource-command.ts';
import type { UsageFiguresReader } from './commands/usage-figures.ts';
import type { VariantSource } from './variants.ts';

/** A route that cannot work for its model. */
export interface CatalogProblem {
  readonly model: string;
  readonly route: string; // upstream/model
  readonly wrong: string;
  readonly right: string;
}

/** The parts of the host that a review may use. No services are open yet. */
export type ReviewedHost = Pick<Host, 'section' | 'files' | 'stages' | 'isProduction' | 'catalog'>;

/** A plugin section's summary in `daypass check`. */
export interface ConfigReview {
  /** Label of the line. */
  readonly name: string;
  /** Summarizes the section in a few words, with optional warnings about it; undefined to omit the line. */
  describe(host: ReviewedHost): { readonly value: string; readonly notice?: string | readonly string[] } | undefined;
}

/** Files that `daypass init` writes next to or below gateway.yaml. */
interface StarterFiles {
  /** Name of the folder, for messages: `pages`. */
  readonly name: string;
  /** Returns paths relative to gateway.yaml, and the text of each file. Existing files are not overwritten. */
  write(host: ReviewedHost): Promise<readonly (readonly [path: string, text: string])[]>;
}

/** A plugin's review of a catalog before it is used. */
export interface CatalogReview {
  /** Finds mistakes that make the gateway reject the configuration. */
  problems(catalog: Catalog): CatalogProblem[];
  /** Returns the lines that `daypass check` prints about the catalog. */
  describe(catalog: Catalog): string[];
}

/** Timeout of a `ConfiguredHook`, which delays the gateway's startup. */
export const hookTimeoutMs = 30_000;

/**
 * Runs once, after the configuration has been validated and the services are open, but before any socket listens. Use it for registrations
 * that hapi needs before it starts, such as auth strategies and routes that depend on a section. It does not run again when gateway.yaml is
 * reloaded, so any section that it reads must be `fixed`. If it throws, the gateway does not start.
 */
export type ConfiguredHook = (server: Server, host: Host) => void | Promise<void>;

/**
 * What all plugins have registered. It is filled while plugins register, and only read afterwards. Registering the same name twice throws.
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
  /** By path. */
  readonly operatorReadings = new Map<string, OperatorReading>();
  readonly pages: Page[] = [];
  readonly noticeSources = new Map<string, NoticeSource>();
  readonly storySources: ReadTimeline[] = [];
  /** Notes about routes, for operators. */
  readonly routeNoteSources: NoteSource[] = [];
  /** Notes about models, for customers. */
  readonly modelNoteSources: NoteSource[] = [];
  readonly assetSources = new Map<string, AssetSource>();
  readonly pageTexts: Texts[] = [];
  readonly configuredHooks: { readonly plugin: string; readonly hook: ConfiguredHook }[] = [];
  /** Plugins in gateway.yaml that could not be loaded. An unknown name elsewhere in the file may belong to one of them. */
  readonly loadMistakes: Mistake[] = [];
  /** Main module files of the loaded third-party plugins, by plugin name. */
  readonly foreignPlugins = new Map<string, string>();
  /** Names of the stages of third-party plugins. */
  readonly foreignStages = new Set<string>();
  /** Describes what models can do; undefined if no plugin implements formats. */
  abilityReader: AbilityReader | undefined;
  /** Reads an account's remaining allowance; undefined if no plugin limits it. */
  allowanceReader: ReadAllowance | undefined;
  /** Reads the cost of usage, for the operator pages and `daypass usage`; undefined if no plugin knows prices. */
  costsReader: { readonly pageCosts: ReadUsageCosts; readonly usage: UsageFiguresReader } | undefined;
  /** Runs variants of the configuration; undefined if no plugin does. */
  variantSource: VariantSource | undefined;
  /** Links to the shop's own texts, such as its terms; undefined if no plugin provides them. */
  siteLinksReader: ReadSiteLinks | undefined;
  readonly starterFiles: StarterFiles[] = [];
  /** Reads the time credited to customers after incidents; undefined if no plugin grants credits. */
  creditReader: ReadCredits | undefined;
  /** Reads the latest checks of each model's routes; undefined if no plugin checks routes. */
  checkupReader: ReadCheckups | undefined;
  #plugin = 'core';

  /** Runs `register` and attributes everything it registers to the named plugin. The caller must register plugins one at a time. */
  async registerAs(plugin: string, register: () => Promise<void>): Promise<void> {
    this.#plugin = plugin;
    const checkedTables = new Set(this.databaseTables.values());
    try {
      await register();
      for (const tables of this.databaseTables.values()) if (!checkedTables.has(tables)) await checkTableNames(tables);
    } finally {
      this.#plugin = 'core';
    }
  }

  stage(definition: AnyStageDefinition): void {
    if (typeof definition.create !== 'function') throw new Error(`stage "${definition.name}" has no function "create"`);
    addUnique(this.stages, 'stage', definition);
  }

  section(section: Section): void {
    addUnique(this.sections, 'section', section);
    this.sectionPlugins.set(section.name, this.#plugin);
  }

  endpoint(endpoint: Endpoint): void {
    if (!/^\/v1(beta)?\//.test(endpoint.path))
      throw new Error(`endpoint ${endpoint.method} ${endpoint.path}: the path must begin with /v1/ or /v1beta/`);
    if (this.endpoints.some(({ method, path }) => method === endpoint.method && path === endpoint.path))
      throw new Error(`endpoint ${endpoint.method} ${endpoint.path} is registered twice`);
    this.endpoints.push(endpoint);
  }

  /** Also serves an endpoint over WebSockets. */
  socket(socket: SocketEndpoint): void {
    this.sockets.push(socket);
  }

  tables(tables: PluginTables): void {
    addUnique(this.databaseTables, 'tables', tables);
    if (this.foreignPlugins.has(this.#plugin)) this.foreignTables.push(tables);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- each job's data is checked against its own schema before it runs
  job(job: JobDefinition<any>): void {
    checkSchedule(job);
    addUnique(this.jobs, 'job', job);
  }

  format(format: WireFormat): void {
    addUnique(this.formats, 'format', format);
  }

  /**
   * Calls `handle` for each event of this type, on every instance. Delivery is not guaranteed: for work that must happen exactly once,
   * enqueue a job with an id. Errors thrown by `handle` are logged.
   */
  on<Name extends EventName>(
    event: Name,
    handle: (payload: EventTypes[Name], host: Host) => void | Promise<void>,
  ): void {
    this.eventHandlers.push({ event, plugin: this.#plugin, handle });
  }

  /** Registers an email that tells customers about an event, and its texts if it has its own. */
  mail(kind: MailKind): void {
    if (this.mailKinds.has(kind.event)) throw new Error(`mails about ${kind.event} are registered twice`);
    this.mailKinds.set(kind.event, kind);
    if (kind.texts !== undefined && !this.pageTexts.includes(kind.texts)) this.texts(kind.texts);
    this.on(kind.event, (_payload: unknown, host) => wakeMailSender(host));
  }

  onConfigured(hook: ConfiguredHook): void {
    this.configuredHooks.push({ plugin: this.#plugin, hook });
  }

  vendor(vendor: Vendor): void {
    addUnique(this.vendors, 'vendor', vendor);
  }

  paymentProvider(provider: PaymentProvider): void {
    addUnique(this.paymentProviders, 'payment provider', provider);
  }

  /** Registers a question or notice at the checkout. It is stored with the order. */
  checkoutStep(step: CheckoutStep): void {
    for (const { name: owner, fields } of this.checkoutSteps.values()) {
      const duplicate = Object.keys(step.fields).find((name) => name in fields);
      if (duplicate !== undefined)
        throw new Error(`checkout step "${step.name}": the field "${duplicate}" belongs to "${owner}"`);
    }
    addUnique(this.checkoutSteps, 'checkout step', step);
  }

  /** Registers an operator action for the pages, the command line and the API. Every run is recorded. */
  action(action: ActionKind): void {
    addUnique(this.actions, 'action', action);
  }

  statusReport(report: StatusReport): void {
    addUnique(this.statusReports, 'status report', report);
  }

  /** Registers a check that runs while the gateway serves. Operators see its verdict, which is also logged whenever it changes. */
  healthCheck(check: HealthCheck): void {
    addUnique(this.healthChecks, 'health check', check);
  }

  /** Registers a kind of problem that needs an operator's decision or repair. */
  problem(kind: ProblemKind): void {
    addUnique(this.problems, 'problem', kind);
    if (kind.alert !== undefined) this.on(kind.alert.event, (_payload: unknown, host) => wakeAlertSenders(host));
  }

  /** Registers checks for `daypass doctor` that call other services. */
  diagnosis(diagnosis: Diagnosis): void {
    addUnique(this.diagnoses, 'diagnosis', diagnosis);
  }

  gauge(gauge: Gauge): void {
    addUnique(this.gauges, 'gauge', gauge);
  }

  /** Adds a hapi route to the operator listener, for data that only operators may read. Access is checked before the handler runs. */
  operatorRoute(route: ServerRoute): void {
    this.operatorRoutes.push(route);
  }

  /** Registers a `GET` endpoint of the operator API. */
  operatorReading(reading: OperatorReading): void {
    if (this.operatorReadings.has(reading.path)) throw new Error(`two plugins read "${reading.path}" for operators`);
    this.operatorReadings.set(reading.path, reading);
  }

  /**
   * Registers a resource that operators can list. The operator API serves it under the plural of its name.
   *
   * @param words also registers a command for the resource, and the actions in it; default: no command and no actions
   */
  resource(resource: OperatorResource, words?: ResourceWords): void {
    this.operatorReading(createReading(resource));
    if (words === undefined) return;
    for (const [action] of listActions(words)) this.action(action);
    this.command(resourceCommand(resource, words));
  }

  /** Registers a source of notes about routes, for the operators' routes page. */
  routeNotes(source: NoteSource): void {
    this.routeNoteSources.push(source);
  }

  /** Registers a source of notes about models, for the customers' model pages. */
  modelNotes(source: NoteSource): void {
    this.modelNoteSources.push(source);
  }

  observer(observer: Observer): void {
    addUnique(this.observers, 'observer', observer);
  }

  /** Registers a source of temporary notices for customers, shown on the status page and on their home page. */
  notices(source: NoticeSource): void {
    addUnique(this.noticeSources, 'source of notices', source);
  }

  /** Registers a source of events in an account's history, for the operators' account page. */
  story(read: ReadTimeline): void {
    this.storySources.push(read);
  }

  page(page: Page): void {
    if (this.pages.some(({ path }) => path === page.path)) throw new Error(`page "${page.path}" is registered twice`);
    this.pages.push(resolveTemplatePaths(page));
  }

  /** Registers files that browsers may request. */
  assets(source: AssetSource): void {
    addUnique(this.assetSources, 'asset', resolveAssetPath(source));
  }

  texts(texts: Texts): void {
    this.pageTexts.push(texts);
  }

  /** Registers the reader of accounts' remaining allowance, for pages. Only one plugin can provide it. */
  allowance(reader: ReadAllowance): void {
    if (this.allowanceReader !== undefined) throw new Error('two plugins read the allowance of accounts');
    this.allowanceReader = reader;
  }

  /** Registers readers of the cost of usage, for the operator pages and `daypass usage`. Only one plugin can provide them. */
  costs(pageCosts: ReadUsageCosts, usage: UsageFiguresReader): void {
    if (this.costsReader !== undefined) throw new Error('two plugins read the cost of usage');
    this.costsReader = { pageCosts, usage };
  }

  /** Registers the source that runs a variant of the configuration for some accounts. Only one plugin can provide it. */
  variants(source: VariantSource): void {
    if (this.variantSource !== undefined) throw new Error('two plugins run variants of the configuration');
    this.variantSource = source;
  }

  /** Registers the reader of the time credited to customers for each incident, for the status page. Only one plugin can provide it. */
  credits(reader: ReadCredits): void {
    if (this.creditReader !== undefined) throw new Error('two plugins credit time for incidents');
    this.creditReader = reader;
  }

  /** Registers the reader of the latest checks of each model's routes, for the status page. Only one plugin can provide it. */
  checkups(reader: ReadCheckups): void {
    if (this.checkupReader !== undefined) throw new Error('two plugins check the routes of models');
    this.checkupReader = reader;
  }

  /**
   * Registers the reader of links to the shop's texts, for the footer, the sign-in page and the checkout. Only one plugin can provide it.
   */
  siteLinks(reader: ReadSiteLinks): void {
    if (this.siteLinksReader !== undefined) throw new Error('two plugins link the texts of the shop');
    this.siteLinksReader = reader;
  }

  /** Registers files that `daypass init` writes. */
  starter(files: StarterFiles): void {
    this.starterFiles.push(files);
  }

  catalogReview(review: CatalogReview): void {
    this.catalogReviews.push(review);
  }

  configReview(review: ConfigReview): void {
    this.configReviews.push(review);
  }

  /** Registers the reader of model capabilities, for pages. Only one plugin can provide it. */
  abilities(reader: AbilityReader): void {
    if (this.abilityReader !== undefined) throw new Error('two plugins read the capabilities of models');
    this.abilityReader = reader;
  }

  command(command: Command): void {
    const { name } = command;
    const define: Command['define'] = (parser, context) => {
      command.define(parser, context);
      for (const defineMore of this.#subcommands.get(name) ?? []) defineMore(parser, context);
    };
    addUnique(this.commands, 'command', { name, define });
  }

  /** Adds subcommands to another plugin's command. Has no effect if that command is not registered. */
  subcommands(command: string, define: Command['define']): void {
    this.#subcommands.set(command, [...(this.#subcommands.get(command) ?? []), define]);
  }
}

function addUnique<T extends { readonly name: string }>(map: Map<string, T>, kind: string, entry: T): void {
  if (map.has(entry.name)) throw new Error(`${kind} "${entry.name}" is registered twice`);
  map.set(entry.name, entry);
}
