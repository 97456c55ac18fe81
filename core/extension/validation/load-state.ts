import type { GatewayDocument } from '#core/config/file/document.ts';
import type { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import type { Rollback, StoredConfiguration } from '#core/config/history/history.ts';
import { gauge } from '#core/gateway/health/gauge.ts';
import type { Services } from '#core/gateway/host/host.ts';

/** The state of loading gateway.yaml, as shown to operators. Times are epoch ms. */
interface ConfigLoadState {
  loadedAt: number;
  refusal: { readonly refusedAt: number; readonly reason: string } | undefined; // undefined if the file is in effect
  postponed: readonly string[]; // paths of changes that take effect at the next start
  rollback: Rollback | undefined;
  changes: ConfigChanges | undefined; // undefined until the first configuration is in effect, and in commands
}

/** Changes which configuration is in effect. Promises resolve once this instance has applied the change; others follow within a second. */
export interface ConfigChanges {
  readonly documents: EffectiveDocuments;
  /**
   * Reads a file in the same folder as gateway.yaml; default: gateway.yaml itself.
   *
   * @throws ConfigError
   */
  read(name?: string): Promise<GatewayDocument>;
  /** Applies the database's current state to this instance. */
  follow(): Promise<void>;
  /** Returns the configuration in effect on this instance; undefined if the database does not respond. */
  serving(): Pick<StoredConfiguration, 'text' | 'digest'> | undefined;
  /**
   * Puts an earlier configuration in effect instead of the file, on all instances that have this file.
   *
   * @throws RollbackRefused
   * @throws ConfigError if the file or the earlier configuration has mistakes
   */
  rollBack(id: number, operator: string, note: string | undefined): Promise<void>;
  /**
   * Puts the file in effect again.
   *
   * @throws RollbackRefused if the file is already in effect
   */
  release(): Promise<void>;
}

export function getConfigLoadState(services: Pick<Services, 'keep' | 'now'>): ConfigLoadState {
  return services.keep('config-load-state', () => ({
    loadedAt: services.now(),
    refusal: undefined,
    postponed: [],
    rollback: undefined,
    changes: undefined,
  }));
}

export const configGauges = [
  gauge(
    'config_refused',
    '1 while gateway.yaml has mistakes and an earlier version of it is in effect; the log and the operator pages list them.',
    (host) => (getConfigLoadState(host).refusal === undefined ? 0 : 1),
  ),
  gauge(
    'config_postponed',
    'Settings that were changed in gateway.yaml and take effect at the next start.',
    (host) => getConfigLoadState(host).postponed.length,
  ),
  gauge(
    'config_rolled_back',
    '1 while an earlier configuration is in effect instead of gateway.yaml, after a rollback by an operator.',
    (host) => (getConfigLoadState(host).rollback === undefined ? 0 : 1),
  ),
  gauge(
    'config_loaded_timestamp_seconds',
    'Unix time at which the running configuration was loaded.',
    (host) => getConfigLoadState(host).loadedAt / 1000,
  ),
];
