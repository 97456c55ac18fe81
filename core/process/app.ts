import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, resolve } from 'node:path';
import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { assemble } from '#core/extension/assembly.ts';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { data, listen, memory } from '#core/config/sections/core-sections.ts';
import { HealthMonitor } from '#core/gateway/health/health-monitor.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { drain, drainReplaced, stoppingError } from '#core/gateway/http/drain.ts';
import { ExchangeHandler } from '#core/gateway/http/exchange-handler.ts';
import { type HealthSource, operatorHealthRoutes, routeHealthChecks } from '#core/gateway/http/health.ts';
import { operatorAddress } from '#core/gateway/operator-listener/address.ts';
import {
  type ForwardedResponse,
  type ForwardedRequest,
  OperatorServer,
} from '#core/gateway/operator-listener/server.ts';
import { EndpointTable } from '#core/gateway/http/paths.ts';
import { routeExchanges, stopServer } from '#core/gateway/http/server.ts';
import type { StartingListener } from '#core/gateway/http/starting-listener.ts';
import type { Logger } from '#core/platform/logger.ts';
import { computeMemoryLimits } from '#core/platform/memory/limits.ts';
import { MemoryWatch } from '#core/platform/memory/watch.ts';
import { describeProblems } from '#core/web/problems/find-problems.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { routePages } from '#core/web/serve.ts';
import { listenWhileStarting } from './listen-while-starting.ts';
import { gatewayNotices } from './notices.ts';
import { type GatewayParts, ServedConfig } from './served-config.ts';
import { hookTimeoutMs } from '#core/extension/registry.ts';
import { configuredSecrets } from './secret-remover.ts';
import { OpenServices } from './services.ts';
import { waitUnlessAborted, withDeadline } from '#core/platform/timing/deadline.ts';
import { VendorServers } from '#core/config/sections/vendor-servers.ts';
import type { SupervisorLink } from './workers/link.ts';
import type { WorkerSettings } from './workers/settings.ts';

export interface GatewayOptions {
  /** Path of gateway.yaml. */
  readonly file: string;
  /** The parsed file, if it has already been read. */
  readonly document?: GatewayDocument;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Ends the start when it aborts. */
  readonly signal?: AbortSignal;
  /** Runs when all services are open, before any socket listens. */
  readonly beforeListening?: (host: Host) => Promise<unknown>;
  /** For one of several processes under a supervisor, which owns the sockets and the operator's listener. */
  readonly worker?: (WorkerSettings & { readonly link: SupervisorLink }) | undefined;
}

/**
 * Timeouts in ms. `release`: releasing resources after a failed start. On a stop, `exchanges`: stages that still finish exchanges
 * whose connections are closed; `close`: the whole stop.
 */
const deadlines = { release: 4_000, exchanges: 5_000, close: 60_000 };

/** One running gateway, made from one gateway.yaml. */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #served: ServedConfig;
  #operator: OperatorServer | undefined;
  #monitor: HealthMonitor | undefined;
  #isServing = true;
  #isReplaced = false;
  #stopAccepting: (() => void) | undefined;

  private constructor(parts: GatewayParts, first: Config) {
    this.#parts = parts;
    this.#served = new ServedConfig(parts, first);
  }

  /**
   * Reads the configuration, opens its services, and listens. A start that fails or is aborted releases them.
   *
   * @throws ConfigError with every mistake of gateway.yaml, before any service is opened; the reason of `signal`
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
    const { file, environment, log, worker } = options;
    const document = options.document ?? (await readDocument(file, environment));
    let handler: ExchangeHandler | undefined;
    const host = () => {
      if (handler === undefined) throw new Error('the gateway has not started yet');
      return handler.serving.host;
    };
    const assembly = await waitUnlessAborted(assemble(document, log, host), options.signal);
    const config = validate(document, assembly.registry);
    if (worker !== undefined) {
      assembly.registry.healthCheck(worker.link.healthCheck);
      assembly.registry.statusReport(worker.link.statusReport);
    }
    const starting = opened.use(listenWhileStarting(assembly, config, options));
    const signal = AbortSignal.any([starting.failureSignal, ...(options.signal ? [options.signal] : [])]);
    const dataFolder = resolve(dirname(file), config.get(data).folder);
    const processes = worker?.count;
    const limits = computeMemoryLimits(config.get(memory).max_bytes, undefined, undefined, processes);
    const services = await OpenServices.open({
      dataFolder,
      environment,
      log,
      registry: assembly.registry,
      mode: 'serve',
      host,
      limits,
      processes,
      signal,
    });
    opened.defer(() => services.abandon());
    opened.use(new MemoryWatch({ limits, budget: services.services.memory, log }));
    const vendors = opened.use(new VendorServers(assembly.registry.vendors, log));
    const endpoints = new EndpointTable(assembly.registry.endpoints);
    handler = new ExchangeHandler(endpoints);
    const gateway = new Gateway({ file, environment, log, assembly, handler, services, vendors, worker }, config);
    const parts = { document, endpoints, opened, starting };
    await waitUnlessAborted(gateway.#begin(parts, options.beforeListening), signal);
    return gateway;
  }

  async #begin(
    { document, endpoints, opened, starting }: StartParts,
    beforeListening: GatewayOptions['beforeListening'],
  ): Promise<void> {
    const { server, registry } = this.#parts.assembly;
    const host = () => this.host;
    await this.#served.begin(document);
    opened.defer(() => this.#served.retire());
    await this.#runConfiguredHooks();
    routeExchanges(server, this.#parts.handler, endpoints);
    this.#parts.assembly.upgrades.serve(this.#parts.handler, endpoints, registry.sockets);
    const health = this.#health(host);
    routeHealthChecks(server, health);
    await routePages(server, registry, host);
    await this.#parts.services.events.listen();
    this.#parts.services.runJobs();
    this.#operator = this.#openOperator(this.config, health, opened);
    // Node writes the cache only at a regular exit, and a gateway may be killed. The first flush takes a while.
    flushCompileCache();
    await beforeListening?.(this.host);
    await this.#listen(starting);
    this.#monitor = new HealthMonitor(registry, host, () => publishLive(host(), 'health'));
  }

  #openOperator(config: Config, health: HealthSource, opened: AsyncDisposableStack): OperatorServer | undefined {
    const { dataFolder } = this.#parts.services.services;
    const address = operatorAddress(config.get(operatorSection), config.get(listen).port, dataFolder);
    if (address === undefined) return undefined;
    const routes = [...operatorHealthRoutes(health), ...this.#parts.assembly.registry.operatorRoutes];
    return opened.use(new OperatorServer(address, routes, () => this.host, this.#parts.log));
  }

  /** The gateway's URL on its own machine. */
  get url(): string {
    const { address, port, family } = this.#parts.assembly.listener.address() as AddressInfo;
    const name = address === '::' || address === '0.0.0.0' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
    return `http://${name}:${port}`;
  }

  /** Requests in flight. */
  get running(): number {
    return this.#parts.handler.running;
  }

  /** Moves clients to other processes of the same port: this many of the next responses close their connections. */
  shed(connections: number): void {
    this.#parts.handler.closeNext(connections);
  }

  /** Answers an operator request that the supervisor forwards; undefined if the listener is off. */
  answerOperator(question: ForwardedRequest): Promise<ForwardedResponse> | undefined {
    return this.#operator?.respond(question);
  }

  /** The URL of the operator's listener; undefined if it is off. */
  get operatorUrl(): string | undefined {
    return this.#operator?.url;
  }

  get host(): Host {
    return this.#served.host;
  }

  /** Warnings about the running configuration. */
  get notices(): string[] {
    const { file, assembly, services } = this.#parts;
    return gatewayNotices(file, this.config, this.host, assembly.registry, services.services.isProduction);
  }

  /** Models that Chat Completions can call. */
  get chatModels(): readonly Model[] {
    const { registry } = this.#parts.assembly;
    return this.host.catalog.models.filter((model) =>
      readAbilities(registry, model).conversations.some(({ format }) => format === 'chat'),
    );
  }

  /** Secrets of the running configuration. */
  get secrets(): string[] {
    return configuredSecrets(this.config, this.#parts.assembly.registry);
  }

  /** Third-party plugins by name, with the files of their modules. */
  get foreignPlugins(): ReadonlyMap<string, string> {
    return this.#parts.assembly.registry.foreignPlugins;
  }

  get config(): Config {
    return this.#served.config;
  }

  /** Files whose changes trigger a reload: gateway.yaml and its secret files. */
  get files(): readonly string[] {
    return this.#served.files;
  }

  /** Loads gateway.yaml again, see ServedConfig. */
  reload(): Promise<boolean> {
    return this.#served.reload();
  }

  /**
   * Fails `/readyz` for the notice period, lets running exchanges finish within the drain limit, then closes all resources.
   *
   * @param hurry skips the notice period when it aborts
   * @param isReplaced true if other processes accept at the same address: this one stops accepting at once, and stays ready until it ends
   * @throws the error of a failed close, once all else is closed; DeadlineExceeded if that takes longer than a minute
   */
  async stop(hurry: AbortSignal = new AbortController().signal, isReplaced = false): Promise<void> {
    if (!this.#isServing) return;
    this.#isServing = false;
    this.#isReplaced = isReplaced;
    const { handler, assembly } = this.#parts;
    if (isReplaced) this.#stopAccepting?.();
    await this.#served.close();
    const { notice_period: notice, drain_timeout: limit } = this.config.get(listen);
    const times = { notice, limit, hurry };
    await (isReplaced ? drainReplaced(handler, times, assembly.connections) : drain(handler, times));
    await withDeadline(this.#close(), deadlines.close, `not everything was closed after ${deadlines.close / 1000} s`);
  }

  async #close(): Promise<void> {
    await using closing = new AsyncDisposableStack();
    closing.use(this.#parts.services);
    closing.use(this.#parts.vendors);
    closing.use(this.#monitor);
    closing.defer(() => this.#served.retire(deadlines.exchanges));
    if (this.#operator !== undefined) closing.use(this.#operator);
    closing.defer(() => stopServer(this.#parts.assembly.server, 1_000));
  }

  /**
   * Ends running exchanges and the embedded database, which would outlive the process; all else ends with the process. Takes a few
   * seconds at most.
   */
  async abandon(): Promise<void> {
    this.#parts.handler.abortAll(stoppingError());
    await this.#parts.services.abandonDatabase();
  }

  #health(host: () => Host): HealthSource {
    const isServing = () => this.#isServing || this.#isReplaced;
    return {
      get isServing() {
        return isServing();
      },
      host,
      registry: this.#parts.assembly.registry,
      problems: () => describeProblems(this.#parts.assembly.registry, host()),
    };
  }

  async #runConfiguredHooks(): Promise<void> {
    const { registry, server } = this.#parts.assembly;
    for (const { plugin, hook } of registry.configuredHooks) {
      try {
        const late = `has not finished after ${hookTimeoutMs / 1000} s`;
        await withDeadline(Promise.resolve(hook(server, this.host)), hookTimeoutMs, late);
      } catch (error) {
        throw new Error(`the plugin ${plugin} failed in onConfigured`, { cause: error });
      }
    }
  }

  async #listen(starting: StartingListener): Promise<void> {
    const { server, connections } = this.#parts.assembly;
    this.#served.limitListener();
    const { log, worker } = this.#parts;
    if (connections.description !== undefined) log.info(connections.description);
    await server.start();
    if (worker === undefined) await this.#operator?.listen();
    this.#stopAccepting = await starting.serve();
  }
}

interface StartParts {
  readonly document: GatewayDocument;
  readonly endpoints: EndpointTable;
  readonly opened: AsyncDisposableStack;
  readonly starting: StartingListener;
}
