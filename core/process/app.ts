import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, resolve } from 'node:path';
import { type Assembly, assemble } from '#core/extension/assembly.ts';
import { noteFailure } from '#core/platform/background.ts';
import { buildCatalog, catalogNotices } from '#core/config/sections/build-catalog.ts';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { addedPlugins, keepFixed } from '#core/extension/validation/fixed.ts';
import { configLoadState } from '#core/extension/validation/load-state.ts';
import { type Config, validate, validateInSteps } from '#core/extension/validation/load.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { pipelineNotices } from '#core/extension/validation/pipeline-rules.ts';
import { productionNotices } from '#core/extension/validation/production-notices.ts';
import type { SectionValue } from '#core/config/section.ts';
import { data, listen, memory, plugins } from '#core/config/sections/core-sections.ts';
import { HealthMonitor } from '#core/gateway/health/health-monitor.ts';
import { createHost, type Host } from '#core/gateway/host/host.ts';
import { connectionReader } from '#core/gateway/http/client-connection.ts';
import { drain, stopping } from '#core/gateway/http/drain.ts';
import { ExchangeHandler, type Serving } from '#core/gateway/http/exchange-handler.ts';
import { type HealthSource, operatorHealthChecks, routeHealthChecks } from '#core/gateway/http/health.ts';
import { limitListener } from '#core/gateway/http/listener.ts';
import { type BodyLimits, longestUpload } from '#core/gateway/http/request-body.ts';
import { operatorAddress } from '#core/gateway/operator-listener/address.ts';
import { OperatorServer } from '#core/gateway/operator-listener/server.ts';
import { EndpointTable } from '#core/gateway/http/paths.ts';
import { routeExchanges, stopServer } from '#core/gateway/http/server.ts';
import type { Logger } from '#core/platform/logger.ts';
import { memoryLimits } from '#core/platform/memory/limits.ts';
import { MemoryWatch } from '#core/platform/memory/watch.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { liveTopics } from '#core/web/pages/page.ts';
import { routePages } from '#core/web/serve.ts';
import { buildPipeline } from '#core/gateway/pipeline/build.ts';
import { OpenServices } from './services.ts';
import { unlessAborted, withDeadline } from '#core/platform/timing/deadline.ts';
import { inTurns, nextTurn } from '#core/platform/timing/turn.ts';
import { VendorServers } from '#core/config/sections/vendor-servers.ts';

export interface GatewayOptions {
  /** Path of gateway.yaml. */
  readonly file: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Ends the start when it aborts. */
  readonly signal?: AbortSignal;
}

/** Timeouts in ms: releasing resources after a failed start, and one hook of a plugin. */
const deadlines = { release: 4_000, hook: 30_000 };

/** One running gateway, made from one gateway.yaml. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #assembly: Assembly;
  readonly #handler: ExchangeHandler;
  readonly #services: OpenServices;
  readonly #vendors: VendorServers;
  #operator: OperatorServer | undefined;
  #monitor: HealthMonitor | undefined;
  #config: Config;
  #isServing = true;
  #changing: Promise<unknown> = Promise.resolve();

  private constructor(
    options: GatewayOptions,
    assembly: Assembly,
    handler: ExchangeHandler,
    services: OpenServices,
    vendors: VendorServers,
    config: Config,
  ) {
    this.#options = options;
    this.#assembly = assembly;
    this.#handler = handler;
    this.#services = services;
    this.#vendors = vendors;
    this.#config = config;
  }

  /**
   * Reads the configuration, opens what it needs, and listens. A start that fails or is aborted releases what it has opened.
   *
   * @throws ConfigError with every mistake of gateway.yaml, before anything is opened; the reason of `signal`
   */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const opened = new AsyncDisposableStack();
    try {
      return await Gateway.#open(options, opened);
    } catch (error) {
      const late = 'resources were not released in time';
      await withDeadline(opened.disposeAsync(), deadlines.release, late).catch((failure: unknown) => {
        options.log.error('the start failed, and its resources could not be released', failure);
      });
      throw error;
    }
  }

  static async #open(options: GatewayOptions, opened: AsyncDisposableStack): Promise<Gateway> {
    const { file, environment, log, signal } = options;
    const document = await readDocument(file, environment);
    let handler: ExchangeHandler | undefined;
    const host = () => {
      if (handler === undefined) throw new Error('the gateway has not started yet');
      return handler.serving.host;
    };
    const assembly = await unlessAborted(assemble(document, log, host), signal);
    const config = validate(document, assembly.registry);
    const dataFolder = resolve(dirname(file), config.get(data).folder);
    const limits = memoryLimits(config.get(memory).max_bytes);
    const services = await OpenServices.open({
      dataFolder,
      environment,
      log,
      registry: assembly.registry,
      mode: 'serve',
      host,
      limits,
      signal,
    });
    opened.defer(() => services.abandon());
    opened.use(new MemoryWatch({ limits, budget: services.services.memory, log }));
    const vendors = opened.use(new VendorServers(assembly.registry.vendors, log));
    const endpoints = new EndpointTable(assembly.registry.endpoints);
    handler = new ExchangeHandler(endpoints);
    const gateway = new Gateway(options, assembly, handler, services, vendors, config);
    await unlessAborted(gateway.#begin(config, endpoints, opened), signal);
    return gateway;
  }

  /** Serves the first configuration, and listens last. */
  async #begin(config: Config, endpoints: EndpointTable, opened: AsyncDisposableStack): Promise<void> {
    const { server, listener, registry } = this.#assembly;
    const host = () => this.host;
    await this.#serve(config);
    configLoadState(this.host);
    opened.defer(() => this.#handler.serving.pipeline.retire());
    await this.#runConfiguredHooks();
    routeExchanges(server, this.#handler, endpoints);
    const health = this.#health(host);
    routeHealthChecks(server, health);
    await routePages(server, registry, host);
    await this.#services.events.listen();
    this.#services.runJobs();
    this.#operator = this.#openOperator(config, health, opened);
    opened.defer(() => {
      listener.close();
      listener.closeAllConnections();
    });
    // Node writes it at a regular end only, and a gateway may be killed. The first time it takes a while.
    flushCompileCache();
    await this.#listen();
    this.#monitor = new HealthMonitor(registry, host, () => publishLive(host(), 'health'));
  }

  /** Where the operator asks, once `#listen` has opened it. */
  #openOperator(config: Config, health: HealthSource, opened: AsyncDisposableStack): OperatorServer | undefined {
    const { dataFolder } = this.#services.services;
    const address = operatorAddress(config.get(operatorSection), config.get(listen).port, dataFolder);
    if (address === undefined) return undefined;
    const routes = [...operatorHealthChecks(health), ...this.#assembly.registry.operatorRoutes];
    return opened.use(new OperatorServer(address, routes, () => this.host, this.#options.log));
  }

  /** The gateway's URL on its own machine. */
  get url(): string {
    const { address, port, family } = this.#assembly.listener.address() as AddressInfo;
    const name = address === '::' || address === '0.0.0.0' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
    return `http://${name}:${port}`;
  }

  /** The URL of the operator's listener; undefined when it is off. */
  get operatorUrl(): string | undefined {
    return this.#operator?.url;
  }

  get host(): Host {
    return this.#handler.serving.host;
  }

  /** Warnings about the running configuration. */
  get notices(): string[] {
    return [
      ...pipelineNotices(this.#config.stages, this.#assembly.registry),
      ...productionNotices(this.#config, this.#services.services.isProduction),
      ...catalogNotices(this.host.catalog),
    ];
  }

  /** Third-party plugins by name, with the files of their modules. */
  get foreignPlugins(): ReadonlyMap<string, string> {
    return this.#assembly.registry.foreignPlugins;
  }

  get config(): Config {
    return this.#config;
  }

  /**
   * Loads gateway.yaml again. Exchanges in flight finish on their configuration. If anything fails, the running
   * configuration stays.
   *
   * @returns false when the file has not changed
   * @throws ConfigError, or the error of a stage that could not be created
   */
  reload(): Promise<boolean> {
    const change = this.#changing.then(() => this.#reload()).catch((error: unknown) => this.#refuse(error));
    this.#changing = change.catch(() => undefined);
    return change;
  }

  /**
   * Fails `/readyz` for the notice period, lets running exchanges finish within the drain limit, then closes everything.
   *
   * @param hurry skips the notice period when it aborts
   * @throws what failed to close, once everything else is closed
   */
  async stop(hurry: AbortSignal = new AbortController().signal): Promise<void> {
    if (!this.#isServing) return;
    this.#isServing = false;
    await this.#changing;
    const { notice_period: notice, drain_timeout: limit } = this.#config.get(listen);
    await drain(this.#handler, { notice, limit, hurry });
    await using closing = new AsyncDisposableStack();
    closing.use(this.#services);
    closing.use(this.#vendors);
    closing.use(this.#monitor);
    closing.defer(() => this.#handler.serving.pipeline.retire());
    if (this.#operator !== undefined) closing.use(this.#operator);
    closing.defer(() => stopServer(this.#assembly.server, 1_000));
  }

  /**
   * Ends running exchanges and the embedded database, which would outlive the process; whatever else is open ends with the
   * process. Takes a few seconds at most.
   */
  async abandon(): Promise<void> {
    this.#handler.abortAll(stopping());
    await this.#services.abandonDatabase();
  }

  #health(host: () => Host): HealthSource {
    const isServing = () => this.#isServing;
    return {
      get isServing() {
        return isServing();
      },
      host,
      registry: this.#assembly.registry,
    };
  }

  async #runConfiguredHooks(): Promise<void> {
    const { registry, server } = this.#assembly;
    for (const { plugin, hook } of registry.configuredHooks) {
      try {
        const late = `has not finished after ${deadlines.hook / 1000} s`;
        await withDeadline(Promise.resolve(hook(server, this.host)), deadlines.hook, late);
      } catch (error) {
        throw new Error(`the plugin ${plugin} failed in onConfigured`, { cause: error });
      }
    }
  }

  /** Notes for the operator pages why the file was refused. */
  #refuse(error: unknown): never {
    const { now } = this.host;
    const reason = error instanceof Error ? error.message : String(error);
    configLoadState(this.host).refusal = { at: now(), reason };
    throw error;
  }

  async #reload(): Promise<boolean> {
    if (!this.#isServing) return false;
    const { file, environment, log } = this.#options;
    const { sections } = this.#assembly.registry;
    const read = await this.#validate(await readDocument(file, environment));
    if (read.fingerprint === this.#config.fingerprint) {
      configLoadState(this.host).refusal = undefined;
      return false;
    }
    const { config, postponed } = keepFixed(read, this.#config, sections.values());
    for (const path of postponed) log.warn(`${path} has changed in ${file}; it takes effect at the next start`);
    const previous = await this.#serve(config);
    this.#config = config;
    this.#limitListener();
    Object.assign(configLoadState(this.host), { loadedAt: this.host.now(), refusal: undefined, postponed });
    log.info(`${file} has been reloaded`);
    // Open pages may show models, prices or routes of the previous one.
    for (const topic of liveTopics) publishLive(this.host, topic);
    // Waits for the last exchange of the old pipeline, which may take as long as a stream does.
    previous?.pipeline
      .retire()
      .catch((error: unknown) => log.error('the previous pipeline could not be released', error));
    return true;
  }

  /** A plugin that the file adds is loaded at the next start, so its names are not refused as unknown. */
  async #validate(document: GatewayDocument): Promise<Config> {
    const { registry } = this.#assembly;
    try {
      return await inTurns(validateInSteps(document, registry));
    } catch (error) {
      const added = addedPlugins(document, this.#config.get(plugins));
      if (!(error instanceof ConfigError) || added.length === 0) throw error;
      return validate(document, registry, [...registry.unloaded, ...added]);
    }
  }

  /**
   * Builds this configuration next to the running one, then serves it in one step and activates its stages. If a part cannot
   * be built, the others are released and the running configuration stays.
   *
   * @returns the previous configuration
   */
  async #serve(config: Config): Promise<Serving | undefined> {
    const undo = new AsyncDisposableStack();
    let next: Serving;
    try {
      next = await this.#build(config, undo);
    } catch (error) {
      await undo.disposeAsync().catch((failure: unknown) => {
        this.#options.log.error('resources of the rejected configuration could not be released', failure);
      });
      throw error;
    }
    const previous = this.#handler.serve(next);
    next.pipeline.activate();
    return previous;
  }

  async #build(config: Config, undo: AsyncDisposableStack): Promise<Serving> {
    const { services, keeper } = this.#services;
    await nextTurn();
    const catalog = buildCatalog(config, await this.#vendors.running(config, undo));
    const host = createHost({ ...services, keep: keeper.forBuild(undo) }, config, catalog, config.stages);
    const section = config.get(listen);
    return {
      host,
      pipeline: await buildPipeline(
        config.stages,
        host,
        this.#assembly.registry.observers.values(),
        section.stage_timeout,
      ),
      bodyLimits: bodyLimitsOf(section),
      writeTimeout: section.write_timeout,
      readConnection: connectionReader(host),
    };
  }

  #limitListener(): void {
    const section = this.#config.get(listen);
    const headerTimeout = section.header_timeout;
    this.#assembly.connections.apply(section.max_connections);
    limitListener(this.#assembly.listener, {
      headerTimeout,
      keepAliveTimeout: section.keep_alive_timeout,
      // Stages may wait before they read the body.
      requestTimeout: headerTimeout + section.stage_timeout + longestUpload(bodyLimitsOf(section)),
    });
  }

  async #listen(): Promise<void> {
    const { server, listener } = this.#assembly;
    const { host, port } = this.#config.get(listen);
    this.#limitListener();
    const { description } = this.#assembly.connections;
    if (description !== undefined) this.#options.log.info(description);
    await server.start();
    await this.#operator?.listen();
    const { promise, resolve: done, reject } = Promise.withResolvers<void>();
    listener.on('error', (error: NodeJS.ErrnoException) => {
      // Later ones, of a connection that could not be accepted, find nobody else who listens.
      if (listener.listening) return noteFailure(this.#options.log, 'accepting a connection', error);
      const why = error.code === 'EADDRINUSE' ? 'the port is in use; set listen.port to another one' : error.message;
      reject(new Error(`cannot listen on ${host}:${port}: ${why}`, { cause: error }));
    });
    listener.listen(port, host, done);
    await promise;
  }
}

function bodyLimitsOf(section: SectionValue<typeof listen>): BodyLimits {
  return { maxBytes: section.max_body_bytes, timeout: section.body_timeout, minRate: section.body_rate };
}
