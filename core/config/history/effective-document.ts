import { type GatewayDocument, parseDocument } from '../file/document.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Logger } from '#core/platform/logger.ts';
import { ConfigHistory, type Rollback, RollbackRefused, type Served } from './history.ts';
import { fillLiterals, findLiterals, type SecretSchemas } from './literals.ts';

/** The configuration in effect: the file, or a rollback target. */
export interface Effective {
  readonly document: GatewayDocument;
  /** Undefined if the file serves. */
  readonly rollback: Rollback | undefined;
  /** Text and digest for the history; undefined while the database does not respond. */
  readonly kept: { readonly text: string; readonly digest: string } | undefined;
}

/**
 * Decides, at a start and at each reload, whether the file serves or, after an operator's rollback, an earlier configuration. A
 * rollback holds until the file changes: over restarts, and on every instance with the same file.
 */
export class EffectiveDocuments {
  readonly history: ConfigHistory;
  readonly #schemas: SecretSchemas;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #log: Logger;
  #lastRead: { readonly rollback: Rollback; readonly served: Served; readonly secret: string } | undefined;

  constructor(
    database: Pick<Database, 'query'>,
    schemas: SecretSchemas,
    { environment, log }: { readonly environment: NodeJS.ProcessEnv; readonly log: Logger },
  ) {
    this.history = new ConfigHistory(database, schemas);
    this.#schemas = schemas;
    this.#environment = environment;
    this.#log = log;
  }

  /** @throws ConfigError, or Error if the rollback target cannot be read */
  async resolve(file: GatewayDocument): Promise<Effective> {
    let kept: Effective['kept'];
    try {
      kept = await this.history.describe(file);
      this.#lastRead = await this.#read();
    } catch (error) {
      this.#log.warn(`the history of gateway.yaml cannot be read: ${describeConnectionError(error)}`);
      // It is unknown whether the file has changed; the rollback target is still better than the rolled-back file.
      if (this.#lastRead === undefined) return { document: file, rollback: undefined, kept: undefined };
    }
    const last = this.#lastRead;
    if (last === undefined || (kept !== undefined && kept.digest !== last.rollback.fileDigest))
      return { document: file, rollback: undefined, kept };
    const { rollback, served, secret } = last;
    return {
      document: readServed({ name: nameOf(served), text: served.text }, file, {
        schemas: this.#schemas,
        secret,
        environment: this.#environment,
      }),
      rollback,
      kept: served,
    };
  }

  /**
   * Parses a stored configuration, with its secrets from the file.
   *
   * @param kept stored text; the name is for messages
   * @throws ConfigError; RollbackRefused if the file lacks a secret of the stored configuration
   */
  async read(kept: { readonly name: string; readonly text: string }, file: GatewayDocument): Promise<GatewayDocument> {
    const parts = { schemas: this.#schemas, secret: await this.history.secret(), environment: this.#environment };
    return readServed(kept, file, parts);
  }

  /**
   * Parsed rollback target and the file it overrides.
   *
   * @throws RollbackRefused if the file is equal or has other secrets; ConfigError
   */
  async readRollback(target: Served, file: GatewayDocument) {
    const { digest: fileDigest, text: fileText } = await this.history.describe(file);
    if (target.digest === fileDigest)
      throw new RollbackRefused(`configuration ${target.id} is what gateway.yaml says already`);
    const document = await this.read({ name: nameOf(target), text: target.text }, file);
    return { document, fileDigest, fileText };
  }

  async #read() {
    const rollback = await this.history.rollback();
    if (rollback === undefined) return undefined;
    const served = await this.history.find(rollback.configurationId);
    if (served !== undefined) return { rollback, served, secret: await this.history.secret() };
    this.#log.error(`configuration ${rollback.configurationId}, which was to serve, is not on record any more`);
    return undefined;
  }
}

/**
 * Parses a configuration that has served. Its own secrets are taken from the current file.
 *
 * @throws ConfigError; RollbackRefused if a secret has changed since then or was removed
 */
function readServed(
  { name, text: masked }: { readonly name: string; readonly text: string },
  file: GatewayDocument,
  parts: { readonly schemas: SecretSchemas; readonly secret: string; readonly environment: NodeJS.ProcessEnv },
): GatewayDocument {
  const { text, missing } = fillLiterals(masked, findLiterals(file, parts.schemas), parts.secret);
  if (missing.length === 0) return parseDocument(text, file.file, parts.environment);
  const lines = `${missing.length === 1 ? 'line' : 'lines'} ${new Intl.ListFormat('en-GB').format(missing.map(String))}`;
  throw new RollbackRefused(
    `${name} has ${missing.length === 1 ? 'a secret' : 'secrets'} in ${lines} that ${file.file} does not have, and secrets are not kept. ` +
      `Write ${missing.length === 1 ? 'it' : 'them'} as \${NAME}, or print the configuration with "daypass history" and fill ${missing.length === 1 ? 'it' : 'them'} in`,
  );
}

function nameOf({ id }: Served): string {
  return `configuration ${id}`;
}
