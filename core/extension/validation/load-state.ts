import type { GatewayDocument } from '#core/config/file/document.ts';
import type { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import type { Rollback, StoredConfiguration } from '#core/config/history/history.ts';
import { gauge } from '#core/gateway/health/gauge.ts';
import type { Services } from '#core/gateway/host/host.ts';

/** Load state of gateway.yaml, for operators. Times are epoch ms. */
interface ConfigLoadState {
  loadedAt: number;
  /** Rejection of a later version of the file; undefined if the file is in effect. */
  refusal: { readonly refusedAt: number; readonly reason: string } | undefined;
  postponed: readonly string[]; // changed paths that take effect at the next start
  /** Set while an earlier configuration serves after an operator's rollback. */
  rollback: Rollback | undefined;
  /** Undefined before the first configuration serves, and in commands. */
  changes: ConfigChanges | undefined;
}

/** Changes the configuration in effect. A promise resolves when this instance has applied the change; others follow within a second. */
export interface ConfigChanges {
  readonly documents: EffectiveDocuments;
  /**
   * Reads a file in the folder of gateway.yaml; default: gateway.yaml itself.
   *
   * @throws ConfigError
   */
  read(name?: string): Promise<GatewayDocument>;
  /** Applies the current state in the database to this instance. */
  follow(): Promise<void>;
  /** Returns the configuration in effect on this instance; undefined while the database does not respond. */
  serving(): Pick<StoredConfiguration, 'text' | 'digest'> | undefined;
  /**
   * Serves an earlier configuration instead of the file, on all instances that have this file.
   *
   * @throws RollbackRefused
   * @throws ConfigError if the file or the earlier configuration has mistakes
   */
  rollBack(id: number, operator: string, note: string | undefined): Promise<void>;
  /**
   * Serves the file again.
   *
   * @throws RollbackRefused if the file already serves
   */
  release(): Promise<void>;
}

/** Returns the load state of this process. */
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
    '1 while gateway.yaml has mistakes and an earlier version of it runs; the log and the operator pages list them.',
    (host) => (getConfigLoadState(host).refusal === undefined ? 0 : 1),
  ),
  gauge(
    'config_postponed',
    'Settings that were changed in gateway.yaml and take effect at the next start.',
    (host) => getConfigLoadState(host).postponed.length,
  ),
  gauge(
    'config_rolled_back',
    '1 while an earlier configuration serves instead of gateway.yaml, after a rollback by an operator.',
    (host) => (getConfigLoadState(host).rollback === undefined ? 0 : 1),
  ),
  gauge(
    'config_loaded_timestamp_seconds',
    'Unix time at which the running configuration was loaded.',
    (host) => getConfigLoadState(host).loadedAt / 1000,
  ),
];
