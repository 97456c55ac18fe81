import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, resolve } from 'node:path';
import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { data, listen, memory } from '#core/config/sections/core-sections.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { VendorServers } from '#core/config/sections/vendor-servers.ts';
import { assemble } from '#core/extension/assembly.ts';
import { hookTimeoutMs } from '#core/extension/registry.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { HealthMonitor } from '#core/gateway/health/health-monitor.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { drain, drainReplaced, stoppingError } from '#core/gateway/http/drain.ts';
import { ExchangeHandler } from '#core/gateway/http/exchange-handler.ts';
import { type HealthSource, createOperatorHealthRoutes, routeHealthChecks } from '#core/gateway/http/health.ts';
import { EndpointTable } from '#core/gateway/http/paths.ts';
import { routeExchanges, stopServer } from '#core/gateway/http/server.ts';
import type { StartingListener } from '#core/gateway/http/starting-listener.ts';
import { resolveOperatorAddress } from '#core/gateway/operator-listener/address.ts';
import {
  type ForwardedResponse,
  type ForwardedRequest,
  OperatorServer,
} from '#core/gateway/operator-listener/server.ts';
import { getRunningExchanges } from '#core/gateway/pipeline/running-exchanges.ts';
import type { Logger } from '#core/platform/logger.ts';
import { computeMemoryLimits } from '#core/platform/memory/limits.ts';
import { MemoryWatch } from '#core/platform/memory/watch.ts';
import { waitUnlessAborted, withDeadline } from '#core/platform/timing/deadline.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { describeProblems } from '#core/web/problems/find-problems.ts';
import { routePages } from '#core/web/serve.ts';
import { listenWhileStarting } from './listen-while-starting.ts';
import { listGatewayNotices } from './notices.ts';
import { listConfiguredSecrets } from './secret-remover.ts';
import { type GatewayParts, ServedConfig } from './served-config.ts';
import { OpenServices } from './services.ts';
import type { SupervisorLink } from './workers/link.ts';
import type { WorkerSettings } from './workers/settings.ts';

export interface GatewayOptions {
  readonly file: string; // path of gateway.yaml
  readonly document?: GatewayDocument; // the parsed file, if it has already been read
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly signal?: AbortSignal; // aborts the startup
  /** Runs once all services are open, before any socket listens. */
  readonly beforeListening?: (host: Host) => Promise<unknown>;
  /** Set if this is one of several processes under a supervisor, which owns the sockets and the operator listener. */
  readonly worker?: (WorkerSettings & { readonly link: SupervisorLink }) | undefined;
}

const timeoutsMs = {
  release: 4_000, // for releasing resources after a failed start
  exchanges: 5_000, // for stages to finish exchanges during a stop, after their connections are closed
  close: 60_000, // for closing all resources during a stop
};

interface StartParts {
  readonly document: GatewayDocument;
  readonly endpoints: EndpointTable;
  readonly resources: AsyncDisposableStack;
  readonly starting: StartingListener;
}

export class Gateway {
  readonly #parts: GatewayParts;
  readonly #served: ServedConfig;
  #operatorServer: OperatorServer | undefined;
  #monitor: HealthMonitor | undefined;
  #isServing = true;
  #isReplaced = false;
  #stopAccepting: (() => void) | undefined;

  private constructor(parts: GatewayParts, firstConfig: Config) {
    this.#parts = parts;
    this.#served = new ServedConfig(parts, firstConfig);
  }

  /**
   * Reads the configuration, opens the services, and listens. If the start fails or is aborted, all resources are released.
   *
   * @throws ConfigError with all mistakes in gateway.yaml, before any service is opened; the reason of `signal` if it aborts
   */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const resources = new AsyncDisposableStack();
    try {
      return await Gateway.#open(options, resources);
    } catch (error) {
      const timeoutMessage = 'resources were not released in time';
      await withDeadline(resources.disposeAsync(), timeoutsMs.release, timeoutMessage).catch((failure: unknown) => {
        options.log.error('the start failed, and its resources could not be released', failure);
      });
      throw error;
    }
  }

  static async #open(options: GatewayOptions, resources: AsyncDisposableStack): Promise<Gateway> {
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
    const starting = resources.use(listenWhileStarting(assembly, config, options));
    const signal = AbortSignal.any([starting.failureSignal, ...(options.signal ? [options.signal] : [])]);
    const dataFolder = resolve(dirname(file), config.get(data).folder);
    const processCount = worker?.workerCount;
    const limits = computeMemoryLimits(config.get(memory).max_bytes, undefined, undefined, processCount);
    const services = await OpenServices.open({
      dataFolder,
      environment,
      log,
      registry: assembly.registry,
      mode: 'serve',
      host,
      limits,
      processes: processCount,
      signal,
    });
    resources.defer(() => services.abandon());
    resources.use(new MemoryWatch({ limits, budget: services.services.memory, log }));
    const vendorServers = resources.use(new VendorServers(assembly.registry.vendors, log));
    const endpoints = new EndpointTable(assembly.registry.endpoints);
    handler = new ExchangeHandler(endpoints, getRunningExchanges(services.services));
    const gateway = new Gateway(
      { file, environment, log, assembly, handler, services, vendors: vendorServers, worker },
      config,
    );
    const parts = { document, endpoints, resources, starting };
    await waitUnlessAborted(gateway.#serve(parts, options.beforeListening), signal);
    return gateway;
  }

  async #serve(
    { document, endpoints, resources, starting }: StartParts,
    beforeListening: GatewayOptions['beforeListening'],
  ): Promise<void> {
    const { server, registry } = this.#parts.assembly;
    const host = () => this.host;
    await this.#served.serveFirst(document);
    resources.defer(() => this.#served.retire());
    await this.#runConfiguredHooks();
    routeExchanges(server, this.#parts.handler, endpoints);
    this.#parts.assembly.upgrades.serve(this.#parts.handler, endpoints, registry.sockets);
    const health = this.#createHealthSource(host);
    routeHealthChecks(server, health);
    await routePages(server, registry, host);
    await this.#parts.services.events.listen();
    this.#parts.services.runJobs();
    this.#operatorServer = this.#openOperator(this.config, health, resources);
    // Node writes the cache only when it exits normally, but a gateway may be killed. The first flush is slow.
    flushCompileCache();
    await beforeListening?.(this.host);
    await this.#listen(starting);
    this.#monitor = new HealthMonitor(registry, host, () => publishLive(host(), 'health'));
  }

  #openOperator(config: Config, health: HealthSource, resources: AsyncDisposableStack): OperatorServer | undefined {
    const { dataFolder } = this.#parts.services.services;
    const address = resolveOperatorAddress(config.get(operatorSection), config.get(listen).port, dataFolder);
    if (address === undefined) return undefined;
    const routes = [...createOperatorHealthRoutes(health), ...this.#parts.assembly.registry.operatorRoutes];
    return resources.use(new OperatorServer(address, routes, () => this.host, this.#parts.log));
  }

  /** The gateway's URL on its own machine. */
  get url(): string {
    const address = this.#parts.assembly.listener.address() as AddressInfo;
    return `http://${toUrlHost(address)}:${address.port}`;
  }

  get requestsInFlight(): number {
    return this.#parts.handler.exchangesInFlight;
  }

  /** After each of the next `connections` responses, closes the connection, so that clients move to other processes on the same port. */
  shedConnections(connections: number): void {
    this.#parts.handler.closeAfterNext(connections);
  }

  /** Responds to an operator request that the supervisor forwarded; undefined if the listener is off. */
  respondToOperator(request: ForwardedRequest): Promise<ForwardedResponse> | undefined {
    return this.#operatorServer?.respond(request);
  }

  /** Undefined if the operator listener is off. */
  get operatorUrl(): string | undefined {
    return this.#operatorServer?.url;
  }

  get host(): Host {
    return this.#served.host;
  }

  get notices(): string[] {
    const { file, assembly, services } = this.#parts;
    return listGatewayNotices(file, this.config, this.host, assembly.registry, services.services.isProduction);
  }

  /** Models that can be called with Chat Completions. */
  get chatModels(): readonly Model[] {
    const { registry } = this.#parts.assembly;
    return this.host.catalog.models.filter((model) =>
      readAbilities(registry, model).conversations.some(({ format }) => format === 'chat'),
    );
  }

  get secrets(): string[] {
    return listConfiguredSecrets(this.config, this.#parts.assembly.registry);
  }

  /** Main module files of the third-party plugins, by plugin name. */
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

  reload(): Promise<boolean> {
    return this.#served.reload();
  }

  /**
   * Fails `/readyz` for the notice period, lets running exchanges finish within the drain timeout, then closes all resources.
   *
   * @param skipNotice skips the notice period when it aborts
   * @param isReplaced true if other processes accept connections at the same address. This process then stops accepting connections
   *   immediately, and stays ready
   * @throws the error of a resource that could not be closed, after closing the others; DeadlineExceeded if closing takes too long
   */
  async stop(skipNotice: AbortSignal = new AbortController().signal, isReplaced = false): Promise<void> {
    if (!this.#isServing) return;
    this.#isServing = false;
    this.#isReplaced = isReplaced;
    const { handler, assembly } = this.#parts;
    if (isReplaced) this.#stopAccepting?.();
    await this.#served.close();
    const { notice_period: noticeSeconds, drain_timeout: limitSeconds } = this.config.get(listen);
    const times = { noticeSeconds, limitSeconds, skipNotice };
    await (isReplaced ? drainReplaced(handler, times, assembly.connections) : drain(handler, times));
    await withDeadline(this.#close(), timeoutsMs.close, `not everything was closed after ${timeoutsMs.close / 1000} s`);
  }

  async #close(): Promise<void> {
    await using closing = new AsyncDisposableStack();
    closing.use(this.#parts.services);
    closing.use(this.#parts.vendors);
    closing.use(this.#monitor);
    closing.defer(() => this.#served.retire(timeoutsMs.exchanges));
    if (this.#operatorServer !== undefined) closing.use(this.#operatorServer);
    closing.defer(() => stopServer(this.#parts.assembly.server, 1_000));
  }

  /**
   * Aborts running exchanges and stops the embedded database, which would otherwise outlive the process. Everything else ends with the
   * process. Takes a few seconds at most.
   */
  async abandon(): Promise<void> {
    this.#parts.handler.abortAll(stoppingError());
    await this.#parts.services.abandonDatabase();
  }

  #createHealthSource(host: () => Host): HealthSource {
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
        const timeoutMessage = `has not finished after ${hookTimeoutMs / 1000} s`;
        await withDeadline(Promise.resolve(hook(server, this.host)), hookTimeoutMs, timeoutMessage);
      } catch (error) {
        throw new Error(`the plugin ${plugin} failed in onConfigured`, { cause: error });
      }
    }
  }

  async #listen(starting: StartingListener): Promise<void> {
    const { server, connections } = this.#parts.assembly;
    this.#served.applyListenerLimits();
    const { log, worker } = this.#parts;
    if (connections.description !== undefined) log.info(connections.description);
    await server.start();
    if (worker === undefined) await this.#operatorServer?.listen();
    this.#stopAccepting = await starting.serve();
  }
}

function toUrlHost({ address, family }: AddressInfo): string {
  if (address === '::' || address === '0.0.0.0') return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}
