import { basename, dirname, join } from 'node:path';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { type EffectiveConfiguration, EffectiveDocuments } from '#core/config/history/effective-document.ts';
import { rollbackChannel, RollbackRefused, createVariantName } from '#core/config/history/history.ts';
import { listen, plugins } from '#core/config/sections/core-sections.ts';
import { findAddedPlugins, keepFixed } from '#core/extension/validation/fixed-members.ts';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { type Config, validate, validateInSteps } from '#core/extension/validation/validate-config.ts';
import { requireDivisible, requireDivisibleStages } from '#core/extension/validation/variant-rules.ts';
import type { VariantRun } from '#core/extension/variants.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { maxUploadSeconds } from '#core/gateway/http/collect-body.ts';
import type { ExchangeHandler } from '#core/gateway/http/exchange-handler.ts';
import { applyTimeouts } from '#core/gateway/http/listener.ts';
import type { Serving } from '#core/gateway/http/open-exchange.ts';
import { runInBackground } from '#core/platform/background.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { runInTurns } from '#core/platform/timing/turn.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { liveTopics } from '#core/web/pages/page.ts';
import { type BuildParts, toBodyLimits, buildServing } from './build-serving.ts';
import { describeRollback } from './describe-rollback.ts';
import type { WorkerSettings } from './workers/settings.ts';

const reloadTimeoutMs = 10_000;

/** The parts of a gateway that outlive a configuration. */
export interface GatewayParts extends BuildParts {
  readonly file: string; // path of gateway.yaml
  readonly environment: NodeJS.ProcessEnv;
  readonly handler: ExchangeHandler;
  readonly worker?: WorkerSettings | undefined;
}

/** The configuration that serves requests. It is replaced when the file changes or is rolled back. */
export class ServedConfig {
  readonly #parts: GatewayParts;
  readonly #documents: EffectiveDocuments;
  #config: Config;
  #fileDocument: GatewayDocument | undefined;
  #secretFiles: readonly string[] = []; // secret files of the configuration in effect, which is not the file after a rollback
  #storedForm: EffectiveConfiguration['storedForm'];
  #variants: VariantRun | undefined;
  #pendingChange: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #hasTimedOut = false;

  constructor(parts: GatewayParts, firstConfig: Config) {
    const { assembly, services, environment, log } = parts;
    this.#parts = parts;
    this.#documents = new EffectiveDocuments(services.services.database, assembly.registry, { environment, log });
    this.#config = firstConfig;
  }

  get config(): Config {
    return this.#config;
  }

  /** gateway.yaml, the files that are read with it, and the secret files of both the file and the configuration in effect. */
  get files(): readonly string[] {
    const { watched } = this.#config;
    return [this.#parts.file, ...watched, ...(this.#fileDocument?.secretFiles ?? []), ...this.#secretFiles];
  }

  get host(): Host {
    return this.#parts.handler.serving.host;
  }

  /**
   * Serves the first configuration: the file or, if it was rolled back, the rollback target.
   *
   * @throws the error of a stage that cannot be created
   */
  async serveFirst(file: GatewayDocument): Promise<void> {
    const effective = await this.#resolveFirst(file);
    await this.#serve(this.#config);
    this.#fileDocument = file;
    const { file: path, environment, assembly, handler } = this.#parts;
    getConfigLoadState(this.host).changes = {
      documents: this.#documents,
      read: (name) => readDocument(name === undefined ? path : join(dirname(path), basename(name)), environment),
      follow: () => this.#applyRollback(),
      serving: () => this.#storedForm,
      rollBack: (id, operator, note) => this.#rollBack(id, operator, note),
      release: () => this.#release(),
    };
    const variants = await assembly.registry.variantSource?.load();
    this.#variants = variants?.follow({
      host: () => this.host,
      documents: this.#documents,
      serve: (variant) => handler.serveVariant(variant),
      prepare: (number, text) => this.#prepareVariant(number, text),
    });
    await this.#recordServed(effective);
    // Also called after a gap in the connection, because a notification may have been lost during it.
    const onChange = () =>
      runInBackground(this.#parts.log, 'following a rollback of the configuration', () => this.#applyRollback());
    await this.host.database.notifications.listen(rollbackChannel, onChange, onChange);
  }

  /** If the rollback target cannot be used, falls back to the file, because no other configuration is known to work. */
  async #resolveFirst(file: GatewayDocument): Promise<EffectiveConfiguration> {
    try {
      const effective = await this.#documents.resolve(file);
      if (effective.rollback === undefined) return effective;
      const { sections } = this.#parts.assembly.registry;
      this.#config = keepFixed(await this.#validate(effective.document), this.#config, sections.values()).config;
      return effective;
    } catch (error) {
      const { log } = this.#parts;
      log.error(`${file.file} was rolled back, but stays in effect: the earlier configuration cannot be used`, error);
      return { document: file, rollback: undefined, storedForm: undefined };
    }
  }

  async #applyRollback(): Promise<void> {
    try {
      await this.reload();
    } catch (error) {
      this.#parts.log.error('the configuration was not rolled back; the running one stays active', error);
    }
  }

  async #rollBack(id: number, operator: string, note: string | undefined): Promise<void> {
    const { history } = this.#documents;
    const target = await history.find(id);
    if (target === undefined) throw new RollbackRefused(`configuration ${id} is no longer on record`);
    const file = await readDocument(this.#parts.file, this.#parts.environment);
    const { document, fileDigest } = await this.#documents.parseRollbackTarget(target, file);
    await this.#validate(document);
    await history.rollBack({ fileDigest, configurationId: id, operator, note });
    await this.#applyRollback();
  }

  async #release(): Promise<void> {
    if (!(await this.#documents.history.release()))
      throw new RollbackRefused('gateway.yaml is already in effect; nothing is rolled back');
    await this.#applyRollback();
  }

  async #recordServed(effective: EffectiveConfiguration): Promise<void> {
    const { rollback, storedForm } = effective;
    const { log } = this.#parts;
    this.#secretFiles = effective.document.secretFiles;
    const previous = getConfigLoadState(this.host).rollback;
    getConfigLoadState(this.host).rollback = rollback;
    if (rollback !== undefined && previous?.createdAt.getTime() !== rollback.createdAt.getTime())
      log.warn(describeRollback(this.#parts.file, rollback));
    this.#storedForm = storedForm;
    if (storedForm === undefined) return;
    runInBackground(log, 'recording the configuration', () =>
      this.#documents.history.record(storedForm, rollback?.operator ?? 'file'),
    );
    const { serving } = this.#parts.handler;
    try {
      const { digest } = storedForm;
      await this.#variants?.follow({ serving, digest, fileDigest: rollback?.fileDigest ?? digest });
    } catch (error) {
      log.warn(`the configuration served in parallel cannot be read: ${describeConnectionError(error)}`);
    }
  }

  async #prepareVariant(number: number, text: string): Promise<Serving> {
    const { handler, assembly } = this.#parts;
    if (this.#fileDocument === undefined) throw new Error('the gateway has not started yet');
    const candidate = await this.#validate(
      await this.#documents.parseStored({ name: createVariantName(number), text }, this.#fileDocument),
    );
    const sections = [...assembly.registry.sections.values()];
    const { config } = keepFixed(candidate, this.#config, sections);
    requireDivisible(config, this.#config, sections);
    const { pipeline } = handler.serving;
    const check = (serving: Serving) =>
      requireDivisibleStages({ config, pipeline: serving.pipeline }, { config: this.#config, pipeline });
    return this.#build(config, check, number);
  }

  async retire(timeoutMs?: number): Promise<void> {
    await Promise.all([this.#parts.handler.serving.pipeline.retire(timeoutMs), this.#variants?.retire(timeoutMs)]);
  }

  /** Refuses further reloads and waits for a running one. If the running reload takes too long, its result is discarded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#variants?.close();
    this.#hasTimedOut = (await waitForFirst([this.#pendingChange], reloadTimeoutMs)) === notSettled;
  }

  /**
   * Reloads gateway.yaml. Exchanges in flight finish with the configuration that they started with. If the reload fails, the running
   * configuration stays in effect.
   *
   * @returns false if the file has not changed
   * @throws ConfigError, or the error of a stage that cannot be created
   */
  reload(): Promise<boolean> {
    const change = this.#pendingChange.then(() => this.#reload()).catch((error: unknown) => this.#recordRefusal(error));
    this.#pendingChange = change.catch(() => undefined);
    return change;
  }

  applyListenerLimits(): void {
    const { worker, assembly } = this.#parts;
    const { connections, listener } = assembly;
    const section = this.#config.get(listen);
    const headerTimeout = section.header_timeout;
    const maxConnections = section.max_connections;
    connections.apply(
      maxConnections === undefined ? undefined : Math.ceil(maxConnections / (worker?.workerCount ?? 1)),
    );
    applyTimeouts(listener, {
      headerTimeout,
      keepAliveTimeout: section.keep_alive_timeout,
      // Includes the stage timeout, because stages may wait before they read the body.
      requestTimeout: headerTimeout + section.stage_timeout + maxUploadSeconds(toBodyLimits(section)),
    });
  }

  #recordRefusal(error: unknown): never {
    const { now } = this.host;
    const reason = error instanceof Error ? error.message : String(error);
    getConfigLoadState(this.host).refusal = { refusedAt: now(), reason };
    throw error;
  }

  async #reload(): Promise<boolean> {
    if (this.#isClosed) return false;
    const { file, environment, log, assembly } = this.#parts;
    const { sections } = assembly.registry;
    this.#fileDocument = await readDocument(file, environment);
    const effective = await this.#documents.resolve(this.#fileDocument);
    const candidate = await this.#validate(effective.document);
    if (candidate.fingerprint === this.#config.fingerprint) {
      getConfigLoadState(this.host).refusal = undefined;
      await this.#recordServed(effective);
      return false;
    }
    const { config, postponed } = keepFixed(candidate, this.#config, sections.values());
    for (const path of postponed) log.warn(`${path} has changed in ${file}; it takes effect at the next start`);
    const previous = await this.#serve(config);
    this.#config = config;
    this.applyListenerLimits();
    const loadState = getConfigLoadState(this.host);
    loadState.loadedAt = this.host.now();
    loadState.refusal = undefined;
    loadState.postponed = postponed;
    if (effective.rollback === undefined) log.info(`${file} has been reloaded`);
    await this.#recordServed(effective);
    // Open pages may still show models, prices or routes from the previous configuration.
    for (const topic of liveTopics) publishLive(this.host, topic);
    // Waits for the last exchange in the old pipeline, which can take as long as a stream.
    previous?.pipeline
      .retire()
      .catch((error: unknown) => log.error('the previous pipeline could not be released', error));
    return true;
  }

  /** Plugins are loaded only at startup. If the document adds some, reports that instead of the names that are unknown without them. */
  async #validate(document: GatewayDocument): Promise<Config> {
    const { registry } = this.#parts.assembly;
    try {
      return await runInTurns(validateInSteps(document, registry));
    } catch (error) {
      const addedPlugins = findAddedPlugins(document, this.#config.get(plugins));
      if (!(error instanceof ConfigError) || addedPlugins.length === 0) throw error;
      return validate(document, registry, [...registry.loadMistakes, ...addedPlugins]);
    }
  }

  async #serve(config: Config): Promise<Serving | undefined> {
    const next = await this.#build(config);
    const previous = this.#parts.handler.serve(next);
    next.pipeline.activate();
    return previous;
  }

  #build(config: Config, check?: (candidate: Serving) => void, variant?: number): Promise<Serving> {
    const checkServing = (serving: Serving) => {
      check?.(serving);
      if (this.#hasTimedOut) throw new Error('the gateway is stopping');
    };
    if (variant === undefined) return buildServing(this.#parts, config, checkServing);
    const base = { config: this.#config, catalog: this.host.catalog };
    return buildServing(this.#parts, config, checkServing, { number: variant, base });
  }
}
