import type { Queries } from '#core/platform/database/database.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type GatewayDocument, parseDocument } from '../file/document.ts';
import { ConfigHistory, type Rollback, RollbackRefused, type StoredConfiguration } from './history.ts';
import { fillLiterals, findLiterals, type SecretSchemas } from './literals.ts';

/** The configuration in effect, which is the file or a rollback target. */
export interface EffectiveConfiguration {
  readonly document: GatewayDocument;
  /** Undefined if the file is in effect. */
  readonly rollback: Rollback | undefined;
  /** Text and digest for the history; undefined while the database does not respond. */
  readonly storedForm: { readonly text: string; readonly digest: string } | undefined;
}

/**
 * Decides at start and at each reload whether the file or, after an operator's rollback, an earlier configuration is in effect. A rollback
 * remains in effect until the file changes, across restarts and on every instance with the same file.
 */
export class EffectiveDocuments {
  readonly history: ConfigHistory;
  readonly #schemas: SecretSchemas;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #log: Logger;
  #lastRead: { readonly rollback: Rollback; readonly served: StoredConfiguration; readonly secret: string } | undefined;

  constructor(
    database: Queries,
    schemas: SecretSchemas,
    { environment, log }: { readonly environment: NodeJS.ProcessEnv; readonly log: Logger },
  ) {
    this.history = new ConfigHistory(database, schemas);
    this.#schemas = schemas;
    this.#environment = environment;
    this.#log = log;
  }

  /** @throws ConfigError, or Error if the rollback target cannot be read */
  async resolve(file: GatewayDocument): Promise<EffectiveConfiguration> {
    let storedForm: EffectiveConfiguration['storedForm'];
    try {
      storedForm = await this.history.createStoredForm(file);
      this.#lastRead = await this.#readRollback();
    } catch (error) {
      this.#log.warn(`the history of gateway.yaml cannot be read: ${describeConnectionError(error)}`);
      // It is unknown whether the file has changed. The last known rollback target is better than the rolled-back file.
      if (this.#lastRead === undefined) return { document: file, rollback: undefined, storedForm: undefined };
    }
    const lastRead = this.#lastRead;
    if (lastRead === undefined || (storedForm !== undefined && storedForm.digest !== lastRead.rollback.fileDigest))
      return { document: file, rollback: undefined, storedForm };
    const { rollback, served, secret } = lastRead;
    return {
      document: parseServed({ name: describeServed(served), text: served.text }, file, {
        schemas: this.#schemas,
        secret,
        environment: this.#environment,
      }),
      rollback,
      storedForm: served,
    };
  }

  /**
   * Parses a stored configuration, with its secrets from the file.
   *
   * @param stored text of the configuration, and its name for messages
   * @throws ConfigError; RollbackRefused if the file lacks a secret of the stored configuration
   */
  async read(
    stored: { readonly name: string; readonly text: string },
    file: GatewayDocument,
  ): Promise<GatewayDocument> {
    const parts = { schemas: this.#schemas, secret: await this.history.readSecret(), environment: this.#environment };
    return parseServed(stored, file, parts);
  }

  /**
   * Parses a rollback target, and returns it with the file that it overrides.
   *
   * @throws RollbackRefused if the file is equal or has different secrets; ConfigError
   */
  async readRollback(target: StoredConfiguration, file: GatewayDocument) {
    const { digest: fileDigest, text: fileText } = await this.history.createStoredForm(file);
    if (target.digest === fileDigest)
      throw new RollbackRefused(`configuration ${target.id} is what gateway.yaml says already`);
    const document = await this.read({ name: describeServed(target), text: target.text }, file);
    return { document, fileDigest, fileText };
  }

  async #readRollback() {
    const rollback = await this.history.findRollback();
    if (rollback === undefined) return undefined;
    const served = await this.history.find(rollback.configurationId);
    if (served !== undefined) return { rollback, served, secret: await this.history.readSecret() };
    this.#log.error(`configuration ${rollback.configurationId}, which was to serve, is not on record any more`);
    return undefined;
  }
}

/**
 * Parses a stored configuration, with its secrets from the current file.
 *
 * @throws ConfigError; RollbackRefused if a secret has been changed or removed since then
 */
function parseServed(
  { name, text: maskedText }: { readonly name: string; readonly text: string },
  file: GatewayDocument,
  parts: { readonly schemas: SecretSchemas; readonly secret: string; readonly environment: NodeJS.ProcessEnv },
): GatewayDocument {
  const { text, missingLines: missing } = fillLiterals(maskedText, findLiterals(file, parts.schemas), parts.secret);
  if (missing.length === 0) return parseDocument(text, file.file, parts.environment);
  const lines = `${missing.length === 1 ? 'line' : 'lines'} ${new Intl.ListFormat('en-GB').format(missing.map(String))}`;
  throw new RollbackRefused(
    `${name} has ${missing.length === 1 ? 'a secret' : 'secrets'} in ${lines} that ${file.file} does not have, and secrets are not kept. ` +
      `Write ${missing.length === 1 ? 'it' : 'them'} as \${NAME}, or print the configuration with "daypass history" and fill ${missing.length === 1 ? 'it' : 'them'} in`,
  );
}

function describeServed({ id }: StoredConfiguration): string {
  return `configuration ${id}`;
}
