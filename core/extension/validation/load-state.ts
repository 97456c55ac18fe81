import type { Services } from '#core/gateway/host/host.ts';

/** How gateway.yaml was loaded, for operators. Times are epoch ms. */
export interface ConfigLoadState {
  /** When the running configuration was loaded. */
  loadedAt: number;
  /** Why a later version of the file was refused; undefined when the file runs as it is. */
  refusal: { readonly at: number; readonly reason: string } | undefined;
  /** Paths that have changed, and take effect at the next start. */
  postponed: readonly string[];
}

/** The state of this process. */
export function configLoadState(services: Pick<Services, 'keep' | 'now'>): ConfigLoadState {
  return services.keep('config-load-state', () => ({ loadedAt: services.now(), refusal: undefined, postponed: [] }));
}
