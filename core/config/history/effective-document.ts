import type { Queries } from '#core/platform/database/database.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import type { Logger } from '#core/platform/logger.ts';
import { type GatewayDocument, parseDocument } from '../file/document.ts';
import { ConfigHistory, type Rollback, RollbackRefused, type StoredConfiguration } from './history.ts';
import { fillLiterals, findLiterals, type SecretSchemas } from './literals.ts';

/** The configuration in effect: the file, or the target of a rollback. */
export interface EffectiveConfiguration {
  readonly document: GatewayDocument;
  readonly rollback: Rollback | undefined; // undefined if the file is in effect
  /** Text and digest for the history; undefined if the database does not respond. */
  readonly storedForm: { readonly text: string; readonly digest: string } | undefined;
}

/**
 * Decides, at startup and at each reload, whether the file or an earlier configuration, to which an operator rolled back, is in effect. A
 * rollback stays in effect until the file changes: across restarts, and on every instance with the same file.
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
      // We cannot tell whether the file has changed. The last known rollback target is better than the file that was rolled back.
      if (this.#lastRead === undefined) return { document: file, rollback: undefined, storedForm: undefined };
    }
    const lastRead = this.#lastRead;
    if (lastRead === undefined || (storedForm !== undefined && storedForm.digest !== lastRead.rollback.fileDigest))
      return { document: file, rollback: undefined, storedForm };
    const { rollback, served, secret } = lastRead;
    return {
      document: parseWithSecrets({ name: describeServed(served), text: served.text }, file, {
        schemas: this.#schemas,
        secret,
        environment: this.#environment,
      }),
      rollback,
      storedForm: served,
    };
  }

  /**
   * Parses a stored configuration, taking its secrets from the file.
   *
   * @param stored the configuration's text, and what to call it in messages
   * @throws ConfigError; RollbackRefused if the file no longer contains one of its secrets
   */
  async parseStored(
    stored: { readonly name: string; readonly text: string },
    file: GatewayDocument,
  ): Promise<GatewayDocument> {
    const parts = { schemas: this.#schemas, secret: await this.history.readSecret(), environment: this.#environment };
    return parseWithSecrets(stored, file, parts);
  }

  /**
   * Parses a rollback target, and returns it with the file that it overrides.
   *
   * @throws RollbackRefused if the file is the same, or has different secrets; ConfigError
   */
  async parseRollbackTarget(target: StoredConfiguration, file: GatewayDocument) {
    const { digest: fileDigest, text: fileText } = await this.history.createStoredForm(file);
    if (target.digest === fileDigest)
      throw new RollbackRefused(`gateway.yaml already matches configuration ${target.id}`);
    const document = await this.parseStored({ name: describeServed(target), text: target.text }, file);
    return { document, fileDigest, fileText };
  }

  async #readRollback() {
    const rollback = await this.history.findRollback();
    if (rollback === undefined) return undefined;
    const served = await this.history.find(rollback.configurationId);
    if (served !== undefined) return { rollback, served, secret: await this.history.readSecret() };
    this.#log.error(`configuration ${rollback.configurationId}, which should be in effect, is no longer on record`);
    return undefined;
  }
}

function parseWithSecrets(
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
