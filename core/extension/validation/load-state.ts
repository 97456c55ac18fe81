import type { Canaries, Canary } from '#core/config/history/canaries.ts';
import type { ConfigHistory, Rollback, Served } from '#core/config/history/history.ts';
import { gauge } from '#core/gateway/health/gauge.ts';
import type { Services } from '#core/gateway/host/host.ts';

/** How gateway.yaml was loaded, for operators. Times are epoch ms. */
export interface ConfigLoadState {
  /** When the running configuration was loaded. */
  loadedAt: number;
  /** Why a later version of the file was refused; undefined when the file runs as it is. */
  refusal: { readonly at: number; readonly reason: string } | undefined;
  /** Paths that have changed, and take effect at the next start. */
  postponed: readonly string[];
  /** Set while a configuration before the file's serves, because an operator has taken a change back. */
  rollback: Rollback | undefined;
  /** The canary that runs, or the last one that has ended; undefined where there was none. */
  canary: Canary | undefined;
  /** Undefined before the first configuration serves, and in commands. */
  changes: ConfigChanges | undefined;
}

/** What an operator asks for with a canary. */
export interface CanaryWish {
  /** Of the accounts, from 0 to 1. */
  readonly share: number;
  /** Before it may become full by itself. */
  readonly seconds: number;
  readonly note: string | undefined;
  readonly operator: string;
}

/** A canary that begins. */
export interface CanaryBegun {
  readonly canary: Canary;
  /** Those with a running pass, or model calls in the last 7 days, and how many of them are in the canary. */
  readonly accounts: { readonly taken: number; readonly active: number };
}

/** The way back, for a page of the running gateway. This instance has followed when a promise is fulfilled, others do within a second. */
export interface ConfigChanges {
  readonly history: ConfigHistory;
  readonly canaries: Canaries;
  /**
   * Serves another configuration to a share of the accounts.
   *
   * @param file name of a file in the folder of gateway.yaml
   * @throws CanaryRefused, RollbackRefused, ConfigError: nothing has changed
   */
  beginCanary(file: string, wish: CanaryWish): Promise<CanaryBegun>;
  /** Serves a canary to everybody. @throws RollbackRefused when it does not run any more */
  makeFull(id: number, reason: string): Promise<void>;
  /** Ends a canary. @throws RollbackRefused when it does not run any more */
  endCanary(id: number, reason: string): Promise<void>;
  /** What serves on this instance; undefined while the database does not answer. */
  serving(): Pick<Served, 'text' | 'digest'> | undefined;
  /**
   * Serves a configuration from before in place of the file, on all instances that have this file.
   *
   * @throws RollbackRefused, or ConfigError when the file or that configuration has mistakes
   */
  takeBack(id: number, operator: string, note: string | undefined): Promise<void>;
  /** Serves the file again. @throws RollbackRefused when it does already */
  release(): Promise<void>;
}

/** Ms for which operators are told that a canary was taken back. */
export const toldFor = 86_400_000;

/** The last canary, if it was rolled back automatically within a day. */
export function canaryTakenBack({ canary }: Pick<ConfigLoadState, 'canary'>, now: number): Canary | undefined {
  return canary?.end?.outcome === 'worse' && now - canary.end.at.getTime() < toldFor ? canary : undefined;
}

/** The state of this process. */
export function configLoadState(services: Pick<Services, 'keep' | 'now'>): ConfigLoadState {
  return services.keep('config-load-state', () => ({
    loadedAt: services.now(),
    refusal: undefined,
    postponed: [],
    rollback: undefined,
    canary: undefined,
    changes: undefined,
  }));
}

export const configGauges = [
  gauge(
    'config_refused',
    '1 while gateway.yaml has mistakes and an earlier version of it runs; the log and the operator pages have them.',
    (host) => (configLoadState(host).refusal === undefined ? 0 : 1),
  ),
  gauge(
    'config_postponed',
    'Settings that have changed in gateway.yaml, and take effect at the next start.',
    (host) => configLoadState(host).postponed.length,
  ),
  gauge(
    'config_rolled_back',
    '1 while a configuration before that of gateway.yaml serves, because an operator has taken the change back.',
    (host) => (configLoadState(host).rollback === undefined ? 0 : 1),
  ),
  gauge(
    'config_canary_ratio',
    'Share of the accounts that a canary serves, from 0 to 1; 0 while none runs.',
    (host) => {
      const { canary } = configLoadState(host);
      return canary?.end === undefined ? (canary?.share ?? 0) : 0;
    },
  ),
  gauge(
    'config_canary_taken_back',
    '1 for a day after a canary was rolled back automatically, because it was worse.',
    (host) => (canaryTakenBack(configLoadState(host), host.now()) === undefined ? 0 : 1),
  ),
  gauge(
    'config_loaded_timestamp_seconds',
    'Unix time at which the running configuration was loaded.',
    (host) => configLoadState(host).loadedAt / 1000,
  ),
];
